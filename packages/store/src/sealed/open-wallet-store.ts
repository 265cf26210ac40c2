import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { checkWallet } from "../check-change.ts";
import type { Engine, Mark, WalletId } from "../engine.ts";
import { StoreUnavailable } from "../errors.ts";
import { rangeOf } from "../range.ts";
import { restoredMark, restoredRow } from "./copies.ts";
import { createDataKey, nextDataKeyRow, readDataKey, removedRow, wrapDataKey } from "./data-key.ts";
import { KeySlots, type SlotReference } from "./key-slots.ts";
import { slotOf } from "./rows.ts";
import { checkTables, type Table } from "./tables.ts";
import { WalletStore } from "./wallet-store.ts";
import { wipe } from "./wipe.ts";
import { isBehind, Witness } from "./witness.ts";

export interface WalletStoreOptions {
  readonly engine: Engine;
  readonly wallet: WalletId;
  /** All tables of the wallet. */
  readonly tables: readonly Table[];
  /** 32 bytes, derived from the wallet's password or a service's key; the caller keeps ownership. */
  readonly wrappingKey: Uint8Array;
  /** Keys that may have wrapped it before: a store that one of them opens is wrapped by `wrappingKey` from then on. */
  readonly formerKeys?: readonly Uint8Array[];
  /**
   * Folder of this process, outside the engine, created where it is missing: the keys of secret rows
   * (`<wallet>.slots`) and how far the store had come (`<wallet>.witness`).
   */
  readonly folder: string;
}

/**
 * The state of a wallet's store: `new`; `continued`; `unwitnessed` if the folder has no record of a store that was used
 * before, so that it is unknown whether it is an older copy; or `rolledBack`, an older copy than the folder has
 * recorded, which is opened only once the caller accepts that.
 */
export type OpenedWalletStore =
  | { readonly kind: "new" | "continued" | "unwitnessed"; readonly store: WalletStore }
  | {
      readonly kind: "rolledBack";
      readonly found: Mark;
      readonly witnessed: Mark;
      /** Opens it all the same, and destroys the secrets of the lost changes. */
      accept(): Promise<WalletStore>;
    };

const NEVER: Mark = { epoch: 0, sequence: 0 };

/** What is kept beside the database could not be written: nothing of the wallet was. */
function failBeside(cause: unknown): never {
  throw new StoreUnavailable("what is kept beside the store could not be written", { cause });
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    failBeside(error);
  }
}

/**
 * Acquires ownership of a wallet and opens its store, or creates it: earlier owners are fenced. Throws `WrongStoreKey`
 * before it acquires anything, and `DamagedStore`.
 */
export async function openWalletStore(options: WalletStoreOptions): Promise<OpenedWalletStore> {
  const { engine, wallet, tables, folder } = options;
  checkWallet(wallet);
  checkTables(tables);
  makeFolder(folder);
  const witness = new Witness(pathOf(options, "witness"));
  const witnessed = witness.read();
  const present = (await engine.markOf(wallet)) ?? NEVER;
  const isRemoved = (await engine.read(wallet, removedRow)) !== undefined;
  const isKnown = present.epoch !== 0 && !isRemoved;
  if (isKnown) wipe((await readDataKey(options, present))?.dataKey);
  // A wallet that was put back from a copy is as old as the copy, though it has later changes: those that put it back.
  const found = (isKnown && (await restoredMark(engine, wallet))) || present;
  const take = () => takeOwnership(options, { witness, above: witnessed?.epoch });
  if (witnessed === undefined) return { kind: isKnown ? "unwitnessed" : "new", store: await take() };
  // A store without the wallet is an older one, too.
  if (!isRemoved && isBehind(found, witnessed)) return { kind: "rolledBack", found, witnessed, accept: take };
  return { kind: "continued", store: await take() };
}

/**
 * Opens a store as it is now for a reader that does not own it: nothing can be written (`unwritable` is thrown), and rows
 * of secret tables read as deleted. Undefined if the wallet has no rows. Throws `WrongStoreKey` and `DamagedStore`.
 */
export async function openStoreForReading(
  options: WalletStoreOptions,
  unwritable: Error,
): Promise<WalletStore | undefined> {
  const { engine, wallet, tables } = options;
  checkWallet(wallet);
  checkTables(tables);
  const mark = await engine.markOf(wallet);
  if (mark === undefined) return undefined;
  const dataKey = (await readDataKey(options, mark))?.dataKey;
  if (dataKey === undefined) return undefined;
  const witness = new Witness(pathOf(options, "witness"));
  return new WalletStore({ engine, wallet, mark, dataKey, slots: KeySlots.none(), witness, unwritable });
}

function pathOf(
  { folder, wallet }: Pick<WalletStoreOptions, "folder" | "wallet">,
  extension: string,
): string {
  return join(folder, `${Buffer.from(wallet).toString("hex")}.${extension}`);
}

async function takeOwnership(
  options: WalletStoreOptions,
  { witness, above }: { witness: Witness; above: number | undefined },
): Promise<WalletStore> {
  const { engine, wallet, wrappingKey } = options;
  let mark = await engine.fence(wallet, above);
  const found = await readDataKey(options, mark);
  const dataKey = found?.dataKey ?? createDataKey();
  const isMarked =
    (await engine.read(wallet, restoredRow)) !== undefined ||
    (await engine.read(wallet, removedRow)) !== undefined;
  if (found?.isSettled !== true || isMarked) {
    const change = {
      puts: [wrapDataKey(dataKey, { key: wrappingKey, wallet })],
      deletes: [nextDataKeyRow, restoredRow, removedRow],
    };
    mark = { ...mark, sequence: await engine.apply(wallet, { epoch: mark.epoch, ...change }) };
  }
  await witness.keep(mark).catch(failBeside);
  const slots = await KeySlots.open(pathOf(options, "slots"));
  try {
    if (!slots.isEmpty) await slots.keepOnly(slotsInUse(options));
  } catch (error) {
    wipe(dataKey);
    await slots.close();
    throw error;
  }
  return new WalletStore({ engine, wallet, mark, dataKey, slots, witness });
}

/** Slots that rows of secret tables refer to: others belong to changes that a crash interrupted. */
async function* slotsInUse({
  engine,
  wallet,
  tables,
}: WalletStoreOptions): AsyncGenerator<SlotReference, void> {
  for (const { number: table, isSecret } of tables) {
    if (isSecret !== true) continue;
    for await (const { value } of rangeOf(engine, wallet, { table })) yield slotOf(value);
  }
}

/** Stores a wallet's state on disk: a snapshot, then every change since. */

import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { type Plain, readCbor, writeCbor } from "../cbor.ts";
import type { WalletChange } from "../changes.ts";
import { encodeChange } from "../encode-change.ts";
import type { Follower } from "../events/follower.ts";
import { applyChange, isKnownChange } from "../ledger/apply-change.ts";
import { createLedger, indexLedger, type Ledger } from "../ledger/ledger.ts";
import { append } from "../lists.ts";
import { RecentBlocks } from "../packed/block-ids.ts";
import { TxKeys } from "../packed/tx-keys.ts";
import type { NetworkName, WalletSettings, WalletState } from "../state.ts";
import { DamagedJournal, Journal, syncDirectory, unreadableVersion } from "./journal.ts";
import { outputOf, recordOf } from "./output-record.ts";

/** Stores changes before they are acknowledged. */
export interface ChangeLog {
  /** Resolves once `change` is durable; `encoded` is its encoding, if that exists already. */
  append(change: WalletChange, encoded?: Uint8Array): Promise<void>;
  /** Makes every later `append`, and those not yet begun, fail with this error: a change was applied in part. */
  refuse(reason: unknown): void;
  close(): Promise<void>;
}

/** For wallets without a file. */
export const noChangeLog: ChangeLog = {
  append: async () => undefined,
  refuse: () => undefined,
  close: async () => undefined,
};

/** 2: with intents; 3: with changes for an event log. */
const FORMAT_VERSION = 3;
/** Items per record: a few hundred bytes each, so that no single step takes long. */
const ITEMS_PER_RECORD = 200;
/** Number of bytes that take a few milliseconds to read. */
const BYTES_BETWEEN_PAUSES = 64 * 1024;
/** A journal whose changes exceed the snapshot at its beginning by this much is rewritten when it is opened. */
const COMPACTION_SLACK_BYTES = 256 * 1024;

/**
 * `secret`: 32 bytes that every holder of the keys file can derive; `formerSecret` is one that earlier versions used.
 */
export type StoreOptions = {
  path: string;
  secret: Uint8Array;
  formerSecret?: Uint8Array | undefined;
  network: NetworkName;
};

type ListName = "outputs" | "incoming" | "outgoing" | "intents" | "background";
type SavedState = Partial<Omit<WalletState, "txKeys" | "recent">> & {
  readonly recent: { readonly offset: number; readonly ids: readonly Uint8Array[] };
  readonly txKeys?: ReadonlyMap<string, readonly Uint8Array[]>;
};
type SnapshotRecord =
  | { readonly kind: "state"; readonly version: number; readonly state: SavedState }
  | { readonly kind: "items"; readonly of: ListName; readonly items: readonly Plain[] };

export async function createStore(options: StoreOptions, ledger: Ledger): Promise<ChangeLog> {
  return logOf(await Journal.create(options.path, options.secret, await snapshotOf(ledger.state)));
}

const nextOf = ({ path }: StoreOptions): string => `${path}.next`;

/** Creates the store that replaces the one at `path` once a keys file with this secret exists. */
export async function prepareNextStore(options: StoreOptions, ledger: Ledger): Promise<void> {
  await (await createStore({ ...options, path: nextOf(options) }, ledger)).close();
}

/**
 * Activates the next store if it belongs to these keys; otherwise a crash happened before the keys were replaced, and
 * it is deleted.
 */
export async function settleNextStore(options: StoreOptions): Promise<void> {
  const next = nextOf(options);
  try {
    const { journal } = await openJournal(next, options);
    await journal.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    if (!(error instanceof DamagedJournal)) throw error;
    return await rm(next, { force: true });
  }
  await rename(next, options.path);
  await syncDirectory(dirname(options.path));
}

/** A journal encrypted with the former secret is to be rewritten. Throws `DamagedJournal`. */
async function openJournal(path: string, { secret, formerSecret }: StoreOptions) {
  try {
    return { ...(await Journal.open(path, secret)), isFormer: false };
  } catch (error) {
    if (formerSecret === undefined || !(error instanceof DamagedJournal)) throw error;
    try {
      return { ...(await Journal.open(path, formerSecret)), isFormer: true };
    } catch (second) {
      throw second instanceof DamagedJournal ? error : second;
    }
  }
}

/** Reads the store; `follower` receives the meaning of its changes. Throws `DamagedJournal`. */
export async function openStore(
  options: StoreOptions,
  settings: WalletSettings,
  follower?: Follower,
): Promise<{ ledger: Ledger; log: ChangeLog }> {
  const { journal, records, wasCut, isFormer } = await openJournal(options.path, options);
  const ledger = createLedger(options.network, settings);
  const sizes = await replay(ledger, records, { ...options, follower }).catch(async (error: unknown) => {
    await journal.close();
    throw error;
  });
  const isShort = sizes.changes < sizes.picture + COMPACTION_SLACK_BYTES;
  // A journal of an earlier version is rewritten first: otherwise it would contain records that the programs of that
  // version can't read.
  const isOfNow = sizes.version === FORMAT_VERSION;
  // Events that the log could not store yet are derived from the changes again at the next opening, by a service with
  // an event log.
  const isTold =
    follower === undefined
      ? ledger.state.eventSource.length === 0
      : !follower.waitsForScan && (await follower.settled());
  if (!wasCut && !isFormer && (isShort || !isTold) && isOfNow) return { ledger, log: logOf(journal) };
  await follower?.settled();
  try {
    const fresh = await createStore(options, ledger);
    await journal.close();
    return { ledger, log: fresh };
  } catch (error) {
    // If the disk is full the wallet can still be read.
    if (wasCut) journal.refuse(error);
    return { ledger, log: logOf(journal) };
  }
}

function logOf(journal: Journal): ChangeLog {
  return {
    append: (change, encoded = encodeChange(change)) => journal.append(encoded),
    refuse: (reason) => journal.refuse(reason),
    close: () => journal.close(),
  };
}

/** Returns the size in bytes of the snapshot and of the changes since, and the snapshot's version. */
async function replay(
  ledger: Ledger,
  records: readonly Uint8Array[],
  { network, follower }: Pick<StoreOptions, "network"> & { readonly follower: Follower | undefined },
): Promise<{ picture: number; changes: number; version: number }> {
  const sizes = { picture: 0, changes: 0, version: FORMAT_VERSION };
  const names = new Map<number, string>();
  let indexed = false;
  let unpaused = 0;
  for (const record of records) {
    unpaused += record.length;
    if (unpaused > BYTES_BETWEEN_PAUSES) {
      await setImmediate();
      unpaused = 0;
    }
    const value = readCbor(record, names) as unknown as SnapshotRecord | WalletChange;
    sizes[value.kind === "state" || value.kind === "items" ? "picture" : "changes"] += record.length;
    if (value.kind === "state") {
      restoreState(ledger.state, value);
      sizes.version = value.version;
    } else if (value.kind === "items") restoreItems(ledger.state, value);
    else {
      if (!indexed) {
        indexLedger(ledger);
        await follower?.begin(ledger);
      }
      indexed = true;
      if (!isKnownChange(value.kind))
        throw new DamagedJournal(`the wallet store has a change that is not known: ${value.kind}`);
      await applyFollowed(ledger, value, follower);
    }
  }
  if (!indexed) {
    indexLedger(ledger);
    await follower?.begin(ledger);
  }
  if (ledger.state.network !== network) throw new DamagedJournal("the wallet store is of another network");
  return sizes;
}

/** Applies a change that is on disk to the ledger. */
async function applyFollowed(
  ledger: Ledger,
  change: WalletChange,
  follower: Follower | undefined,
): Promise<void> {
  if (follower === undefined) return applyChange(ledger, change);
  await follower.replay(change, () => applyChange(ledger, change));
}

function restoreState(
  state: WalletState,
  { version, state: saved }: Extract<SnapshotRecord, { kind: "state" }>,
): void {
  if (!(version >= 1 && version <= FORMAT_VERSION))
    throw new DamagedJournal(unreadableVersion(version, FORMAT_VERSION));
  Object.assign(state, saved, { txKeys: TxKeys.of(saved.txKeys ?? []), recent: recentOf(saved) });
  state.outputs.pass(state.height);
}

function recentOf({ recent }: SavedState): RecentBlocks {
  try {
    return RecentBlocks.of(recent);
  } catch (error) {
    throw error instanceof RangeError ? new DamagedJournal(error.message) : error;
  }
}

function restoreItems(state: WalletState, { of, items }: Extract<SnapshotRecord, { kind: "items" }>): void {
  if (of === "outgoing") {
    for (const [id, payment] of items as unknown as [string, never][]) state.outgoing.set(id, payment);
  } else if (of === "outputs") for (const item of items) state.outputs.push(outputOf(item));
  else if (of === "background") append((state.background?.transactions ?? []) as unknown[], items);
  else append(state[of] as { push(item: unknown): unknown }, items);
}

async function snapshotOf(state: WalletState): Promise<Uint8Array[]> {
  const { outputs, incoming, outgoing, intents, background, txKeys, recent, ...others } = state;
  const rest = {
    ...others,
    recent: { offset: recent.offset, ids: recent.slice() },
    txKeys: new Map(txKeys),
    background: background && { ...background, transactions: [] },
  };
  const records = [writeRecord({ kind: "state", version: FORMAT_VERSION, state: rest })];
  const lists: [ListName, Iterable<unknown>][] = [
    ["incoming", incoming],
    ["outgoing", outgoing],
    ["intents", intents],
    ["background", background?.transactions ?? []],
  ];
  const add = async (of: ListName, items: readonly unknown[]) => {
    records.push(writeRecord({ kind: "items", of, items: items as Plain[] }));
    await setImmediate();
  };
  for (let at = 0; at < outputs.count; at += ITEMS_PER_RECORD)
    await add("outputs", outputs.slice(at, at + ITEMS_PER_RECORD).map(recordOf));
  for (const [of, list] of lists) for (const items of inParts(list)) await add(of, items);
  return records;
}

function* inParts(list: Iterable<unknown>): Generator<unknown[]> {
  let items: unknown[] = [];
  for (const item of list) {
    items.push(item);
    if (items.length < ITEMS_PER_RECORD) continue;
    yield items;
    items = [];
  }
  if (items.length > 0) yield items;
}

function writeRecord(value: SnapshotRecord): Uint8Array {
  return writeCbor(value as unknown as Plain);
}

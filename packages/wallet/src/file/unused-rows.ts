/** Wallets in a store whose keys files are gone, and what removes their rows. */
import { opendir, rm } from "node:fs/promises";
import { join } from "node:path";
import { fromHex, toHex } from "@anulo/protocol";
import { type Engine, witnessedWallet, witnessedWallets } from "@anulo/store";
import { WalletRefusal } from "../refusal.ts";
import { readName, removeStored } from "./store-name.ts";
import { exists } from "./wallet-files.ts";
import { takeLock } from "./wallet-lock.ts";

/** A wallet that was written so recently (milliseconds) may be one that is being created, and has no files yet. */
const SETTLED_MS = 10 * 60_000;

export type StorePlace = {
  /** Folder of the wallets. */
  readonly folder: string;
  /** Folder beside the database, with what notices older copies. */
  readonly secrets: string;
  readonly engine: Engine;
  /** Milliseconds since 1970. */
  readonly now: number;
};

/** A wallet in a store that has no keys file in the folder. */
export type UnusedRows = {
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly writtenAt: number;
  /** Path of a file that names it, though its keys are gone; undefined if there is none. */
  readonly file: string | undefined;
  /** Why its rows are not removed; undefined if they can be. */
  readonly reasonToKeep: string | undefined;
};

type Named = { readonly file: string; readonly hasKeys: boolean };

/** The wallets in the store that files of a folder name, by id. */
async function namedIn(folder: string): Promise<ReadonlyMap<string, Named>> {
  const named = new Map<string, Named>();
  for await (const { name } of await opendir(folder)) {
    const base = /^(.*?)\.anulo(?:\.|$)/s.exec(name)?.[1];
    if (base === undefined) continue;
    const file = join(folder, name);
    const id = await readName(file).catch((error: NodeJS.ErrnoException) => {
      // Gone meanwhile, or a folder.
      if (error.code === "ENOENT" || error.code === "EISDIR") return undefined;
      throw error;
    });
    if (id === undefined) continue;
    // What was put aside belongs to no keys file of today. A name that is being written counts as one with keys.
    const isAside = /\.anulo\.old\d*$/.test(name);
    const hasKeys = !isAside && (name.endsWith(".new") || (await exists(join(folder, `${base}.keys`))));
    const before = named.get(toHex(id));
    if (before?.hasKeys !== true) named.set(toHex(id), { file, hasKeys });
  }
  return named;
}

function reasonOf(state: "here" | "elsewhere" | "removing", age: number): string | undefined {
  if (state === "elsewhere") return "it was opened or put back by others since: they may have its keys";
  return age < SETTLED_MS && state === "here" ? "it was written less than ten minutes ago" : undefined;
}

/** Lists the wallets that services of this folder have had open, and that have no keys file in it any more. */
export async function listUnusedRows({ folder, secrets, engine, now }: StorePlace): Promise<UnusedRows[]> {
  const unused: UnusedRows[] = [];
  if (!(await exists(secrets))) return unused;
  const wallets = [];
  for await (const each of witnessedWallets(engine, secrets)) wallets.push(each);
  // Files are read after that: a wallet gets its name once its rows are there.
  const named = await namedIn(folder);
  for (const { wallet, writtenAt, state } of wallets) {
    const id = toHex(wallet);
    const name = named.get(id);
    if (name?.hasKeys === true) continue;
    unused.push({ id, writtenAt, file: name?.file, reasonToKeep: reasonOf(state, now - writtenAt) });
  }
  return unused.sort((a, b) => a.writtenAt - b.writtenAt);
}

/**
 * Removes the rows of a wallet without keys file, its secrets first, and the file that names it. Throws `WalletRefusal`
 * for one that has its keys, or may be in use, and the errors of the engine; repeating it completes it.
 */
export async function removeUnusedRows(place: StorePlace, id: string): Promise<void> {
  const { folder, secrets, engine, now } = place;
  const refuse = (why: string) => new WalletRefusal("UNKNOWN_ERROR", `${id}: ${why}`);
  if (!/^[0-9a-f]{32}$/.test(id)) throw refuse("an id has 32 hexadecimal digits");
  const entry = await witnessedWallet(engine, secrets, fromHex(id));
  if (entry === undefined) throw refuse("no service of this folder has had such a wallet in this store");
  const file = (await namedIn(folder)).get(id)?.file;
  const unlock = file === undefined ? undefined : await takeLock(lockOf(file));
  try {
    if ((await namedIn(folder)).get(id)?.hasKeys === true) throw refuse("its keys file is there");
    const reason = reasonOf(entry.state, now - entry.writtenAt);
    if (reason !== undefined) throw refuse(reason);
    await removeStored(engine, entry.wallet, secrets);
    if (file === undefined) return;
    for (const path of [file, addressesOf(file)]) await rm(path, { force: true });
  } finally {
    await unlock?.();
  }
}

/** A file beside that which has the name of a wallet. */
const besideName = (file: string, ending: string): string => file.replace(/\.anulo(?:\..*)?$/s, ending);

/** Its lock, and what it recognises its addresses by. */
const lockOf = (file: string): string => besideName(file, ".anulo.lock");
const addressesOf = (file: string): string => besideName(file, ".anulo.addresses");

/**
 * Copies of wallets while services have them open, and what puts them back: the keys file and what the wallet knows,
 * encrypted as they are. In a backup's folder a wallet is `NAME.keys`, with `NAME.rows` if its ledger is in a store
 * (wallet-copy-file.ts), or `NAME.anulo`, its journal.
 */
import { constants } from "node:fs";
import { copyFile, mkdir, open, opendir, rename, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { equalBytes } from "@anulo/protocol";
import { type Engine, hasDataKey, restoreWalletRows } from "@anulo/store";
import { WalletRefusal } from "../refusal.ts";
import { readName, writeName } from "./store-name.ts";
import { readCopyFile, writeCopyFile } from "./wallet-copy-file.ts";
import {
  createKeysImage,
  exists,
  putKeysAside,
  putStoreAside,
  readKeysImage,
  type WalletPaths,
  walletNames,
  walletPaths,
} from "./wallet-files.ts";
import { takeLock } from "./wallet-lock.ts";

/** Number of names that are read at once. */
const NAMES_AT_ONCE = 256;
/** Number of attempts to copy a wallet whose keys are replaced meanwhile. */
const ATTEMPTS = 5;
/** Milliseconds between two of them. */
const ATTEMPT_AGAIN_MS = 200;
/** A larger keys file (bytes) is none: those of multisig wallets have some hundred KiB. */
const MAX_KEYS_BYTES = 64 * 1024 * 1024;

/** Where wallets are, and where their copies. */
export type BackupPlace = {
  /** Folder of the wallets. */
  readonly folder: string;
  /** Folder of the copies. */
  readonly copies: string;
  /** The store of the ledgers; undefined if there is none: then only wallets with journals can be copied. */
  readonly engine: Engine | undefined;
};

/** Why a wallet was not copied, or not put back. */
export type BackupFailure = { readonly name: string; readonly reason: string };

/** How many wallets were copied, or put back, and which were not. */
export type BackupResult = { readonly count: number; readonly failures: readonly BackupFailure[] };

const refuse = (why: string) => new WalletRefusal("UNKNOWN_ERROR", why);
const rowsOf = ({ base }: WalletPaths): string => `${base}.rows`;

/** Copies one wallet, or all in the folder, into a folder that is empty or not there. Throws `WalletRefusal`. */
export async function backupWallets(place: BackupPlace, only?: string): Promise<BackupResult> {
  await mkdir(place.copies, { recursive: true, mode: 0o700 });
  for await (const _ of await opendir(place.copies)) throw refuse(`${place.copies} is not empty`);
  return await each(place.folder, only, (name) => backupWallet(place, name));
}

/**
 * Puts one wallet back, or all that are in the folder of copies. A wallet that is there already is left as it is, unless
 * `replaces`: then its keys file and journal are renamed, and its rows in the store are lost. Throws `WalletRefusal`.
 */
export async function restoreWallets(
  place: BackupPlace,
  { only, replaces }: { readonly only?: string | undefined; readonly replaces: boolean },
): Promise<BackupResult> {
  await mkdir(place.folder, { recursive: true, mode: 0o700 });
  return await each(place.copies, only, (name) => restoreWallet(place, name, replaces));
}

async function each(
  folder: string,
  only: string | undefined,
  step: (name: string) => Promise<void>,
): Promise<BackupResult> {
  const failures: BackupFailure[] = [];
  let count = 0;
  const run = async (name: string) => {
    try {
      await step(name);
      count += 1;
    } catch (error) {
      failures.push({ name, reason: (error as Error).message });
    }
  };
  if (only !== undefined) await run(only);
  else
    for (let after = ""; ; ) {
      const names = await walletNames(folder, { after, limit: NAMES_AT_ONCE });
      for (const name of names) await run(name);
      if (names.length < NAMES_AT_ONCE) break;
      after = names.at(-1)!;
    }
  return { count, failures };
}

async function backupWallet(place: BackupPlace, name: string): Promise<void> {
  const [from, to] = [walletPaths(place.folder, name), walletPaths(place.copies, name)];
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    if (attempt > 1) await delay(ATTEMPT_AGAIN_MS);
    const keys = await keysOf(from);
    const id = await readName(from.store);
    if (id !== undefined) await copyRows(place, { id, to: rowsOf(to) });
    else if (await exists(from.store)) await copyWhole(from.store, to.store);
    // The keys fit what was copied if neither was replaced meanwhile.
    const now = await readKeysImage(from);
    const idNow = await readName(from.store);
    const isNext = await exists(`${from.store}.next`);
    if (now !== undefined && equalBytes(keys, now) && isSame(id, idNow) && !isNext) {
      await createKeysImage(to, keys);
      return;
    }
    for (const path of [rowsOf(to), to.store]) await rm(path, { force: true });
  }
  throw refuse("its keys are being replaced; if they are not, open it once");
}

async function keysOf(paths: WalletPaths): Promise<Uint8Array> {
  const size = (await stat(paths.keys).catch(() => undefined))?.size ?? 0;
  if (size > MAX_KEYS_BYTES) throw refuse(`${paths.keys} is too large for a keys file`);
  const keys = await readKeysImage(paths);
  if (keys === undefined) throw refuse(`there is no file ${paths.keys}`);
  return keys;
}

const isSame = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a === undefined || b === undefined ? a === b : equalBytes(a, b);

async function copyRows(
  { engine }: BackupPlace,
  { id, to }: { readonly id: Uint8Array; readonly to: string },
): Promise<void> {
  if (engine === undefined) throw refuse("its history is in a store: name it by --store");
  const snapshot = await engine.snapshot(id);
  if (snapshot === undefined) throw refuse("it is not in this --store");
  try {
    if (!(await hasDataKey(engine, id)))
      throw refuse("it was put back from a copy in part: restore it again");
    await writeCopyFile(to, id, snapshot);
  } finally {
    await snapshot.close();
  }
}

/** A journal grows at its end alone, or is replaced as a whole: what is read from its beginning is whole. */
async function copyWhole(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_EXCL);
  const file = await open(to, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function restoreWallet(place: BackupPlace, name: string, replaces: boolean): Promise<void> {
  const [from, to] = [walletPaths(place.copies, name), walletPaths(place.folder, name)];
  const keys = await keysOf(from);
  const unlock = await takeLock(to.lock);
  try {
    const isThere = (await exists(to.keys)) || (await exists(to.store));
    if (isThere && !replaces) throw refuse("it is there already: --replace puts the copy in its place");
    if (await exists(rowsOf(from))) await restoreRows(place, { from, to, replaces });
    else await restoreJournal(from, to);
    // With its keys the wallet is there again.
    await putKeysAside(to);
    if (!(await createKeysImage(to, keys))) throw refuse("another program has made a wallet of this name");
  } finally {
    await unlock();
  }
}

async function restoreJournal(from: WalletPaths, to: WalletPaths): Promise<void> {
  if (!(await exists(from.store))) return await putStoreAside(to);
  if ((await readName(from.store)) !== undefined)
    throw refuse("the copy lacks its rows, which are in a store");
  const next = `${to.store}.restored.new`;
  await rm(next, { force: true });
  await copyWhole(from.store, next);
  await putStoreAside(to);
  await rename(next, to.store);
}

async function restoreRows(
  { engine }: BackupPlace,
  {
    from,
    to,
    replaces,
  }: { readonly from: WalletPaths; readonly to: WalletPaths; readonly replaces: boolean },
): Promise<void> {
  if (engine === undefined) throw refuse("its history is for a store: name it by --store");
  const copy = await readCopyFile(rowsOf(from));
  const isUsed = (await engine.markOf(copy.wallet)) !== undefined;
  if (isUsed && !replaces)
    throw refuse(
      "its rows are in the store already, perhaps for another folder: --replace puts the copy in their place",
    );
  const id = await readName(to.store);
  await restoreWalletRows(engine, copy.wallet, copy);
  if (id === undefined || !equalBytes(id, copy.wallet)) await putStoreAside(to);
  await writeName(to.store, copy.wallet);
}

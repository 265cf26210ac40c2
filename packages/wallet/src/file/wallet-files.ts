/**
 * A wallet's files in the wallet directory: `<name>.keys` (as the original programs keep it), `<name>.anulo` (our
 * store), `<name>.anulo.lock` while a service has it open (wallet-lock.ts). The original's own cache `<name>` is read, and written
 * only to keep it readable (beside-original.ts).
 */
import { access, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { WalletRefusal } from "../refusal.ts";
import { syncDirectory } from "./journal.ts";

export type WalletPaths = {
  /** What the original would call the wallet file. */
  readonly base: string;
  readonly keys: string;
  readonly store: string;
  readonly lock: string;
};

/** Bytes of a name with its longest ending, which file systems take. */
const MAX_NAME_BYTES = 255 - ".address.txt".length;

/** A wallet of such a name would have its files where another keeps its own. */
const OWN_ENDING = /\.anulo(?:\.lock|\.next)?(?:\.keys)?$/;

/** Throws a refusal for a name that would leave the directory, or that no file can have. */
export function walletPaths(directory: string, name: string): WalletPaths {
  const isTooLong = Buffer.byteLength(name) > MAX_NAME_BYTES;
  if (
    isTooLong ||
    name.includes("/") ||
    name.includes("\0") ||
    OWN_ENDING.test(name) ||
    (process.platform === "win32" && /[\\:]/.test(name))
  ) {
    throw new WalletRefusal("UNKNOWN_ERROR", "Invalid filename");
  }
  // Not joined, which would take `.` and `..` for a way out of the directory.
  return pathsOfFile(`${directory.replace(/\/+$/, "")}/${name}`);
}

/** Of a wallet named by its file, with or without the ending of its keys. Source: wallet2.cpp `do_prepare_file_names`. */
export function pathsOfFile(file: string): WalletPaths {
  return pathsAt(file.replace(/\.keys$/, ""));
}

function pathsAt(base: string): WalletPaths {
  return { base, keys: `${base}.keys`, store: `${base}.anulo`, lock: `${base}.anulo.lock` };
}

/** Whether anything that belongs to a wallet of this name is there. */
export async function walletExists(paths: WalletPaths): Promise<boolean> {
  for (const path of [paths.base, paths.keys, paths.store]) {
    if (await exists(path)) return true;
  }
  return false;
}

export async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

/** Takes away what a wallet that could not be made has left. */
export async function removeFiles({ base, keys, store }: WalletPaths): Promise<void> {
  for (const path of [keys, store, `${base}.address.txt`]) await rm(path, { force: true });
}

/** Undefined when there is no such file. */
export function readKeysImage(paths: WalletPaths): Promise<Uint8Array | undefined> {
  return readIfThere(paths.keys);
}

/** The original's cache; undefined when there is none. */
export function readCacheImage(paths: WalletPaths): Promise<Uint8Array | undefined> {
  return readIfThere(paths.base);
}

async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Beside a wallet of a test network the original writes its address, for people to read.
 * Source: wallet2.cpp `create_keys_file`.
 */
export async function writeAddressFile(paths: WalletPaths, address: string): Promise<void> {
  await writeFile(`${paths.base}.address.txt`, address, { mode: 0o600 });
}

/** Replaces the keys file in one step: a crash leaves the old or the new one. */
export async function writeKeysImage(paths: WalletPaths, image: Uint8Array): Promise<void> {
  await writeBeside(paths.keys, image);
  await rename(`${paths.keys}.new`, paths.keys);
  await syncDirectory(dirname(paths.keys));
}

/**
 * Replaces the keys file and the original's cache: both are on disk before either takes its place, so that a crash
 * between the two leaves the missing one as `<name>.new`.
 */
export async function writeKeysAndCache(
  paths: WalletPaths,
  images: { readonly keys: Uint8Array; readonly cache: Uint8Array },
): Promise<void> {
  await writeBeside(paths.base, images.cache);
  await writeBeside(paths.keys, images.keys);
  await rename(`${paths.keys}.new`, paths.keys);
  await rename(`${paths.base}.new`, paths.base);
  await syncDirectory(dirname(paths.keys));
}

async function writeBeside(path: string, image: Uint8Array): Promise<void> {
  const file = await open(`${path}.new`, "w", 0o600);
  try {
    await file.writeFile(image);
    await file.sync();
  } catch (error) {
    await rm(`${path}.new`, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * Puts the original's cache aside, as `<name>.old` or `<name>.old2`, ..: it belongs to other keys from now on, and
 * the original refuses a wallet whose cache is of another address.
 */
export async function putCacheAside(paths: WalletPaths): Promise<void> {
  if (!(await exists(paths.base))) return;
  let aside = `${paths.base}.old`;
  for (let number = 2; await exists(aside); number++) aside = `${paths.base}.old${number}`;
  await rename(paths.base, aside);
}

/**
 * A wallet's files in the wallet directory: `<name>.keys` (in the original programs' format), `<name>.anulo` (our
 * store), `<name>.anulo.lock` while a service has it open (wallet-lock.ts), `<name>.anulo.addresses` (kept-addresses.ts). The original's own cache `<name>` is read
 * and written again (beside-original.ts), as `<name>.anulo.cache` while it is being written.
 */
import { createHash, randomBytes } from "node:crypto";
import { access, link, mkdir, open, opendir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { toHex } from "@anulo/protocol";
import { MissingWallet, WalletRefusal } from "../refusal.ts";
import { IV_BYTES } from "./encrypted-file.ts";
import { syncDirectory } from "./journal.ts";

export type WalletPaths = {
  /** The path that the original calls the wallet file. */
  readonly base: string;
  readonly keys: string;
  readonly store: string;
  readonly lock: string;
  /** The original's cache while it is incomplete. */
  readonly nextCache: string;
};

/** Maximum length (bytes) of a name: with its longest ending, file systems must accept it. */
const MAX_NAME_BYTES = 255 - ".address.txt".length;

/** A wallet with such a name would use the same files as another one. */
const OWN_ENDING = /\.anulo(?:\.lock|\.next|\.cache|\.addresses|\.old\d*)?(?:\.keys)?$/;

/** Throws `WalletRefusal` for a name that would leave the directory, or that no file can have. */
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
  // Concatenated rather than joined, since `join` would resolve `.` and `..`.
  return pathsOfFile(`${directory.replace(/\/+$/, "")}/${name}`);
}

/** The wallet that a name opens: a name with the ending of a keys file means the same wallet. */
export function walletNameOf(name: string): string {
  return basename(pathsOfFile(name).base);
}

/**
 * The paths of a wallet named by its file, with or without the ending of its keys. Source: wallet2.cpp
 * `do_prepare_file_names`.
 */
export function pathsOfFile(file: string): WalletPaths {
  return pathsAt(file.replace(/\.keys$/, ""));
}

function pathsAt(base: string): WalletPaths {
  const store = `${base}.anulo`;
  return { base, keys: `${base}.keys`, store, lock: `${store}.lock`, nextCache: `${store}.cache` };
}

/** The file with what the wallet recognises its addresses by (kept-addresses.ts). */
export function addressesFileOf({ store }: Pick<WalletPaths, "store">): string {
  return `${store}.addresses`;
}

/**
 * Whether there is a wallet of this name. A journal alone does not count, since users delete only the original's files.
 */
export async function walletExists(paths: WalletPaths): Promise<boolean> {
  return (await exists(paths.base)) || (await exists(paths.keys));
}

/** Number of directory entries that are read at once. */
const ENTRIES_AT_ONCE = 256;

export type NamesAsked = {
  readonly after: string;
  readonly limit: number;
  /** Which names to return; all if left out. */
  readonly accepts?: (name: string) => boolean;
};

/**
 * Names of the wallets in a folder, in order of their UTF-16 code units: the first `limit` names greater than `after`.
 * The whole folder is read, but only this many names are held in memory.
 */
export async function walletNames(
  directory: string,
  { after, limit, accepts = () => true }: NamesAsked,
): Promise<string[]> {
  const names: string[] = [];
  for await (const { name: file } of await opendir(directory, { bufferSize: ENTRIES_AT_ONCE })) {
    if (!file.endsWith(".keys") || OWN_ENDING.test(file)) continue;
    const name = file.slice(0, -".keys".length);
    if (name === "" || name <= after || !accepts(name) || (names.length === limit && name > names.at(-1)!))
      continue;
    names.splice(placeOf(names, name), 0, name);
    if (names.length > limit) names.pop();
  }
  return names;
}

/** Index at which a name belongs in an ordered list. */
function placeOf(names: readonly string[], name: string): number {
  let [from, to] = [0, names.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (names[middle]! < name) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Error codes that mean that there is certainly no such file; after any other there may be one. */
const absentCodes = new Set(["ENOENT", "ENOTDIR"]);

/**
 * Whether there is such a file. Throws `WalletRefusal` if the system does not tell: a file that is taken for missing may
 * be replaced, or what belongs to it removed.
 */
export async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (absentCodes.has(code)) return false;
    throw new WalletRefusal("UNKNOWN_ERROR", `The system does not tell whether there is ${path}: ${code}`);
  }
}

/** Removes the files of a wallet that could not be created. */
export async function removeFiles(paths: WalletPaths): Promise<void> {
  const { base, keys, store } = paths;
  for (const path of [keys, store, addressesFileOf(paths), `${base}.address.txt`])
    await rm(path, { force: true });
}

/**
 * The folder of files that are to replace those of a wallet, below a folder beside the wallets; names of wallets may be
 * no names of folders, as `..`.
 */
export function nextFolderOf(folder: string, { base }: WalletPaths): string {
  return join(folder, "next", createHash("sha256").update(basename(base)).digest("hex"));
}

/** Removes such a folder: whoever was about to replace the wallet's files replaces nothing any more. */
export async function removeNextFolder(path: string): Promise<void> {
  // There hardly ever is one, and looking costs less than removing nothing.
  if (await exists(path)) await rm(path, { recursive: true, force: true });
}

export const missingFile = ({ keys }: WalletPaths) => new MissingWallet(keys);

/** The keys file; undefined if it does not exist. */
export function readKeysImage(paths: WalletPaths): Promise<Uint8Array | undefined> {
  return readIfThere(paths.keys);
}

/** The original's cache; undefined if it does not exist. */
export function readCacheImage(paths: WalletPaths): Promise<Uint8Array | undefined> {
  return readIfThere(paths.base);
}

/** The id of the original's cache, as `cacheId` computes it; undefined if there is none. */
export async function readCacheId({ base }: WalletPaths): Promise<string | undefined> {
  try {
    const file = await open(base, "r");
    try {
      const { buffer, bytesRead } = await file.read(new Uint8Array(IV_BYTES), 0, IV_BYTES, 0);
      return toHex(buffer.subarray(0, bytesRead));
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
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
 * Beside a wallet of a test network the original writes its address, as text for the user.
 * Source: wallet2.cpp `create_keys_file`.
 */
export async function writeAddressFile(paths: WalletPaths, address: string): Promise<void> {
  await writeFile(`${paths.base}.address.txt`, address, { mode: 0o600 });
}

/** How the keys file of a wallet is replaced that other services may get meanwhile. */
export type KeysFence = {
  /** Where the new files are written: the wallet's next owner removes this folder before it reads the keys. */
  readonly folder: string;
  /** Throws `WalletRefusal` if the wallet is another service's by now. */
  confirm(): Promise<void>;
};

/**
 * The path at which a keys file is written before it replaces the old one. No other process writes it: a process that
 * was suspended in the middle and continues later writes only its own file.
 */
const nextKeysOf = ({ base }: WalletPaths): string => `${base}.${randomBytes(4).toString("hex")}.keys.new`;

/** Replaces the keys file in one step: after a crash it is either the old or the new one. */
export async function writeKeysImage(
  paths: WalletPaths,
  image: Uint8Array,
  fence?: KeysFence,
): Promise<void> {
  await replaceFenced([{ path: paths.keys, next: nextKeysOf(paths), image }], fence);
}

/** Creates a keys file while other processes may create one too; returns false if one exists, which is not changed. */
export async function createKeysImage(paths: WalletPaths, image: Uint8Array): Promise<boolean> {
  const next = nextKeysOf(paths);
  await writeNext(next, image);
  try {
    await link(next, paths.keys);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    await rm(next, { force: true });
  }
  await syncDirectory(dirname(paths.keys));
  return true;
}

/**
 * Replaces the keys file and the original's cache: both are on disk before either is renamed, so that a crash between
 * the two leaves the missing one, as `<name>.new` if no other services share the wallet.
 */
export async function writeKeysAndCache(
  paths: WalletPaths,
  images: { readonly keys: Uint8Array; readonly cache: Uint8Array },
  fence?: KeysFence,
): Promise<void> {
  const keys = { path: paths.keys, next: nextKeysOf(paths), image: images.keys };
  await replaceFenced([keys, { path: paths.base, next: `${paths.base}.new`, image: images.cache }], fence);
}

type Replacement = { readonly path: string; readonly next: string; readonly image: Uint8Array };

/**
 * Writes the new files, then renames them in this order. With a fence the service is asked in between whether it still
 * has the wallet: one that has lost it later, before it renames them, finds them removed.
 */
async function replaceFenced(files: readonly Replacement[], fence: KeysFence | undefined): Promise<void> {
  const own = randomBytes(8).toString("hex");
  if (fence !== undefined) await mkdir(fence.folder, { recursive: true, mode: 0o700 });
  const written = files.map(({ path, next, image }, i) => {
    return { path, image, next: fence === undefined ? next : join(fence.folder, `${own}.${i}`) };
  });
  let moved = 0;
  try {
    for (const { next, image } of written) await writeNext(next, image);
    await fence?.confirm();
    for (; moved < written.length; moved++) await rename(written[moved]!.next, written[moved]!.path);
  } catch (error) {
    if (moved === 0) for (const { next } of written) await rm(next, { force: true });
    if (fence === undefined || (error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new WalletRefusal(
      "UNOWNED",
      "Another service has the wallet by now, and its keys file was not changed",
    );
  }
  await syncDirectory(dirname(files[0]!.path));
}

async function writeNext(path: string, image: Uint8Array): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    await file.writeFile(image);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * Renames the original's cache to `<name>.old` or `<name>.old2`, ..: it belongs to other keys from now on, and the
 * original refuses a wallet whose cache is of another address.
 */
export async function putCacheAside({ base }: WalletPaths): Promise<void> {
  await putAside(base);
}

/** Does the same with the journal of a wallet whose other files were deleted: a new wallet of its name starts empty. */
export async function putStoreAside({ store }: WalletPaths): Promise<void> {
  await putAside(store);
}

/** Does the same with a keys file in whose place a copy is put. */
export async function putKeysAside({ keys }: WalletPaths): Promise<void> {
  await putAside(keys);
}

async function putAside(path: string): Promise<void> {
  if (!(await exists(path))) return;
  let aside = `${path}.old`;
  for (let number = 2; await exists(aside); number++) aside = `${path}.old${number}`;
  await rename(path, aside);
}

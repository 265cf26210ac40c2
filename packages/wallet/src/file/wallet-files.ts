/**
 * A wallet's files in the wallet directory: `<name>.keys` (as the original programs keep it), `<name>.anulo` (our
 * store; the original's own cache `<name>` is never touched), `<name>.anulo.lock` while a service has it open.
 */
import { access, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
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

/** Throws a refusal for a name that would leave the directory, or that no file can have. */
export function walletPaths(directory: string, name: string): WalletPaths {
  const isTooLong = Buffer.byteLength(name) > MAX_NAME_BYTES;
  if (
    isTooLong ||
    name.includes("/") ||
    name.includes("\0") ||
    (process.platform === "win32" && /[\\:]/.test(name))
  ) {
    throw new WalletRefusal("UNKNOWN_ERROR", "Invalid filename");
  }
  return pathsAt(join(directory, name));
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

/** Undefined when there is no such file. */
export async function readKeysImage(paths: WalletPaths): Promise<Uint8Array | undefined> {
  try {
    return await readFile(paths.keys);
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
  const fresh = `${paths.keys}.new`;
  const file = await open(fresh, "w", 0o600);
  try {
    await file.writeFile(image);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, paths.keys);
  await syncDirectory(dirname(paths.keys));
}

/** Locks held by this process, which may run several services. */
const heldHere = new Set<string>();

/** Keeps a second service from writing the same files; one that died without cleaning up doesn't count. */
export async function lockWallet(paths: WalletPaths): Promise<() => Promise<void>> {
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const file = await open(paths.lock, "wx", 0o600);
      await file.writeFile(String(process.pid));
      await file.close();
      heldHere.add(paths.lock);
      return async () => {
        heldHere.delete(paths.lock);
        await rm(paths.lock, { force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      if (await isHeld(paths.lock)) break;
      await rm(paths.lock, { force: true });
    }
  }
  throw new WalletRefusal("UNKNOWN_ERROR", "Failed to open wallet: another service has it open");
}

async function isHeld(lock: string): Promise<boolean> {
  if (heldHere.has(lock)) return true;
  const pid = Number(await readFile(lock, "utf8").catch(() => ""));
  if (!Number.isSafeInteger(pid) || pid <= 0 || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

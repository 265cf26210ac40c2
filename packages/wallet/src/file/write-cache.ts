/** Writes the original program's cache to a file, in turns and without ever holding all of it in memory. */
import { randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { chacha20InPieces, wipe } from "@anulo/crypto";
import { concatBytes, encode, toHex, varint } from "@anulo/protocol";
import { IV_BYTES } from "./encrypted-file.ts";
import { syncDirectory } from "./journal.ts";
import { type CacheToWrite, MAX_CACHE_BYTES, piecesOfCache } from "./original-cache.ts";

/** Maximum duration (milliseconds) of work between two pauses. */
const TURN_MS = 8;
const BYTES_A_WRITE = 256 * 1024;
/** Average bytes per item of any list: for the first estimate of the size of a cache. */
const BYTES_AN_ITEM = 100;

/** Creates the cache with this id (hex of its iv). */
export type MakeCache = (id: string) => Promise<CacheToWrite>;

/** The path of a cache, its key, and its temporary path until it is complete. */
export type CacheTarget = { readonly path: string; readonly temporary: string; readonly key: Uint8Array };

/**
 * Replaces the cache in one step, once `isStillFree` confirms that no other program has written it meanwhile; returns
 * its id, or undefined if another program has. Throws errors of the file system, and `RangeError` for more than 512
 * MiB.
 */
export async function writeCache(
  { path, temporary, key }: CacheTarget,
  make: MakeCache,
  isStillFree: () => Promise<boolean>,
): Promise<string | undefined> {
  try {
    const id = await writeWhole(temporary, key, make);
    if (!(await isStillFree())) return undefined;
    await rename(temporary, path);
    await syncDirectory(dirname(path));
    return id;
  } finally {
    // If all went well, the file has been renamed by now.
    await rm(temporary, { force: true });
  }
}

async function writeWhole(path: string, key: Uint8Array, make: MakeCache): Promise<string> {
  const file = await open(path, "w", 0o600);
  try {
    // The length precedes the text but is known only after it, so a wrong estimate of the size costs another attempt.
    for (let guess: number | undefined; ; ) {
      const iv = new Uint8Array(randomBytes(IV_BYTES));
      const id = toHex(iv);
      const cache = await make(id);
      const at = IV_BYTES + encode(varint, guess ?? guessLength(cache)).length;
      const length = await writeText(file, cache, { key, iv, at });
      const head = concatBytes(iv, encode(varint, length));
      if (head.length === at) {
        await writeAt(file, head, 0);
        await file.sync();
        return id;
      }
      guess = length;
      await file.truncate(0);
    }
  } finally {
    await file.close();
  }
}

function guessLength(cache: CacheToWrite): number {
  let items = 0;
  for (const section of Object.values(cache))
    if (typeof section === "object" && "length" in section) items += section.length;
  return items * BYTES_AN_ITEM;
}

/** Returns the size of the text in bytes. */
async function writeText(
  file: FileHandle,
  cache: CacheToWrite,
  { key, iv, at }: { readonly key: Uint8Array; readonly iv: Uint8Array; readonly at: number },
): Promise<number> {
  const encrypt = chacha20InPieces(key, iv);
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let length = 0;
  let turn = performance.now();
  const flush = async () => {
    const bytes = concatBytes(...waiting);
    waiting = [];
    waitingBytes = 0;
    await writeAt(file, bytes, at + length);
    length += bytes.length;
  };
  for (const piece of piecesOfCache(cache)) {
    waiting.push(encrypt(piece));
    waitingBytes += piece.length;
    wipe(piece);
    if (length + waitingBytes > MAX_CACHE_BYTES) throw new RangeError("more than such a file may hold");
    if (waitingBytes >= BYTES_A_WRITE) await flush();
    else if (performance.now() - turn < TURN_MS) continue;
    else await setImmediate();
    turn = performance.now();
  }
  await flush();
  return length;
}

async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const left = bytes.length - written;
    written += (await file.write(bytes, written, left, position + written)).bytesWritten;
  }
}

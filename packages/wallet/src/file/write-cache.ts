/** Writes the original program's cache to a file, in turns and without ever holding all of it. */
import { randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { chacha20InPieces } from "@anulo/crypto";
import { concatBytes, encode, toHex, varint } from "@anulo/protocol";
import { IV_BYTES } from "./encrypted-file.ts";
import { syncDirectory } from "./journal.ts";
import { type CacheToWrite, MAX_CACHE_BYTES, piecesOfCache } from "./original-cache.ts";

/** The longest stretch of work between two pauses. */
const TURN_MS = 8;
const BYTES_A_WRITE = 256 * 1024;
/** Of one item of any list, on average: the first guess of how long a cache is. */
const BYTES_AN_ITEM = 100;

/** Makes the cache with this id (hex of its iv). */
export type MakeCache = (id: string) => Promise<CacheToWrite>;

/** Where a cache is written, under which key, and by what name beside it until it is whole. */
export type CacheTarget = { readonly path: string; readonly temporary: string; readonly key: Uint8Array };

/**
 * Replaces the cache in one step, once `isStillFree` says that nobody else has written it meanwhile; answers its id,
 * or undefined where somebody had. Throws what the file system does, and `RangeError` for more than 512 MiB.
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
    // Gone by now where all went well.
    await rm(temporary, { force: true });
  }
}

async function writeWhole(path: string, key: Uint8Array, make: MakeCache): Promise<string> {
  const file = await open(path, "w", 0o600);
  try {
    // The length stands before the text and is known after it, so that a wrong guess of its size costs another go.
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

/** Answers how many bytes the text has. */
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
    piece.fill(0);
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

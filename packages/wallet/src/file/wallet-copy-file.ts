/**
 * A file with all rows of a wallet in a store, encrypted as they are there: magic (8) · the wallet's id (16) · epoch (8)
 * and sequence (8) of its last change · rows · 255 · number of rows (8) · SHA-256 of all before (32). A row is its table
 * (1), the lengths of key (1) and value (4), key and value; no table has number 255. Numbers are big-endian.
 */
import { createHash, type Hash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import type { Mark, NewRow, WalletCopy, WalletId, WalletSnapshot } from "@anulo/store";

const MAGIC = Buffer.from("ANULORW\x01", "latin1");
const ID_BYTES = 16;
const HEAD_BYTES = MAGIC.length + ID_BYTES + 16;
const ROW_HEAD_BYTES = 6;
const END = 255;
const END_BYTES = 1 + 8 + 32;
/** Larger than any value of a store. */
const MAX_VALUE_BYTES = 4 * 1024 * 1024;
/** Bytes that are read at once. */
const READ_BYTES = 1024 * 1024;

/** The file is no copy of a wallet, or was changed. */
class DamagedCopy extends Error {
  override readonly name = "DamagedCopy";
}

/** Writes the rows of a wallet to a new file, which is on disk when this resolves. Throws errors of the file system. */
export async function writeCopyFile(path: string, wallet: WalletId, snapshot: WalletSnapshot): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    const hash = createHash("sha256");
    const write = async (bytes: Buffer) => {
      hash.update(bytes);
      await file.writeFile(bytes);
    };
    await write(headOf(wallet, snapshot.mark));
    let count = 0;
    for await (const rows of snapshot.pages) {
      await write(Buffer.concat(rows.flatMap(piecesOf)));
      count += rows.length;
    }
    const end = Buffer.alloc(9);
    end.writeUInt8(END);
    end.writeBigUInt64BE(BigInt(count), 1);
    await write(end);
    await file.writeFile(hash.digest());
    await file.sync();
  } finally {
    await file.close();
  }
}

function headOf(wallet: WalletId, { epoch, sequence }: Mark): Buffer {
  const marks = Buffer.alloc(16);
  marks.writeBigUInt64BE(BigInt(epoch));
  marks.writeBigUInt64BE(BigInt(sequence), 8);
  return Buffer.concat([MAGIC, wallet, marks]);
}

function piecesOf({ table, key, value }: NewRow): Uint8Array[] {
  const head = Buffer.alloc(ROW_HEAD_BYTES);
  head.writeUInt8(table);
  head.writeUInt8(key.length, 1);
  head.writeUInt32BE(value.length, 2);
  return [head, key, value];
}

/** Reads a copy's head, once its hash is right; of its rows a few are in memory at once. Throws `DamagedCopy`. */
export async function readCopyFile(path: string): Promise<WalletCopy & { readonly wallet: WalletId }> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const head = await piece(file, 0, HEAD_BYTES);
    if (size < HEAD_BYTES + END_BYTES || !MAGIC.equals(head.subarray(0, MAGIC.length)))
      throw new DamagedCopy(`${path} is no copy of a wallet`);
    const hash = createHash("sha256");
    await hashUpTo(path, size - 32, hash);
    if (!hash.digest().equals(await piece(file, size - 32, 32)))
      throw new DamagedCopy(`${path} is not what was written`);
    const end = await piece(file, size - END_BYTES, 9);
    const mark = {
      epoch: Number(head.readBigUInt64BE(MAGIC.length + ID_BYTES)),
      sequence: Number(head.readBigUInt64BE(MAGIC.length + ID_BYTES + 8)),
    };
    const wallet = head.subarray(MAGIC.length, MAGIC.length + ID_BYTES);
    const count = Number(end.readBigUInt64BE(1));
    return { wallet, mark, read: () => rowsOf(path, { to: size - END_BYTES, count }) };
  } finally {
    await file.close();
  }
}

async function piece(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  await file.read(bytes, 0, length, from);
  return bytes;
}

async function hashUpTo(path: string, to: number, hash: Hash): Promise<void> {
  for await (const bytes of partsOf(path, 0, to)) hash.update(bytes);
}

/** The bytes of a file from one place to another, some at a time; each part is overwritten by the next. */
async function* partsOf(path: string, from: number, to: number): AsyncGenerator<Buffer, void> {
  const file = await open(path, "r");
  try {
    const part = Buffer.alloc(READ_BYTES);
    for (let at = from; at < to; ) {
      const { bytesRead } = await file.read(part, 0, Math.min(part.length, to - at), at);
      if (bytesRead === 0) return;
      yield part.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}

async function* rowsOf(
  path: string,
  { to, count }: { readonly to: number; readonly count: number },
): AsyncGenerator<readonly NewRow[], void> {
  let rest: Buffer = Buffer.alloc(0);
  let found = 0;
  for await (const bytes of partsOf(path, HEAD_BYTES, to)) {
    const read = rowsIn(Buffer.concat([rest, bytes]));
    rest = read.rest;
    found += read.rows.length;
    yield read.rows;
  }
  if (rest.length > 0 || found !== count) throw new DamagedCopy(`${path} is not what was written`);
}

/** The whole rows in these bytes, and what is left of them. */
function rowsIn(bytes: Buffer): { readonly rows: NewRow[]; readonly rest: Buffer } {
  const rows: NewRow[] = [];
  let at = 0;
  while (bytes.length - at >= ROW_HEAD_BYTES) {
    const keyLength = bytes.readUInt8(at + 1);
    const valueLength = bytes.readUInt32BE(at + 2);
    if (valueLength > MAX_VALUE_BYTES) throw new DamagedCopy("a row of the copy is too long");
    const keyAt = at + ROW_HEAD_BYTES;
    const end = keyAt + keyLength + valueLength;
    if (bytes.length < end) break;
    const key = bytes.subarray(keyAt, keyAt + keyLength);
    rows.push({ table: bytes.readUInt8(at), key, value: bytes.subarray(keyAt + keyLength, end) });
    at = end;
  }
  return { rows, rest: bytes.subarray(at) };
}

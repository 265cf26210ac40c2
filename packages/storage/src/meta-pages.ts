import { fstatSync, readSync, writeSync } from "node:fs";
import { DamagedDatabase, WrongDatabase } from "./damage.ts";

/**
 * One of the two meta pages at the start of an LMDB file: each is the root of one state of the file, and commits write
 * them alternately. Source: liblmdb mdb.c `MDB_meta`, `MDB_page_header` (data version 2, 64 bits, little-endian).
 */
export interface MetaPage {
  /** Number of the commit that wrote it. */
  readonly commit: number;
  /** Bytes of a page. */
  readonly pageSize: number;
  /** Number of the last page in use. */
  readonly lastPage: number;
  /** The list of free pages, and the table of tables. */
  readonly free: TreeRecord;
  readonly main: TreeRecord;
  /** The bytes of header and meta in the file. */
  readonly image: Buffer;
}

/** LMDB's record of a tree. Source: mdb.c `MDB_db`. */
export interface TreeRecord {
  readonly flags: number;
  /** Number of pages from the root to a leaf, both included; 0 for an empty tree. */
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  /** Number of pages for values too long for a leaf. */
  readonly longPages: number;
  readonly entries: number;
  /** Undefined if the tree is empty. */
  readonly root: number | undefined;
}

/** Bytes of such a record. */
export const TREE_BYTES = 48;

/** Reads a tree's record. */
export function parseTree(bytes: Buffer): TreeRecord {
  const number = (offset: number) => Number(bytes.readBigUInt64LE(offset));
  return {
    flags: bytes.readUInt16LE(4),
    depth: bytes.readUInt16LE(6),
    branchPages: number(8),
    leafPages: number(16),
    longPages: number(24),
    entries: number(32),
    root: bytes.readBigUInt64LE(40) === NO_PAGE ? undefined : number(40),
  };
}

/** Bytes of header and meta. */
export const META_BYTES = 168;

const MAGIC = 0xbeefc0de;
const FORMAT = 2;
const META_PAGE = 8;
const at = {
  pageFlags: 18,
  magic: 24,
  format: 28,
  free: 48,
  pageSize: 48,
  main: 96,
  lastPage: 144,
  commit: 152,
} as const;
const NO_PAGE = 2n ** 64n - 1n;

/** Parses a meta page; throws DamagedDatabase if it is not intact. */
export function parseMetaPage(image: Buffer): MetaPage {
  if (image.readUInt32LE(at.magic) !== MAGIC || image.readUInt16LE(at.pageFlags) !== META_PAGE) {
    throw new DamagedDatabase("a root page is not one");
  }
  const pageSize = image.readUInt32LE(at.pageSize);
  const isPowerOfTwo = (pageSize & (pageSize - 1)) === 0;
  if (pageSize < 1024 || pageSize > 65536 || !isPowerOfTwo) {
    throw new DamagedDatabase(`a root page tells of pages of ${pageSize} bytes`);
  }
  return {
    commit: Number(image.readBigUInt64LE(at.commit)),
    pageSize,
    lastPage: Number(image.readBigUInt64LE(at.lastPage)),
    free: parseTree(image.subarray(at.free, at.free + TREE_BYTES)),
    main: parseTree(image.subarray(at.main, at.main + TREE_BYTES)),
    image,
  };
}

function readImage(file: number, offset: number): Buffer {
  const image = Buffer.alloc(META_BYTES);
  const size = readSync(file, image, 0, META_BYTES, offset);
  if (size !== META_BYTES) throw new DamagedDatabase("the file ends inside its first pages");
  return image;
}

/**
 * Size in bytes of the file's pages. Throws WrongDatabase for a file that is no LMDB database, or has an unknown
 * format.
 */
export function readPageSize(file: number): number {
  const first = readImage(file, 0);
  if (first.readUInt32LE(at.magic) !== MAGIC) throw new WrongDatabase("the file is no LMDB database");
  const format = first.readUInt32LE(at.format) & 0xffff;
  if (format !== FORMAT) throw new WrongDatabase(`the file has LMDB format ${format}, expected ${FORMAT}`);
  return parseMetaPage(first).pageSize;
}

/** Reads both meta pages of a file; throws DamagedDatabase if they are contradictory. */
export function readMetaPages(file: number, pageSize: number): readonly [MetaPage, MetaPage] {
  const even = parseMetaPage(readImage(file, 0));
  const odd = parseMetaPage(readImage(file, pageSize));
  const isSound =
    odd.pageSize === even.pageSize &&
    Math.abs(odd.commit - even.commit) <= 1 &&
    (even.commit % 2 === 0 || even.commit === odd.commit);
  if (!isSound) throw new DamagedDatabase("the two root pages contradict each other");
  return [even, odd];
}

/**
 * Throws WrongDatabase or DamagedDatabase for a file that LMDB does not open, or of which pages are missing at the end:
 * reading those would end the process. Another process may be writing the file.
 */
export function checkOpens(file: number): void {
  const pageSize = readPageSize(file);
  const even = parseMetaPage(readImage(file, 0));
  const odd = readImage(file, pageSize);
  const isOdd = odd.readUInt32LE(at.magic) === MAGIC;
  checkNotTruncated(file, isOdd ? newestMeta([even, parseMetaPage(odd)]) : even);
}

/** The current state of the file. */
export function newestMeta([even, odd]: readonly [MetaPage, MetaPage]): MetaPage {
  return even.commit >= odd.commit ? even : odd;
}

/** Makes `meta` the only state of the file. */
export function restoreMeta(file: number, meta: MetaPage): void {
  const parity = meta.commit % 2;
  const older = Buffer.from(meta.image);
  older.writeBigUInt64LE(BigInt(Math.max(0, meta.commit - 1)), at.commit);
  const images = parity === 0 ? [meta.image, older] : [older, meta.image];
  for (const [page, image] of images.entries()) {
    const bytes = Buffer.from(image);
    bytes.writeBigUInt64LE(BigInt(page), 0);
    writeSync(file, bytes, 0, META_BYTES, page * meta.pageSize);
  }
}

/** Size in bytes that the file must have for this state. */
export function sizeOfState({ lastPage, pageSize }: MetaPage): number {
  return (lastPage + 1) * pageSize;
}

/** Throws DamagedDatabase if pages of this state are missing at the end of the file. */
export function checkNotTruncated(file: number, meta: MetaPage): void {
  const { size } = fstatSync(file);
  const expected = sizeOfState(meta);
  if (size < expected) throw new DamagedDatabase(`the file has ${size} bytes where ${expected} belong`);
}

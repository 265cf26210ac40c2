import { BadSource } from "./chain-source.ts";
import { openSource } from "./source-bytes.ts";

/**
 * Reads tables of the original's LMDB file, page by page: the format of LMDB 0.9 (data version 1, 64 bits,
 * little-endian), which our binding does not open, and which must not be mapped, locked or changed here. Every page is
 * checked against its parent, every offset against its page, every page number against the file; a look-up reads at
 * most as many pages as the tree is deep, so that no file can cause an endless loop. Source:
 * external/db_drivers/liblmdb/mdb.c `MDB_meta`, `MDB_db`, `MDB_page`, `MDB_node`, `PAGEBASE`.
 */
export interface LmdbFile {
  readonly path: string;
  /** A table whose keys are 64-bit numbers; throws BadSource if there is none with this name. */
  table(name: string): LmdbTable;
  /** A value of a table whose keys are names; undefined if there is none. */
  property(table: string, name: string): Buffer | undefined;
  /** Throws BadSource if the file was written to since it was opened. */
  checkUnchanged(): void;
  close(): void;
}

export interface LmdbTable {
  /** Number of its rows. */
  readonly count: number;
  /** A row's value; undefined if there is none. Throws BadSource for one longer than `maxBytes`. */
  get(key: number, maxBytes: number): Buffer | undefined;
  /** The rows stored under one key as a separate table, ordered by their first 8 bytes. */
  duplicates(key: number): LmdbTable;
}

const MAGIC = 0xbeefc0de;
const FORMAT = 1;
const PAGE_HEADER_BYTES = 16;
const META_BYTES = 152;
const TREE_BYTES = 48;
const NODE_HEADER = 8;
const MIN_PAGE_BYTES = 256;
const MAX_PAGE_BYTES = 65536;
/** Maximum number of pages from a root to a leaf. Source: mdb.c `CURSOR_STACK`. */
const MAX_DEPTH = 32;
/** Kinds of pages. */
const BRANCH = 1;
const LEAF = 2;
const OVERFLOW = 4;
const META = 8;
const FIXED = 0x20;
const KIND = 0x2f;
/** Flags of a node: the value is on separate pages; the value is a table; there are several values. */
const BIG = 1;
const TABLE = 2;
const SEVERAL = 4;

interface Tree {
  readonly name: string;
  readonly depth: number;
  readonly count: number;
  /** Undefined if the table is empty. */
  readonly root: number | undefined;
}

interface State {
  readonly commit: bigint;
  readonly pageSize: number;
  readonly lastPage: number;
  readonly main: Tree;
}

/** Compares a key of a page with the key that is looked up. */
type Compare = (key: Buffer) => number;

const ROOT = 2n ** 64n - 1n;

function numberAt(bytes: Buffer, at: number): number {
  return Number(bytes.readBigUInt64LE(at));
}

/** Source: `MDB_db`. */
function treeOf(name: string, record: Buffer): Tree {
  const root = record.readBigUInt64LE(40);
  return {
    name,
    depth: record.readUInt16LE(6),
    count: numberAt(record, 32),
    root: root === ROOT ? undefined : Number(root),
  };
}

function compareNumber(path: string, key: number): Compare {
  const target = BigInt(key);
  return (other) => {
    if (other.length < 8) throw new BadSource(path, `a key has ${other.length} bytes, expected 8`);
    const value = other.readBigUInt64LE(0);
    return value < target ? -1 : value > target ? 1 : 0;
  };
}

const compareName =
  (key: Buffer): Compare =>
  (other) =>
    Buffer.compare(other, key);

/** Opens an LMDB file; throws BadSource for another format, and errors of the system. */
export function openLmdbFile(path: string): LmdbFile {
  const file = openSource(path);
  const bad = (reason: string) => new BadSource(path, reason);
  const readMeta = (offset: number): State => {
    const page = file.read(offset, PAGE_HEADER_BYTES + META_BYTES);
    const isMeta = (page.readUInt16LE(10) & META) !== 0 && page.readUInt32LE(PAGE_HEADER_BYTES) === MAGIC;
    if (!isMeta) throw bad(`offset ${offset}: it does not begin as a database of monerod does`);
    const format = page.readUInt32LE(PAGE_HEADER_BYTES + 4);
    if (format !== FORMAT) throw bad(`it has LMDB format ${format}, expected ${FORMAT}`);
    const pageSize = page.readUInt32LE(PAGE_HEADER_BYTES + 24);
    const isPowerOfTwo = (pageSize & (pageSize - 1)) === 0;
    if (pageSize < MIN_PAGE_BYTES || pageSize > MAX_PAGE_BYTES || !isPowerOfTwo)
      throw bad(`it tells of pages of ${pageSize} bytes`);
    const main = treeOf(
      "the tables",
      page.subarray(PAGE_HEADER_BYTES + 72, PAGE_HEADER_BYTES + 72 + TREE_BYTES),
    );
    return {
      pageSize,
      main,
      lastPage: numberAt(page, PAGE_HEADER_BYTES + 120),
      commit: page.readBigUInt64LE(PAGE_HEADER_BYTES + 128),
    };
  };
  /** Commits write the two meta pages alternately. */
  const newest = (): State => {
    const even = readMeta(0);
    const odd = readMeta(even.pageSize);
    if (odd.pageSize !== even.pageSize) throw bad("its two meta pages tell of different pages");
    return even.commit >= odd.commit ? even : odd;
  };
  try {
    const state = newest();
    return createFile({ file, state, newest });
  } catch (error) {
    file.close();
    throw error;
  }
}

interface OpenSource {
  readonly file: ReturnType<typeof openSource>;
  readonly state: State;
  newest(): State;
}

function createFile({ file, state, newest }: OpenSource): LmdbFile {
  const { pageSize, lastPage } = state;
  const { path } = file;
  const checkUnchanged = () => {
    if (newest().commit === state.commit) return;
    throw new BadSource(
      path,
      "it was written to while it was read: stop monerod, and give the command again",
    );
  };
  /** The error for a damaged page; if the file has changed meanwhile, it throws that error instead. */
  const damaged = (page: number, what: string): BadSource => {
    checkUnchanged();
    return new BadSource(path, `offset ${page * pageSize}: page ${page} ${what}`);
  };
  const readPages = (page: number, count: number): Buffer => {
    if (!(page >= 2 && count >= 1 && page + count - 1 <= lastPage))
      throw damaged(page, "is outside the file");
    return file.read(page * pageSize, count * pageSize);
  };
  const readNode = (page: number, bytes: Buffer, index: number) => {
    const start = bytes.readUInt16LE(PAGE_HEADER_BYTES + 2 * index);
    if (start < PAGE_HEADER_BYTES || start + NODE_HEADER > bytes.length)
      throw damaged(page, "has a node outside of it");
    const end = start + NODE_HEADER + bytes.readUInt16LE(start + 6);
    if (end > bytes.length) throw damaged(page, "has a key outside of it");
    const flags = bytes.readUInt16LE(start + 4);
    return { key: bytes.subarray(start + NODE_HEADER, end), flags, low: bytes.readUInt32LE(start), end };
  };
  const countOf = (page: number, bytes: Buffer, size: number): number => {
    const lower = bytes.readUInt16LE(12);
    const count = (lower - PAGE_HEADER_BYTES) / 2;
    const isInside =
      Number.isInteger(count) && count >= 1 && PAGE_HEADER_BYTES + count * size <= bytes.length;
    if (!isInside) throw damaged(page, `has ${count} entries`);
    return count;
  };
  /** Index of the last of a page's keys, from `from` on, that is not above the key looked up; -1 if all are above. */
  const lastNotAbove = (compare: Compare, keyAt: (index: number) => Buffer, from: number, count: number) => {
    let [low, high] = [from, count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(keyAt(middle)) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
  const bigValue = (
    page: number,
    node: { end: number; low: number },
    bytes: Buffer,
    maxBytes: number,
  ): Buffer => {
    if (node.end + 8 > bytes.length) throw damaged(page, "has a value outside of it");
    const first = numberAt(bytes, node.end);
    if (node.low > maxBytes) throw damaged(page, `has a value of ${node.low} bytes, more than ${maxBytes}`);
    const count = Math.floor((PAGE_HEADER_BYTES - 1 + node.low) / pageSize) + 1;
    const value = readPages(first, count);
    const isOverflow = numberAt(value, 0) === first && (value.readUInt16LE(10) & KIND) === OVERFLOW;
    if (!isOverflow || value.readUInt32LE(12) < count) throw damaged(first, "is not one of a long value");
    return value.subarray(PAGE_HEADER_BYTES, PAGE_HEADER_BYTES + node.low);
  };
  const createTree = (tree: Tree) => {
    if (tree.root !== undefined && (tree.depth < 1 || tree.depth > MAX_DEPTH)) {
      throw new BadSource(path, `${tree.name} is a tree of ${tree.depth} pages from root to leaf`);
    }
    /** The page read last at each depth: usually the same one is needed again. */
    const pathPages: { page: number; bytes: Buffer }[] = [];
    const pageAt = (level: number, page: number): Buffer => {
      const last = pathPages[level];
      if (last?.page === page) return last.bytes;
      const bytes = readPages(page, 1);
      const kind = bytes.readUInt16LE(10) & KIND;
      const isLeaf = level === tree.depth - 1;
      const isRight = isLeaf ? kind === LEAF || kind === (LEAF | FIXED) : kind === BRANCH;
      if (numberAt(bytes, 0) !== page || !isRight)
        throw damaged(page, `is not the page of ${tree.name} it should be`);
      pathPages[level] = { page, bytes };
      return bytes;
    };
    /** The leaf that contains a key, if any page does. */
    const leafOf = (compare: Compare): number | undefined => {
      let page = tree.root;
      for (let level = 0; page !== undefined && level < tree.depth - 1; level++) {
        const [parent, bytes] = [page, pageAt(level, page)];
        const keyAt = (index: number) => readNode(parent, bytes, index).key;
        // The first child's key is not stored: all keys below the second child's belong to it.
        const at = Math.max(0, lastNotAbove(compare, keyAt, 1, countOf(parent, bytes, 2)));
        const { low, flags } = readNode(parent, bytes, at);
        page = low + flags * 2 ** 32;
      }
      return page;
    };
    /** Finds a row of fixed length, which is its own key. */
    const fixedRow = (page: number, bytes: Buffer, compare: Compare): Buffer | undefined => {
      const size = bytes.readUInt16LE(8);
      if (size < 8) throw damaged(page, `has rows of ${size} bytes`);
      const rowAt = (index: number) =>
        bytes.subarray(PAGE_HEADER_BYTES + index * size, PAGE_HEADER_BYTES + (index + 1) * size);
      const at = lastNotAbove(compare, rowAt, 0, countOf(page, bytes, size));
      return at >= 0 && compare(rowAt(at)) === 0 ? rowAt(at) : undefined;
    };
    const find = (compare: Compare) => {
      const page = leafOf(compare);
      if (page === undefined) return undefined;
      const bytes = pageAt(tree.depth - 1, page);
      if ((bytes.readUInt16LE(10) & FIXED) !== 0) return { page, row: fixedRow(page, bytes, compare) };
      const keyAt = (index: number) => readNode(page, bytes, index).key;
      const at = lastNotAbove(compare, keyAt, 0, countOf(page, bytes, 2));
      if (at < 0 || compare(keyAt(at)) !== 0) return undefined;
      return { page, bytes, node: readNode(page, bytes, at) };
    };
    return {
      /** The value of a key, which is in its page or on separate pages, with the flags of its node. */
      get(compare: Compare, maxBytes: number): { flags: number; value: Buffer } | undefined {
        const position = find(compare);
        if (position?.node === undefined) {
          return position?.row === undefined ? undefined : { flags: 0, value: position.row };
        }
        const { page, bytes, node } = position;
        if ((node.flags & BIG) !== 0)
          return { flags: node.flags, value: bigValue(page, node, bytes, maxBytes) };
        const value = bytes.subarray(node.end, node.end + node.low);
        if (value.length !== node.low) throw damaged(page, "has a value outside of it");
        if (node.low > maxBytes)
          throw damaged(page, `has a value of ${node.low} bytes, more than ${maxBytes}`);
        return { flags: node.flags, value };
      },
    };
  };
  const plain = (name: string, item: { flags: number; value: Buffer } | undefined): Buffer | undefined => {
    if (item === undefined) return undefined;
    if ((item.flags & ~BIG) !== 0) throw new BadSource(path, `${name} has a row of a kind unknown here`);
    return item.value;
  };
  const tables = createTree(state.main);
  const treeNamed = (name: string): Tree => {
    const item = tables.get(compareName(Buffer.from(name)), TREE_BYTES);
    if (item?.flags !== TABLE || item.value.length !== TREE_BYTES)
      throw new BadSource(path, `it has no table ${name}`);
    return treeOf(name, item.value);
  };
  const tableOf = (source: Tree): LmdbTable => {
    const tree = createTree(source);
    return {
      count: source.count,
      get: (key, maxBytes) => plain(source.name, tree.get(compareNumber(path, key), maxBytes)),
      duplicates(key) {
        const value = tree.get(compareNumber(path, key), pageSize);
        if (value?.flags !== (TABLE | SEVERAL) || value.value.length !== TREE_BYTES) {
          throw new BadSource(path, `${source.name} has no rows under ${key}`);
        }
        return tableOf(treeOf(source.name, value.value));
      },
    };
  };
  return {
    path,
    table: (name) => tableOf(treeNamed(name)),
    // The original stores these names followed by a zero byte.
    property: (table, name) =>
      plain(table, createTree(treeNamed(table)).get(compareName(Buffer.from(`${name}\0`)), pageSize)),
    checkUnchanged,
    close: () => file.close(),
  };
}

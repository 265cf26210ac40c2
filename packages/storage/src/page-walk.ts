import { readSync } from "node:fs";
import { checksumSeed, isRowIntact } from "./checksum.ts";
import { DamagedDatabase } from "./damage.ts";
import { type MetaPage, parseTree, TREE_BYTES, type TreeRecord } from "./meta-pages.ts";

/**
 * Checks the trees of an LMDB file from the root page, in the way LMDB follows them: a page that differs from what its
 * parent records would crash the process that maps the file, and a key out of order would hide a row. Source: liblmdb
 * mdb.c `MDB_page_header`, `MDB_node`, `MDB_ovpage`, `MDB_db`.
 */
export interface PageCheck {
  /** Number of pages checked. */
  readonly pages: number;
  /** Whether these are all pages. */
  readonly isComplete: boolean;
}

export interface PageCheckOptions {
  /**
   * Whether to check each tree to its leaves first, which takes little memory, or the upper pages of all trees first.
   */
  readonly isDepthFirst: boolean;
  /** Pages that wait to be checked at most, where the upper ones are first: others are left out. */
  readonly maxQueued?: number;
}

const PAGE_HEADER_BYTES = 24;
const NODE_HEADER = 8;
const BRANCH = 1;
const LEAF = 2;
const OVERFLOW = 4;
/** Flags of a node: the value is on separate pages; the value is a table. */
const BIG = 1;
const TABLE = 2;
/** The flags of a page that are stored on disk. */
const KIND = 0x2f;

/** A tree to check: the rows of a table have checksums, those of LMDB's own two trees have none. */
interface Tree {
  readonly kind: "free" | "main" | "table";
  readonly name: string;
  readonly seed: number;
  readonly record: TreeRecord;
  /** What was counted in the tree, to be compared with its record. */
  readonly totals: { branchPages: number; leafPages: number; longPages: number; entries: number };
}

/** A page to check: its keys are from `low` (inclusive) to `high` (exclusive). */
interface Visit {
  readonly tree: Tree;
  readonly page: number;
  /** Number of pages from here to a leaf, both included. */
  readonly depth: number;
  readonly low: Buffer | undefined;
  readonly high: Buffer | undefined;
}

interface PageWalk {
  readonly file: number;
  readonly meta: MetaPage;
  /** One bit for each page that has been reached. */
  readonly reached: Uint8Array;
  readonly queue: Visit[];
  /** Otherwise hundreds of thousands of a long file would wait within milliseconds. */
  readonly maxQueued: number;
  /** Whether pages were left out, since too many waited. */
  isPartial: boolean;
  readonly trees: Tree[];
  /** Memory for the page, and for the value on separate pages, that were read last. */
  readonly scratch: { page: Buffer; value: Buffer };
  pages: number;
}

function damaged({ name }: Tree, page: number, what: string): DamagedDatabase {
  return new DamagedDatabase(`page ${page} of ${name} ${what}`);
}

/** Counts pages that belong to a tree. */
function reach(walk: PageWalk, tree: Tree, run: { page: number; count: number }): void {
  mark(walk, tree, run);
  walk.pages += run.count;
}

/** Marks pages as used; throws if they are not in the file or were marked before. */
function mark(walk: PageWalk, tree: Tree, { page, count }: { page: number; count: number }): void {
  if (page < 2 || count < 1 || page + count - 1 > walk.meta.lastPage) {
    throw damaged(tree, page, "is outside the file");
  }
  for (let i = page; i < page + count; i++) {
    const byte = walk.reached[i >> 3]!;
    if ((byte & (1 << (i & 7))) !== 0) throw damaged(tree, i, "is used twice");
    walk.reached[i >> 3] = byte | (1 << (i & 7));
  }
}

/** Reads pages into memory that is reused: garbage from checking a large file would never be returned to the system. */
function readPages(
  walk: PageWalk,
  kind: "page" | "value",
  { page, count }: { page: number; count: number },
): Buffer {
  const size = count * walk.meta.pageSize;
  if (walk.scratch[kind].length < size) walk.scratch[kind] = Buffer.allocUnsafeSlow(size);
  const bytes = walk.scratch[kind].subarray(0, size);
  if (readSync(walk.file, bytes, 0, size, page * walk.meta.pageSize) !== size)
    throw new DamagedDatabase(`the file ends before page ${page}`);
  return bytes;
}

/** Keys of LMDB's list of free pages are 64-bit numbers in the machine's byte order, all others are bytes. */
function compareKeys(tree: Tree, a: Buffer, b: Buffer): number {
  if (tree.kind !== "free") return Buffer.compare(a, b);
  const number = a.readBigUInt64LE();
  const right = b.readBigUInt64LE();
  return number < right ? -1 : number > right ? 1 : 0;
}

/** A row or a child of a page. */
interface Node {
  readonly start: number;
  readonly key: Buffer;
  readonly flags: number;
  /** Size of a row's value, or the lower half of a child's page number. */
  readonly low: number;
  /** Offset of the bytes after the key. */
  readonly end: number;
}

function readNode(bytes: Buffer, index: number, visit: Visit): Node {
  const start = PAGE_HEADER_BYTES + bytes.readUInt16LE(PAGE_HEADER_BYTES + 2 * index);
  if (start + NODE_HEADER > bytes.length) throw damaged(visit.tree, visit.page, "has a node outside of it");
  const end = start + NODE_HEADER + bytes.readUInt16LE(start + 6);
  if (end > bytes.length) throw damaged(visit.tree, visit.page, "has a key outside of it");
  return {
    start,
    key: bytes.subarray(start + NODE_HEADER, end),
    flags: bytes.readUInt16LE(start + 4),
    low: bytes.readUInt32LE(start),
    end,
  };
}

function checkOrder({ tree, page, low, high }: Visit, keys: readonly Buffer[]): void {
  const first = keys[0];
  const last = keys.at(-1);
  const isInside =
    first === undefined ||
    last === undefined ||
    ((low === undefined || compareKeys(tree, first, low) >= 0) &&
      (high === undefined || compareKeys(tree, last, high) < 0));
  if (!isInside) throw damaged(tree, page, "has keys of another page");
  for (let i = 1; i < keys.length; i++) {
    if (compareKeys(tree, keys[i - 1]!, keys[i]!) >= 0) throw damaged(tree, page, "has keys out of order");
  }
}

/** Checks that nodes fill a page from its end, without gaps. */
function checkFill(bytes: Buffer, nodes: readonly Node[], { tree, page, depth }: Visit): void {
  const upper = PAGE_HEADER_BYTES + bytes.readUInt16LE(22);
  let filled = bytes.length;
  for (const { start, end, flags, low } of nodes) {
    const value = depth > 1 ? 0 : (flags & BIG) === 0 ? low : PAGE_HEADER_BYTES;
    const size = end - start + value;
    filled -= size + (size % 2);
    if (start < upper) throw damaged(tree, page, "has a node in its free space");
  }
  if (filled !== upper) throw damaged(tree, page, "has nodes that overlap");
}

function walkBranch(walk: PageWalk, visit: Visit, nodes: readonly Node[]): void {
  const { tree, page, depth, low, high } = visit;
  if (nodes.length < 2) throw damaged(tree, page, "has too few children");
  tree.totals.branchPages++;
  /** The first child's key is not stored: all keys below the second child's belong to it. */
  const keys = nodes.slice(1).map(({ key }) => Buffer.from(key));
  checkOrder(visit, keys);
  for (const [i, node] of nodes.entries()) {
    if (walk.queue.length >= walk.maxQueued) {
      walk.isPartial = true;
      return;
    }
    const child = node.low + node.flags * 2 ** 32;
    const bounds = { low: i === 0 ? low : keys[i - 1], high: keys[i] ?? high };
    walk.queue.push({ tree, page: child, depth: depth - 1, ...bounds });
  }
}

function bytesOfValue(walk: PageWalk, visit: Visit, { bytes, node }: { bytes: Buffer; node: Node }): Buffer {
  const { tree, page } = visit;
  const inPage = bytes.subarray(
    node.end,
    node.end + ((node.flags & BIG) === 0 ? node.low : PAGE_HEADER_BYTES),
  );
  if ((node.flags & BIG) === 0) {
    if (inPage.length !== node.low) throw damaged(tree, page, "has a value outside of it");
    return inPage;
  }
  if (inPage.length !== PAGE_HEADER_BYTES) throw damaged(tree, page, "has a value outside of it");
  const first = Number(inPage.readBigUInt64LE(0));
  const count = Number(inPage.readBigUInt64LE(16));
  // A value that replaces a longer one of the same transaction keeps its pages.
  const filled = Math.floor((PAGE_HEADER_BYTES - 1 + node.low) / walk.meta.pageSize) + 1;
  if (count < filled) throw damaged(tree, page, "has a value longer than its pages");
  reach(walk, tree, { page: first, count });
  tree.totals.longPages += count;
  const big = readPages(walk, "value", { page: first, count: filled });
  const isOverflow = Number(big.readBigUInt64LE(0)) === first && (big.readUInt16LE(18) & KIND) === OVERFLOW;
  if (!isOverflow || big.readUInt32LE(20) !== count) throw damaged(tree, first, "is not one of a long value");
  return big.subarray(PAGE_HEADER_BYTES, PAGE_HEADER_BYTES + node.low);
}

function addTree(walk: PageWalk, tree: Omit<Tree, "totals">): void {
  const totals = { branchPages: 0, leafPages: 0, longPages: 0, entries: 0 };
  const added = { ...tree, totals };
  walk.trees.push(added);
  const { root: page, depth } = tree.record;
  if (page !== undefined) walk.queue.push({ tree: added, page, depth, low: undefined, high: undefined });
}

/** Adds a table's tree, from its entry in the table of tables. */
function addTableTree(
  walk: PageWalk,
  { tree, page }: Visit,
  { key, value }: { key: Buffer; value: Buffer },
): void {
  const record = value.length === TREE_BYTES ? parseTree(value) : undefined;
  if (record?.flags !== 0) throw damaged(tree, page, "has a table without a root");
  const name = key.subarray(0, key.at(-1) === 0 ? -1 : key.length).toString();
  addTree(walk, { kind: "table", name, seed: checksumSeed(name), record });
}

/**
 * Checks a list of free pages: its length, then page numbers; a run of pages is minus its length and its first page,
 * and 0 is a gap. A page that is both free and in use would be overwritten. Source: the binding's liblmdb midl.c.
 */
function checkFreePages(walk: PageWalk, { tree, page }: Visit, list: Buffer): void {
  const count = list.length < 8 ? -1 : Number(list.readBigInt64LE(0));
  if (count < 0 || 8 * (count + 1) > list.length) throw damaged(tree, page, "has a list without an end");
  for (let i = 1; i <= count; i++) {
    const entry = Number(list.readBigInt64LE(8 * i));
    if (entry > 0) mark(walk, tree, { page: entry, count: 1 });
    if (entry >= 0) continue;
    i++;
    if (i > count) throw damaged(tree, page, "has a run without a beginning");
    mark(walk, tree, { page: Number(list.readBigInt64LE(8 * i)), count: -entry });
  }
}

/** Flags that a row of each kind of tree may have. */
const flagsOf: { readonly [K in Tree["kind"]]: readonly number[] } = {
  free: [0, BIG],
  main: [TABLE],
  table: [0, BIG],
};

function walkLeaf(walk: PageWalk, visit: Visit, { bytes, nodes }: { bytes: Buffer; nodes: Node[] }): void {
  const { tree, page } = visit;
  tree.totals.leafPages++;
  tree.totals.entries += nodes.length;
  checkOrder(
    visit,
    nodes.map(({ key }) => key),
  );
  for (const node of nodes) {
    if (!flagsOf[tree.kind].includes(node.flags)) throw damaged(tree, page, "has a row of an unknown kind");
    const value = bytesOfValue(walk, visit, { bytes, node });
    if (tree.kind === "main") addTableTree(walk, visit, { key: node.key, value });
    else if (tree.kind === "free") checkFreePages(walk, visit, value);
    else if (!isRowIntact(tree.seed, node.key, value)) {
      throw damaged(tree, page, "has a row that is not what was written");
    }
  }
}

/** Compares a completely checked tree with the counts that LMDB relies on. */
function checkTree({ record, totals, name }: Tree): void {
  for (const what of ["branchPages", "leafPages", "longPages", "entries"] as const) {
    if (record[what] !== totals[what]) {
      throw new DamagedDatabase(`${name} has ${totals[what]} ${what} where ${record[what]} belong`);
    }
  }
}

function walkPage(walk: PageWalk, visit: Visit): void {
  const { tree, page, depth } = visit;
  reach(walk, tree, { page, count: 1 });
  const bytes = readPages(walk, "page", { page, count: 1 });
  const kind = bytes.readUInt16LE(18) & KIND;
  const end = bytes.readUInt16LE(20);
  const isPage =
    Number(bytes.readBigUInt64LE(0)) === page &&
    Number(bytes.readBigUInt64LE(8)) <= walk.meta.commit &&
    kind === (depth > 1 ? BRANCH : LEAF);
  if (!isPage || end % 2 !== 0 || PAGE_HEADER_BYTES + end > bytes.length)
    throw damaged(tree, page, "is no page of it");
  const nodes = Array.from({ length: end / 2 }, (_, i) => readNode(bytes, i, visit));
  checkFill(bytes, nodes, visit);
  if (kind === BRANCH) walkBranch(walk, visit, nodes);
  else walkLeaf(walk, visit, { bytes, nodes });
}

/** Number of pages between two pauses: about a millisecond of work. */
const PAGES_PER_STEP = 16;
/** More than a check of upper pages first gets to in its time. */
const MAX_QUEUED = 16_384;

/** The queue's pages: the last one first, or one level after the other, without keeping those that were visited. */
function* visitsOf({ queue }: PageWalk, isDepthFirst: boolean): Generator<Visit> {
  while (queue.length > 0) {
    if (isDepthFirst) yield queue.pop()!;
    else yield* queue.splice(0, PAGES_PER_STEP);
  }
}

/**
 * Checks a state of the file, some pages per step, and yields the progress; throws DamagedDatabase at the first error.
 */
export function* checkPages(
  file: number,
  meta: MetaPage,
  { isDepthFirst, maxQueued = isDepthFirst ? Number.POSITIVE_INFINITY : MAX_QUEUED }: PageCheckOptions,
): Generator<PageCheck, PageCheck> {
  const walk: PageWalk = {
    file,
    meta,
    reached: new Uint8Array((meta.lastPage >> 3) + 1),
    queue: [],
    maxQueued,
    isPartial: false,
    trees: [],
    scratch: { page: Buffer.alloc(0), value: Buffer.alloc(0) },
    pages: 0,
  };
  addTree(walk, { kind: "free", name: "the free pages", seed: 0, record: meta.free });
  addTree(walk, { kind: "main", name: "the tables", seed: 0, record: meta.main });
  let visits = 0;
  for (const visit of visitsOf(walk, isDepthFirst)) {
    walkPage(walk, visit);
    if (++visits % PAGES_PER_STEP === 0) yield { pages: walk.pages, isComplete: false };
  }
  if (walk.isPartial) return { pages: walk.pages, isComplete: false };
  for (const tree of walk.trees) checkTree(tree);
  return { pages: walk.pages, isComplete: true };
}

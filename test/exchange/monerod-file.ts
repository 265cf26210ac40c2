/** Writes files as a monerod leaves them: LMDB 0.9 (mdb.c), with pages of any size and trees as deep as wanted. */

export interface MonerodBlock {
  readonly blob: Uint8Array;
  /** The miner's first; `prunable` undefined where it was pruned. */
  readonly transactions: readonly {
    readonly pruned: Uint8Array;
    readonly prunable: Uint8Array | undefined;
    readonly prunableHash?: Uint8Array;
  }[];
  /** Bytes. */
  readonly weight: number;
}

export interface FileOptions {
  readonly pageSize?: number;
  /** Children of a branch page, and rows of a leaf, at most. */
  readonly width?: number;
  readonly pruningSeed?: number;
  readonly version?: number;
}

type Row = readonly [key: Uint8Array, value: Uint8Array, flags?: number];

interface Tree {
  readonly depth: number;
  readonly entries: number;
  readonly root: number;
}

function numberKey(value: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeBigUInt64LE(BigInt(value));
  return key;
}

function record({ depth, entries, root }: Tree): Buffer {
  const bytes = Buffer.alloc(48);
  bytes.writeUInt16LE(depth, 6);
  bytes.writeBigUInt64LE(BigInt(entries), 32);
  bytes.writeBigUInt64LE(entries === 0 ? 2n ** 64n - 1n : BigInt(root), 40);
  return bytes;
}

function slices<T>(values: readonly T[], width: number): T[][] {
  return Array.from({ length: Math.ceil(values.length / width) }, (_, i) =>
    values.slice(i * width, (i + 1) * width),
  );
}

class Pages {
  readonly #size: number;
  readonly #width: number;
  readonly #pages: Buffer[] = [];

  constructor(size: number, width: number) {
    this.#size = size;
    this.#width = width;
    this.#pages.push(Buffer.alloc(size), Buffer.alloc(size));
  }

  #page(flags: number, pages = 1): { number: number; bytes: Buffer } {
    const bytes = Buffer.alloc(this.#size * pages);
    const number = this.#pages.length;
    bytes.writeBigUInt64LE(BigInt(number), 0);
    bytes.writeUInt16LE(flags, 10);
    for (let i = 0; i < pages; i++) this.#pages.push(bytes.subarray(i * this.#size, (i + 1) * this.#size));
    return { number, bytes };
  }

  /** Nodes fill a page from its end. */
  #nodes(flags: number, nodes: readonly { key: Uint8Array; low: number; flags: number; data: Uint8Array }[]) {
    const { number, bytes } = this.#page(flags);
    let upper = this.#size;
    for (const [i, { key, low, flags: own, data }] of nodes.entries()) {
      const size = 8 + key.length + data.length;
      upper -= size + (size % 2);
      if (upper < 16 + 2 * nodes.length) throw new Error("the page is too small for its nodes");
      bytes.writeUInt16LE(upper, 16 + 2 * i);
      bytes.writeUInt32LE(low, upper);
      bytes.writeUInt16LE(own, upper + 4);
      bytes.writeUInt16LE(key.length, upper + 6);
      bytes.set(key, upper + 8);
      bytes.set(data, upper + 8 + key.length);
    }
    bytes.writeUInt16LE(16 + 2 * nodes.length, 12);
    bytes.writeUInt16LE(upper, 14);
    return number;
  }

  #long(value: Uint8Array): Buffer {
    const count = Math.floor((15 + value.length) / this.#size) + 1;
    const { number, bytes } = this.#page(4, count);
    bytes.writeUInt32LE(count, 12);
    bytes.set(value, 16);
    return numberKey(number);
  }

  #above(leaves: { key: Uint8Array; page: number }[], entries: number): Tree {
    let level = leaves;
    let depth = 1;
    for (; level.length > 1; depth++) {
      level = slices(level, Math.max(2, this.#width)).map((children) => {
        const nodes = children.map(({ key, page }, i) => ({
          key: i === 0 ? new Uint8Array(0) : key,
          low: page,
          flags: 0,
          data: new Uint8Array(0),
        }));
        return { key: children[0]!.key, page: this.#nodes(1, nodes) };
      });
    }
    return { depth: entries === 0 ? 0 : depth, entries, root: level[0]?.page ?? 0 };
  }

  tree(rows: readonly Row[]): Tree {
    const leaves = slices(rows, this.#width).map((part) => {
      const nodes = part.map(([key, value, flags = 0]) => {
        const isLong = value.length > this.#size / 16;
        const data = isLong ? this.#long(value) : value;
        return { key, low: value.length, flags: isLong ? 1 : flags, data };
      });
      return { key: part[0]![0], page: this.#nodes(2, nodes) };
    });
    return this.#above(leaves, rows.length);
  }

  /** Rows of one length, without nodes. */
  fixed(rows: readonly Uint8Array[]): Tree {
    const leaves = slices(rows, this.#width).map((part) => {
      const { number, bytes } = this.#page(0x22);
      bytes.writeUInt16LE(part[0]!.length, 8);
      bytes.writeUInt16LE(16 + 2 * part.length, 12);
      for (const [i, row] of part.entries()) bytes.set(row, 16 + i * row.length);
      return { key: part[0]!, page: number };
    });
    return this.#above(leaves, rows.length);
  }

  file(main: Tree): Buffer {
    for (const [i, bytes] of this.#pages.slice(0, 2).entries()) {
      bytes.writeBigUInt64LE(BigInt(i), 0);
      bytes.writeUInt16LE(8, 10);
      bytes.writeUInt32LE(0xbeefc0de, 16);
      bytes.writeUInt32LE(1, 20);
      bytes.set(record({ depth: 0, entries: 0, root: 0 }), 40);
      bytes.writeUInt32LE(this.#size, 40);
      bytes.set(record(main), 88);
      bytes.writeBigUInt64LE(BigInt(this.#pages.length - 1), 136);
      bytes.writeBigUInt64LE(BigInt(i), 144);
    }
    return Buffer.concat(this.#pages);
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function infoRow({ weight }: MonerodBlock, height: number): Buffer {
  const row = Buffer.alloc(96);
  row.writeBigUInt64LE(BigInt(height), 0);
  row.writeBigUInt64LE(BigInt(weight), 24);
  return row;
}

/** The bytes of a `data.mdb` with these blocks, from the first of the chain on. */
export function monerodFile(blocks: readonly MonerodBlock[], options: FileOptions = {}): Buffer {
  const { pageSize = 4096, width = 8, pruningSeed = 0, version = 5 } = options;
  const pages = new Pages(pageSize, width);
  const transactions = blocks.flatMap((block) => block.transactions);
  const rowsOf = (pick: (tx: (typeof transactions)[number]) => Uint8Array | undefined): Row[] =>
    transactions.flatMap((tx, id) => {
      const value = pick(tx);
      return value === undefined ? [] : [[numberKey(id), value] as const];
    });
  const trees: { readonly [name: string]: Tree } = {
    block_info: pages.tree([[numberKey(0), record(pages.fixed(blocks.map(infoRow))), 6]]),
    blocks: pages.tree(blocks.map(({ blob }, height) => [numberKey(height), blob])),
    properties: pages.tree([
      ...(pruningSeed === 0 ? [] : [[Buffer.from("pruning_seed\0"), uint32(pruningSeed)] as const]),
      [Buffer.from("version\0"), uint32(version)],
    ]),
    txs_prunable: pages.tree(rowsOf(({ prunable }) => prunable)),
    txs_prunable_hash: pages.tree(rowsOf(({ prunableHash }) => prunableHash)),
    txs_pruned: pages.tree(rowsOf(({ pruned }) => pruned)),
  };
  const named = Object.entries(trees).sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return pages.file(pages.tree(named.map(([name, tree]) => [Buffer.from(name), record(tree), 2])));
}

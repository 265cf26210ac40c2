import { applyBlock, type NewBlock } from "./block-changes.ts";
import { type Environment, openEnvironment, type TableHandle, type Tables } from "./environment.ts";
import { openStore } from "./open-store.ts";

/** The rows of a chain whose keys are in no order of the blocks; each list ascends by its keys, of 32 bytes. */
export interface SortedRows {
  /** Height of each block, by its hash. */
  readonly heights: Iterable<readonly [Uint8Array, number]>;
  /** Number of each transaction in chain order, by its hash. */
  readonly transactionIds: Iterable<readonly [Uint8Array, number]>;
  readonly keyImages: Iterable<Uint8Array>;
}

export interface BulkLoadOptions {
  /** The database file to create. */
  readonly path: string;
  /** Name of the network the file belongs to. */
  readonly network: string;
  /** The blocks from genesis on. */
  readonly blocks: Iterable<NewBlock>;
  /** What `blocks` has, sorted. */
  readonly sorted: SortedRows;
  /** Called after each transaction with what has been written: blocks, then sorted rows. */
  readonly onProgress?: (progress: { readonly blocks: number; readonly sortedRows: number }) => void;
}

/** Blocks, and sorted rows, of one write transaction. */
const BLOCKS_PER_WRITE = 1000;
const ROWS_PER_WRITE = 200_000;
/** Tables whose rows are written in order here, but not where blocks are added. */
const ascending = ["heights", "transactionIds", "keyImages", "outputCounts", "longTermWeights"] as const;

/** A table whose few rows change with every block: they are written at the end. */
function heldTable<K extends number | bigint, V>() {
  const rows = new Map<K, V>();
  const handle: Pick<TableHandle<K, V>, "get" | "put"> = {
    get: (key) => rows.get(key),
    put: (key, value) => void rows.set(key, value),
  };
  return {
    handle: handle as TableHandle<K, V>,
    writeTo(table: TableHandle<K, V>) {
      for (const [key, value] of [...rows].sort(([a], [b]) => (a < b ? -1 : 1))) table.put(key, value);
    },
  };
}

/** A table whose rows come sorted, from elsewhere. */
const unwritten = { put() {} } as unknown as TableHandle<never, never>;

/** Takes items one by one, so that none is held until the next is made; `size` of them in one transaction. */
function writeInPortions<T>(
  { root }: Environment,
  { items, size }: { readonly items: Iterable<T>; readonly size: number },
  { put, onWritten }: { readonly put: (item: T) => void; readonly onWritten: (count: number) => void },
): void {
  const source = items[Symbol.iterator]();
  let isOver = false;
  while (!isOver) {
    let count = 0;
    root.transactionSync(() => {
      while (count < size) {
        const next = source.next();
        isOver = next.done === true;
        if (isOver) return;
        put(next.value);
        count++;
      }
    });
    onWritten(count);
  }
}

type Written = { blocks: number; sortedRows: number };

function writeBlocks(environment: Environment, options: BulkLoadOptions, progress: Written): void {
  const { root, tables } = environment;
  const counts = heldTable<bigint, number>();
  const weights = heldTable<number, readonly number[]>();
  const ordered: Tables = {
    ...tables,
    heights: unwritten,
    transactionIds: unwritten,
    keyImages: unwritten,
    outputCounts: counts.handle,
    longTermWeights: weights.handle,
  };
  const portions = { items: options.blocks, size: BLOCKS_PER_WRITE };
  writeInPortions(environment, portions, {
    put: (block) => applyBlock(ordered, block),
    onWritten(count) {
      progress.blocks += count;
      options.onProgress?.(progress);
    },
  });
  root.transactionSync(() => {
    counts.writeTo(tables.outputCounts);
    weights.writeTo(tables.longTermWeights);
  });
}

function writeSorted(environment: Environment, options: BulkLoadOptions, progress: Written): void {
  const { tables } = environment;
  const { heights, transactionIds, keyImages } = options.sorted;
  const write = <T>(items: Iterable<T>, put: (row: T) => void) => {
    const onWritten = (count: number) => {
      progress.sortedRows += count;
      options.onProgress?.(progress);
    };
    writeInPortions(environment, { items, size: ROWS_PER_WRITE }, { put, onWritten });
  };
  write(heights, ([hash, height]) => tables.heights.put(hash, height));
  write(transactionIds, ([hash, id]) => tables.transactionIds.put(hash, id));
  write(keyImages, (image) => tables.keyImages.put(image, true));
}

/**
 * Writes a new database in the order of its keys, each row behind the last of its table: many times as fast as block by
 * block, whose ids and key images belong to random pages. The file is whole once this resolves; one that was left by a
 * failed or killed run is to be deleted. Throws DamagedDatabase for sorted rows that do not ascend.
 */
export async function bulkLoad(options: BulkLoadOptions): Promise<void> {
  const { path, network } = options;
  const empty = await openStore({ path, network });
  const isNew = empty.read.height() === 0;
  await empty.close();
  if (!isNew) throw new RangeError("only a new database is loaded in bulk");
  const environment = openEnvironment(path, { ascending });
  try {
    const progress: Written = { blocks: 0, sortedRows: 0 };
    writeBlocks(environment, options, progress);
    writeSorted(environment, options, progress);
  } finally {
    await environment.root.close();
  }
  // Opening flushes the file and marks its state as whole.
  await (await openStore({ path, network })).close();
}

import { TimeSlice } from "@anulo/limits";
import { type BlockPackage, MAX_CHUNK_BYTES, type NetworkName } from "@anulo/protocol";
import {
  BadSource,
  type ChainReader,
  openRawFile,
  openStore,
  type RawFile,
  type StoreOptions,
} from "@anulo/storage";

export interface ExportOptions extends Pick<StoreOptions, "onMigration"> {
  readonly network: NetworkName;
  /** The database file, which no other process may have open. */
  readonly databasePath: string;
  /** The `blockchain.raw` to write; an existing one is continued. */
  readonly to: string;
  /** Heights of the first and the last block; by default all. */
  readonly first?: number | undefined;
  readonly last?: number | undefined;
  /** Aborts the export: what was written remains, and the next export continues there. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: { readonly height: number; readonly done: number }) => void) | undefined;
}

export interface ExportResult {
  /** Height after the last block of the file. */
  readonly end: number;
  /** Height of the first block that is too long for the original's importer, where there is one. */
  readonly tooLong: number | undefined;
  /** False if the signal aborted it. */
  readonly isComplete: boolean;
}

/**
 * Writes our chain as `blockchain.raw`, the format of monero-blockchain-import. Rejects with BadSource for a file of
 * another chain and where our database was pruned, with DatabaseInUse, WrongDatabase, DamagedDatabase.
 */
export async function exportChain(options: ExportOptions): Promise<ExportResult> {
  const { databasePath: path, network, onMigration } = options;
  const store = await openStore({ path, network, onMigration });
  try {
    return await writeAll(store.read, options);
  } finally {
    await store.close();
  }
}

async function writeAll(read: ChainReader, options: ExportOptions): Promise<ExportResult> {
  const { to, first = 0, signal, onProgress } = options;
  if (read.pruningSeed() !== 0) {
    throw new BadSource(options.databasePath, "it was pruned: only a whole chain can be exported");
  }
  const last = Math.min(options.last ?? Number.POSITIVE_INFINITY, read.height() - 1);
  const slice = new TimeSlice();
  const file = await begin(
    openRawFile({ path: to, first, blockAt: (height) => read.blockBlob(height) }),
    slice,
  );
  let tooLong: number | undefined;
  try {
    const from = file.next;
    while (file.next <= last && signal?.aborted !== true) {
      const height = file.next;
      const size = file.append(packageOf(read, height, options.databasePath));
      if (size > MAX_CHUNK_BYTES) tooLong ??= height;
      onProgress?.({ height: file.next, done: (file.next - from) / (last + 1 - from) });
      if (slice.isOver) await slice.yield();
    }
  } finally {
    file.finish();
    file.close();
  }
  return { end: file.next, tooLong, isComplete: file.next > last };
}

async function begin(steps: Generator<void, RawFile>, slice: TimeSlice): Promise<RawFile> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    if (slice.isOver) await slice.yield();
  }
}

/** The file entry of a block on our chain; throws BadSource where one of its transactions was pruned. */
function packageOf(read: ChainReader, height: number, path: string): BlockPackage {
  const { firstTransactionId, transactionCount, weight, cumulativeDifficulty, alreadyGenerated } =
    read.blockInfo(height)!;
  const transactions = Array.from({ length: transactionCount - 1 }, (_, i) => {
    const id = firstTransactionId + 1 + i;
    const prunable = read.prunablePart(id);
    if (prunable !== undefined) return Buffer.concat([read.prunedTransaction(id)!, prunable]);
    throw new BadSource(path, `block ${height} was pruned: only a whole chain can be exported`);
  });
  const totals = { weight, cumulativeDifficulty, generated: alreadyGenerated };
  return { blob: read.blockBlob(height)!, transactions, ...totals };
}

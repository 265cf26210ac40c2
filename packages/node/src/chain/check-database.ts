import { runSliced } from "@anulo/limits";
import {
  type Block,
  blockId,
  equalBytes,
  prunedTransactionWeight,
  readBlock,
  readTransaction,
  transactionHash,
  transactionWeight,
} from "@anulo/protocol";
import {
  type ChainCheck,
  type FactReader,
  type NewTransaction,
  openStore,
  type StoredParts,
  type StoreOptions,
} from "@anulo/storage";
import { newPrunedTransaction, newTransaction } from "./stored-transaction.ts";

interface ReadParts {
  readonly transaction: NewTransaction;
  /** Bytes. */
  readonly weight: number;
}

function readParts({ pruned, prunable, prunableHash }: StoredParts): ReadParts {
  if (prunable === undefined) {
    const tx = readTransaction(pruned, { pruned: true });
    const hash = transactionHash(tx, prunableHash);
    return { transaction: newPrunedTransaction(tx, hash, prunableHash), weight: prunedTransactionWeight(tx) };
  }
  const blob = Buffer.concat([pruned, prunable]);
  const tx = readTransaction(blob);
  return {
    transaction: newTransaction(tx, transactionHash(tx)),
    weight: transactionWeight(tx, blob.length),
  };
}

function checkList(
  { minerTransaction, transactionHashes }: Block,
  transactions: readonly NewTransaction[],
): void {
  const hashes = [transactionHash(minerTransaction), ...transactionHashes];
  if (hashes.length !== transactions.length) throw new Error("it has other transactions than stored with it");
  const wrong = hashes.findIndex((hash, i) => !equalBytes(hash, transactions[i]!.hash));
  if (wrong !== -1) throw new Error(`its transaction ${wrong} is not the one stored with it`);
}

/** Reads stored bytes for a check of the database. */
const storedFacts: FactReader = {
  block(blob, stored) {
    const block = readBlock(blob);
    const parts = stored.map(readParts);
    const transactions = parts.map(({ transaction }) => transaction);
    checkList(block, transactions);
    const { previousId, timestamp, majorVersion, minorVersion } = block.header;
    return {
      hash: blockId(block),
      previousId,
      timestamp,
      hardForkVersion: majorVersion,
      minorVersion,
      weight: parts.reduce((sum, { weight }) => sum + weight, 0),
      transactions,
    };
  },
  blockId: (blob) => blockId(readBlock(blob)),
  transactionId: (blob) => transactionHash(readTransaction(blob)),
};

export interface CheckOptions extends Pick<StoreOptions, "onMigration"> {
  /** The database file. */
  readonly path: string;
  /** Name of the network it belongs to. */
  readonly network: string;
  /** Receives the progress from time to time. */
  readonly onProgress?: (progress: { readonly blocks: number; readonly of: number }) => void;
}

const PROGRESS_MS = 1000;

/**
 * Checks a database that no process has open: the structure of the file, the checksum of every row, and all tables
 * against the bytes of the blocks. Rejects with DamagedDatabase, WrongDatabase or DatabaseInUse.
 */
export async function checkDatabase(options: CheckOptions): Promise<ChainCheck> {
  const { path, network, onMigration, onProgress = () => {} } = options;
  const store = await openStore({ path, network, checkAll: true, onMigration });
  try {
    const of = store.read.height();
    return await runSliced(reporting(store.check(storedFacts), (blocks) => onProgress({ blocks, of })));
  } finally {
    await store.close();
  }
}

/** Runs a generator that yields its progress, which is reported from time to time. */
function* reporting<T>(walk: Generator<number, T>, report: (blocks: number) => void): Generator<void, T> {
  let reportedAt = performance.now();
  for (let step = walk.next(); ; step = walk.next()) {
    if (step.done === true) return step.value;
    if (performance.now() - reportedAt >= PROGRESS_MS) {
      report(step.value);
      reportedAt = performance.now();
    }
    yield;
  }
}

import { isPruningSeed, readBlock } from "@anulo/protocol";
import {
  BadSource,
  type ChainSource,
  inSource,
  type SourceBlock,
  type SourceStart,
  type SourceTransaction,
} from "./chain-source.ts";
import { type LmdbFile, type LmdbTable, openLmdbFile } from "./lmdb-file.ts";

/**
 * The chain in the database of a `monerod`. Its transactions are numbered in chain order from 0, the miner transaction
 * before the others of a block, so the number of earlier transactions determines those of a block. Source: db_lmdb.cpp
 * (schema, `VERSION`, `add_transaction_data`, `mdb_block_info`), blockchain_db.cpp `add_block`.
 */
const VERSION = 5;
/** Maximum bytes of a block without its transactions, or of a transaction: far above what the network accepts. */
const MAX_ROW_BYTES = 16 * 1024 * 1024;
/** Maximum bytes of a block with all of its transactions. */
const MAX_BLOCK_BYTES = 64 * 1024 * 1024;
/** Offset of a block's weight in its row of `block_info`, and the length of such a row. */
const WEIGHT_AT = 24;
const INFO_BYTES = 96;

function readUint32(file: LmdbFile, name: string): number | undefined {
  const value = file.property("properties", name);
  if (value !== undefined && value.length !== 4)
    throw new BadSource(file.path, `its ${name} has ${value.length} bytes`);
  return value?.readUInt32LE();
}

function checkVersion(file: LmdbFile): void {
  const version = readUint32(file, "version");
  if (version === VERSION) return;
  const remedy =
    (version ?? 0) < VERSION
      ? "start today's monerod on it once, which converts it"
      : "it is newer than this program";
  throw new BadSource(
    file.path,
    `its schema has version ${version ?? 0}, this program reads ${VERSION}: ${remedy}`,
  );
}

/** Opens the `data.mdb` of a monerod that is not running. Throws BadSource, and errors of the system. */
export function openMonerodSource(path: string): ChainSource {
  const file = openLmdbFile(path);
  try {
    checkVersion(file);
    return createMonerodSource(file);
  } catch (error) {
    file.close();
    throw error;
  }
}

function createMonerodSource(file: LmdbFile): ChainSource {
  const blocks = file.table("blocks");
  const prunedParts = file.table("txs_pruned");
  const prunableParts = file.table("txs_prunable");
  const prunableHashes = file.table("txs_prunable_hash");
  const pruningSeed = readUint32(file, "pruning_seed") ?? 0;
  if (!isPruningSeed(pruningSeed)) throw new BadSource(file.path, `${pruningSeed} is no pruning seed`);
  let infos: LmdbTable | undefined;
  const must = <T>(value: T | undefined, height: number, what: string): T => {
    if (value !== undefined) return value;
    file.checkUnchanged();
    throw new BadSource(file.path, `block ${height}: ${what} is missing`);
  };
  /** Weights are read only from a pruned source: the blocks of others are whole, so that their weights are computed. */
  const weightOf = (height: number): number | undefined => {
    if (pruningSeed === 0) return undefined;
    infos ??= file.table("block_info").duplicates(0);
    const row = must(infos.get(height, INFO_BYTES), height, "its row of block_info");
    if (row.length === INFO_BYTES) return Number(row.readBigUInt64LE(WEIGHT_AT));
    throw new BadSource(file.path, `block ${height}: its row of block_info has ${row.length} bytes`);
  };
  const transactionOf = (height: number, id: number): SourceTransaction => {
    const pruned = must(prunedParts.get(id, MAX_ROW_BYTES), height, `transaction ${id}`);
    const prunable = prunableParts.get(id, MAX_ROW_BYTES);
    if (prunable !== undefined) return { blob: Buffer.concat([pruned, prunable]) };
    const hash = must(prunableHashes.get(id, 32), height, `the second part of transaction ${id}`);
    if (hash.length === 32) return { pruned: Buffer.from(pruned), prunableHash: Buffer.from(hash) };
    const what = `the hash of the second part of transaction ${id} has ${hash.length} bytes`;
    throw new BadSource(file.path, `block ${height}: ${what}`);
  };
  return {
    first: 0,
    pruningSeed,
    *blocks({
      height: start,
      transactionsBefore,
      withTransactions = true,
    }: SourceStart): Generator<SourceBlock, void> {
      let id = transactionsBefore;
      for (let height = start; height < blocks.count; height++) {
        const blob = Buffer.from(must(blocks.get(height, MAX_ROW_BYTES), height, "it"));
        const place = `block ${height}`;
        const transactions: SourceTransaction[] = [];
        if (withTransactions) {
          const end = id + 1 + inSource(file.path, place, () => readBlock(blob)).transactionHashes.length;
          let bytes = 0;
          for (id++; id < end; id++) {
            const transaction = transactionOf(height, id);
            bytes += ("blob" in transaction ? transaction.blob : transaction.pruned).length;
            if (bytes > MAX_BLOCK_BYTES)
              throw new BadSource(file.path, `block ${height}: more than ${MAX_BLOCK_BYTES} bytes`);
            transactions.push(transaction);
          }
        }
        yield {
          height,
          blob,
          transactions,
          weight: weightOf(height),
          done: (height + 1) / blocks.count,
          place: `row ${height} of blocks`,
        };
      }
    },
    close: () => file.close(),
  };
}

import type { NewTransaction } from "./block-changes.ts";
import { DamagedDatabase } from "./damage.ts";
import type { Tables } from "./environment.ts";
import { isPrunedCorrectly } from "./prune.ts";
import { type ChainReader, createReader } from "./reader.ts";
import { type BlockInfo, WEIGHTS_PER_ROW } from "./tables.ts";

/** The facts in the bytes of a stored block and its transactions, read without any table. */
export interface BlockFacts
  extends Pick<BlockInfo, "hash" | "timestamp" | "hardForkVersion" | "minorVersion" | "weight"> {
  /** 32 bytes. */
  readonly previousId: Uint8Array;
  /** The miner transaction first; each with the hash of its own bytes. */
  readonly transactions: readonly NewTransaction[];
}

/** A stored transaction's bytes. */
export interface StoredParts {
  readonly pruned: Uint8Array;
  /** Undefined where it was pruned. */
  readonly prunable: Uint8Array | undefined;
  /** 32 bytes. */
  readonly prunableHash: Uint8Array;
}

/**
 * Reads the facts from bytes, because this package does not know the formats; throws any error for bytes that it cannot
 * read.
 */
export interface FactReader {
  block(blob: Uint8Array, transactions: readonly StoredParts[]): BlockFacts;
  /** Id (32 bytes) of a block that is stored beside the chain. */
  blockId(blob: Uint8Array): Uint8Array;
  /** Id (32 bytes) of a transaction of the pool. */
  transactionId(blob: Uint8Array): Uint8Array;
}

/** Numbers of what was checked and found correct. */
export interface ChainCheck {
  readonly blocks: number;
  readonly transactions: number;
  readonly outputs: number;
  readonly keyImages: number;
}

/** What was counted from the start of the chain so far. */
interface Totals {
  blocks: number;
  transactions: number;
  outputs: number;
  keyImages: number;
  readonly byAmount: Map<bigint, number>;
  below: BlockInfo | undefined;
}

interface CheckState {
  readonly tables: Tables;
  readonly read: ChainReader;
  readonly facts: FactReader;
  readonly totals: Totals;
}

function must(isRight: boolean, what: string): asserts isRight {
  if (!isRight) throw new DamagedDatabase(what);
}

function isSame(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && Buffer.compare(a, b) === 0;
}

/** Bytes that the reader cannot read are damage too. */
function factsOf(
  facts: FactReader,
  height: number,
  parts: { blob: Uint8Array; stored: StoredParts[] },
): BlockFacts {
  try {
    return facts.block(parts.blob, parts.stored);
  } catch (error) {
    throw new DamagedDatabase(`block ${height}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function partsOf({ tables }: CheckState, { firstTransactionId, transactionCount }: BlockInfo): StoredParts[] {
  return Array.from({ length: transactionCount }, (_, i) => {
    const id = firstTransactionId + i;
    const pruned = tables.prunedTransactions.get(id);
    const info = tables.transactionInfo.get(id);
    must(pruned !== undefined && info !== undefined, `transaction ${id} is missing`);
    return { pruned, prunable: tables.prunableParts.get(id), prunableHash: info.prunableHash };
  });
}

function checkBlockRow({ tables, read, totals }: CheckState, info: BlockInfo, facts: BlockFacts): void {
  const { below, blocks: height } = totals;
  const at = `block ${height}`;
  must(isSame(info.hash, facts.hash), `${at} has another hash than its bytes`);
  must(tables.heights.get(info.hash) === height, `${at} is not found by its hash`);
  must(below === undefined || isSame(below.hash, facts.previousId), `${at} does not follow the one below`);
  for (const name of ["timestamp", "hardForkVersion", "minorVersion", "weight"] as const) {
    must(info[name] === facts[name], `${at} has another ${name} than its bytes`);
  }
  must(info.firstTransactionId === totals.transactions, `${at} has the wrong transactions`);
  must(info.transactionCount === facts.transactions.length, `${at} has the wrong number of transactions`);
  const isAscending =
    below === undefined ||
    (info.cumulativeDifficulty > below.cumulativeDifficulty &&
      info.alreadyGenerated >= below.alreadyGenerated);
  must(isAscending, `${at} has totals below those of the one below`);
  const [weight] = read.blockInfoColumn("longTermWeight", height, height + 1);
  must(weight === info.longTermWeight, `${at} has two long-term weights`);
}

function checkTransaction(walk: CheckState, transaction: NewTransaction): void {
  const { tables, totals } = walk;
  const id = totals.transactions;
  const info = tables.transactionInfo.get(id);
  const at = `transaction ${id}`;
  must(isSame(info?.hash, transaction.hash), `${at} has another hash than its bytes`);
  must(tables.transactionIds.get(transaction.hash) === id, `${at} is not found by its hash`);
  must(info?.height === totals.blocks, `${at} is not in the block it names`);
  must(info.unlockTime === transaction.unlockTime, `${at} has another unlock time than its bytes`);
  must(isSame(info.prunableHash, transaction.prunableHash), `${at} has another prunable part than it names`);
  checkOutputs(walk, transaction);
  for (const image of transaction.keyImages) {
    must(tables.keyImages.has(image), `${at} spends a key image that is not marked as spent`);
  }
  totals.transactions++;
  totals.keyImages += transaction.keyImages.length;
}

function checkOutputs({ tables, read, totals }: CheckState, { outputs, unlockTime }: NewTransaction): void {
  const id = totals.transactions;
  const indices = tables.outputIndices.get(id);
  must(indices?.length === outputs.length, `transaction ${id} has the wrong number of output indices`);
  for (const [i, { amount, key, commitment }] of outputs.entries()) {
    const index = totals.byAmount.get(amount) ?? 0;
    totals.byAmount.set(amount, index + 1);
    const row = read.output(amount, index);
    const isRight =
      indices[i] === index &&
      row !== undefined &&
      isSame(row.key, key) &&
      isSame(row.commitment, commitment) &&
      row.transactionId === id &&
      row.indexInTransaction === i &&
      row.height === totals.blocks &&
      row.unlockTime === unlockTime;
    must(isRight, `output ${i} of transaction ${id} is not the one in the index`);
  }
  totals.outputs += outputs.length;
}

function checkBlock(walk: CheckState): void {
  const { tables, read, totals } = walk;
  const height = totals.blocks;
  const info = tables.blockInfo.get(height);
  const blob = tables.blocks.get(height);
  must(info !== undefined && blob !== undefined, `block ${height} is missing`);
  const facts = factsOf(walk.facts, height, { blob, stored: partsOf(walk, info) });
  checkBlockRow(walk, info, facts);
  for (const transaction of facts.transactions) checkTransaction(walk, transaction);
  const rctOutputs = totals.byAmount.get(0n) ?? 0;
  must(info.cumulativeRctOutputs === rctOutputs, `block ${height} counts other RingCT outputs`);
  must(isPrunedCorrectly(read, height), `block ${height} is not pruned as the database says`);
  totals.below = info;
  totals.blocks++;
}

/** Checks that no table has a row that no block accounts for. */
function checkCounts({ tables, read, totals }: CheckState): void {
  const { blocks, transactions, outputs, keyImages, byAmount } = totals;
  const expected = {
    blocks,
    blockInfo: blocks,
    heights: blocks,
    longTermWeights: Math.ceil(blocks / WEIGHTS_PER_ROW),
    transactionIds: transactions,
    transactionInfo: transactions,
    prunedTransactions: transactions,
    outputIndices: transactions,
    ringCtOutputs: byAmount.get(0n) ?? 0,
    outputs: outputs - (byAmount.get(0n) ?? 0),
    outputCounts: byAmount.size,
    keyImages,
  };
  for (const [name, count] of Object.entries(expected)) {
    const rows = tables[name as keyof typeof expected].count();
    must(rows === count, `${name} has ${rows} rows where ${count} belong`);
  }
  const weights = [...read.blockInfoColumn("longTermWeight", 0, Number.MAX_SAFE_INTEGER)];
  must(weights.length === blocks, `there are ${weights.length} long-term weights of ${blocks} blocks`);
  for (const [amount, count] of byAmount) {
    must(tables.outputCounts.get(amount) === count, `the outputs of amount ${amount} are counted wrong`);
  }
}

/** Rows are read back by their own keys: a key that sorts wrongly would hide its row. */
function checkAlternativeBlocks({ read, facts }: CheckState): void {
  for (const { hash, blob } of read.alternativeBlocks()) {
    must(isSame(facts.blockId(blob), hash), "an alternative block has another hash than its bytes");
    must(read.alternativeBlock(hash) !== undefined, "an alternative block is not found by its hash");
  }
  for (const { hash, blob } of read.poolTransactions()) {
    must(isSame(facts.transactionId(blob), hash), "a waiting transaction has another hash than its bytes");
  }
}

/**
 * Reads the whole chain and compares every table with the bytes of the blocks. Yields the number of blocks done after
 * each, and returns the totals. Throws DamagedDatabase. There must be no writes meanwhile.
 */
export function* checkChain(tables: Tables, facts: FactReader): Generator<number, ChainCheck> {
  const totals: Totals = {
    blocks: 0,
    transactions: 0,
    outputs: 0,
    keyImages: 0,
    byAmount: new Map(),
    below: undefined,
  };
  const walk: CheckState = { tables, read: createReader(tables), facts, totals };
  const height = walk.read.height();
  while (totals.blocks < height) {
    checkBlock(walk);
    yield totals.blocks;
  }
  checkCounts(walk);
  checkAlternativeBlocks(walk);
  const { blocks, transactions, outputs, keyImages } = totals;
  return { blocks, transactions, outputs, keyImages };
}

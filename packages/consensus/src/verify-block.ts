import {
  type Block,
  blockHashingBlob,
  blockId,
  blockReward,
  equalBytes,
  toHex,
  transactionWeight,
} from "@anulo/protocol";
import { type Checkpoint, checkCheckpoint, requireWrittenDifficulty } from "./checkpoints.ts";
import { difficultyOfNextBlock } from "./difficulty.ts";
import { generatedAfter } from "./emission.ts";
import { checkForkVersion } from "./header.ts";
import { checkClaim, checkMinerTransaction } from "./miner-transaction.ts";
import type { Obligation, PowHashObligation } from "./obligations.ts";
import { feeOf } from "./pool-admission.ts";
import { proofOfWork } from "./proof-of-work.ts";
import { checkTimestamp } from "./timestamps.ts";
import { type ChainContext, keyInputs, type TransactionCandidate } from "./transaction/candidate.ts";
import { type VerifiedTransaction, verifyTransaction } from "./verify-transaction.ts";
import { RuleViolation } from "./violations.ts";
import { longTermWeight, penaltyMedian } from "./weights.ts";

/** A block with its transactions, in the block's order; undefined for unknown ones. */
export interface BlockCandidate {
  block: Block;
  transactions: readonly (TransactionCandidate | undefined)[];
}

/** The obligations of a block that follows the rules, and what it adds to the chain. */
export interface VerifiedBlock {
  /** Everything left to `discharge`: proof of work first, then each transaction's. */
  obligations: Obligation[];
  /** The same by transaction, for callers that have verified some before. */
  transactions: VerifiedTransaction[];
  height: number;
  difficulty: bigint;
  cumulativeDifficulty: bigint;
  /** Bytes. */
  weight: number;
  /** Bytes. */
  longTermWeight: number;
  /** Atomic units. */
  fees: bigint;
  /** New coins (atomic units), without fees. */
  reward: bigint;
  /** Coins generated up to and including this block (atomic units, at most 2^64 - 1). */
  alreadyGenerated: bigint;
}

/** The facts of a block that follow from its header and the chain alone. */
export interface VerifiedHeader {
  /** The block's proof of work, to be discharged before anything else of a stranger's block is read. */
  obligations: PowHashObligation[];
  difficulty: bigint;
  checkpoint: Checkpoint | undefined;
  /**
   * Whether the block is known to belong to the chain: then neither its proof of work nor its transactions' inputs are
   * checked.
   */
  isKnown: boolean;
}

/**
 * Judges the cheapest part of the next block of a chain: its header, and the difficulty it has to meet; `id` (32 bytes)
 * if the caller has computed it. Throws `RuleViolation`. Source: blockchain.cpp `handle_block_to_main_chain`, which
 * checks the proof of work here.
 */
export function verifyHeader(block: Block, context: ChainContext, id?: Uint8Array): VerifiedHeader {
  const { chain } = context;
  checkHeader(block, context);
  const checkpoint = checkCheckpoint(block, chain.height, chain.checkpoints);
  const difficulty = difficultyOfNextBlock(chain);
  if (isKnownBlock(block, chain, id)) return { obligations: [], difficulty, checkpoint, isKnown: true };
  const { majorVersion } = block.header;
  const work = { blob: blockHashingBlob(block), height: chain.height, majorVersion, difficulty };
  return { obligations: proofOfWork(work, chain), difficulty, checkpoint, isKnown: false };
}

/** Whether the block's id is the known one for its height; throws `RuleViolation` if another one is known. */
function isKnownBlock(
  block: Block,
  { height, knownBlockId }: ChainContext["chain"],
  precomputedId?: Uint8Array,
): boolean {
  const expectedId = knownBlockId?.(height);
  if (expectedId === undefined) return false;
  const id = precomputedId ?? blockId(block);
  if (!equalBytes(id, expectedId)) throw new RuleViolation({ code: "CHECKPOINT", height, id: toHex(id) });
  return true;
}

/**
 * Judges the next block of a chain, except for its proofs, which are returned as obligations; `header` if that was
 * judged before. Throws `RuleViolation`. Source: blockchain.cpp `handle_block_to_main_chain`.
 */
export function verifyBlock(
  candidate: BlockCandidate,
  context: ChainContext,
  header: VerifiedHeader = verifyHeader(candidate.block, context),
): VerifiedBlock {
  const { block } = candidate;
  const { chain } = context;
  const { difficulty, checkpoint, isKnown } = header;
  checkMinerTransaction(block.minerTransaction, chain);
  const transactions = checkTransactionList(candidate, context);
  const verify = isKnown ? verifyKnownTransaction : verifyTransaction;
  const verified = transactions.map((transaction) => verify(transaction, context));
  checkKeyImagesAcross(transactions);
  const body = checkReward(block, transactions, context);
  const cumulativeDifficulty = chain.cumulativeDifficulty + difficulty;
  requireWrittenDifficulty(checkpoint, cumulativeDifficulty);
  return {
    ...body,
    obligations: [...header.obligations, ...verified.flatMap(({ obligations }) => obligations)],
    transactions: verified,
    height: chain.height,
    difficulty,
    cumulativeDifficulty,
  };
}

function checkHeader({ header }: Block, { chain, now }: ChainContext): void {
  if (!equalBytes(header.previousId, chain.topId)) throw new RuleViolation({ code: "UNKNOWN_PARENT" });
  checkForkVersion(header, chain.hardForkVersion);
  checkTimestamp(header.timestamp, chain, now);
}

/** Every transaction that the block lists must be known, listed once, and not in the chain yet. */
function checkTransactionList(
  { block, transactions }: BlockCandidate,
  { chain }: ChainContext,
): TransactionCandidate[] {
  const ids = new Set<string>();
  return block.transactionHashes.map((id, index) => {
    if (chain.hasTransaction(id)) throw new RuleViolation({ code: "TRANSACTION_IN_CHAIN", index });
    if (ids.has(toHex(id))) throw new RuleViolation({ code: "TRANSACTION_REPEATED", index });
    ids.add(toHex(id));
    const transaction = transactions[index];
    if (transaction === undefined || !equalBytes(transaction.id, id)) {
      throw new RuleViolation({ code: "TRANSACTION_MISSING", index });
    }
    return transaction;
  });
}

/**
 * A transaction of a known block must not spend anything twice; its rings are not resolved, and nothing has to be
 * proven. Source: blockchain.cpp `handle_block_to_main_chain` (`fast_check`), db_lmdb.cpp `add_spent_key`.
 */
function verifyKnownTransaction(
  { transaction }: TransactionCandidate,
  { chain }: ChainContext,
): VerifiedTransaction {
  for (const [input, { keyImage }] of keyInputs(transaction).entries())
    if (chain.isKeyImageSpent(keyImage)) throw new RuleViolation({ code: "KEY_IMAGE_SPENT", input });
  return { obligations: [], newestRingEnd: 0, newestRingMember: 0 };
}

/** No key image may be spent by two transactions of a block. Source: db_lmdb.cpp `add_spent_key`. */
function checkKeyImagesAcross(transactions: readonly TransactionCandidate[]): void {
  const spent = new Set<string>();
  for (const [index, { transaction }] of transactions.entries()) {
    for (const { keyImage } of keyInputs(transaction)) {
      const hex = toHex(keyImage);
      if (spent.has(hex)) throw new RuleViolation({ code: "KEY_IMAGE_REPEATED_IN_BLOCK", index });
      spent.add(hex);
    }
  }
}

/**
 * The block must not be too heavy, and its miner must claim what is due. Source: cryptonote_basic_impl.cpp
 * `get_block_reward`.
 */
function checkReward(
  { minerTransaction }: Block,
  transactions: readonly TransactionCandidate[],
  { chain, limits }: ChainContext,
) {
  const minerWeight = transactionWeight(minerTransaction);
  const weight = transactions.reduce((sum, transaction) => sum + transaction.weight, minerWeight);
  const fees = transactions.reduce((sum, transaction) => sum + feeOf(transaction), 0n);
  const { hardForkVersion, alreadyGenerated } = chain;
  const medianWeight = penaltyMedian(chain, limits);
  const allowed = blockReward({ medianWeight, weight, alreadyGenerated, version: hardForkVersion });
  if (allowed === undefined)
    throw new RuleViolation({ code: "BLOCK_WEIGHT", weight, limit: 2 * medianWeight });
  const reward = checkClaim(minerTransaction, { reward: allowed, fees, hardForkVersion });
  return {
    weight,
    longTermWeight: longTermWeight(weight, chain),
    fees,
    reward,
    alreadyGenerated: generatedAfter(alreadyGenerated, reward),
  };
}

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

/** A block with its transactions, in the block's order; undefined where one is not known. */
export interface BlockCandidate {
  block: Block;
  transactions: readonly (TransactionCandidate | undefined)[];
}

/** What a block that keeps the rules leaves to do and adds to the chain. */
export interface VerifiedBlock {
  /** Everything left to `discharge`: proof of work first, then each transaction's. */
  obligations: Obligation[];
  /** The same by transaction, for who has verified some before. */
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
  /** New coins (atomic units), fees apart. */
  reward: bigint;
  /** Coins generated up to and including this block (atomic units, at most 2^64 - 1). */
  alreadyGenerated: bigint;
}

/** What is known of a block from its header and the chain alone. */
export interface VerifiedHeader {
  /** The block's work, to be discharged before anything else is looked at where the block comes from a stranger. */
  obligations: PowHashObligation[];
  difficulty: bigint;
  checkpoint: Checkpoint | undefined;
  /** Whether the block is known to be of the chain: neither its work nor its transactions' inputs are checked. */
  isKnown: boolean;
}

/**
 * Judges what takes next to nothing of the next block of a chain: its header, and what work it has to have; `id`
 * (32 bytes) where the caller knows it. Throws `RuleViolation`. Source: blockchain.cpp `handle_block_to_main_chain`, which checks the work here.
 */
export function verifyHeader(block: Block, context: ChainContext, id?: Uint8Array): VerifiedHeader {
  const { chain } = context;
  checkHeader(block, context);
  const checkpoint = checkCheckpoint(block, chain.height, chain.checkpoints);
  const difficulty = difficultyOfNextBlock(chain);
  if (isKnownBlock(block, chain, id)) return { obligations: [], difficulty, checkpoint, isKnown: true };
  // Every hash meets the lowest difficulty.
  if (difficulty <= 1n) return { obligations: [], difficulty, checkpoint, isKnown: false };
  const { majorVersion } = block.header;
  const work = { blob: blockHashingBlob(block), height: chain.height, majorVersion, difficulty };
  return { obligations: proofOfWork(work, chain), difficulty, checkpoint, isKnown: false };
}

/** Whether the block's id is the one known for its height; throws `RuleViolation` where another one is. */
function isKnownBlock(
  block: Block,
  { height, knownBlockId }: ChainContext["chain"],
  precomputedId?: Uint8Array,
): boolean {
  const known = knownBlockId?.(height);
  if (known === undefined) return false;
  const id = precomputedId ?? blockId(block);
  if (!equalBytes(id, known)) throw new RuleViolation({ code: "CHECKPOINT", height, id: toHex(id) });
  return true;
}

/**
 * Judges the next block of a chain, save its proofs, which are returned; `header` where that was judged before.
 * Throws `RuleViolation`.
 * Source: blockchain.cpp `handle_block_to_main_chain`.
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

/** Every transaction the block names is known, named once, and not in the chain yet. */
function checkTransactionList(
  { block, transactions }: BlockCandidate,
  { chain }: ChainContext,
): TransactionCandidate[] {
  const seen = new Set<string>();
  return block.transactionHashes.map((id, index) => {
    if (chain.hasTransaction(id)) throw new RuleViolation({ code: "TRANSACTION_IN_CHAIN", index });
    if (seen.has(toHex(id))) throw new RuleViolation({ code: "TRANSACTION_REPEATED", index });
    seen.add(toHex(id));
    const transaction = transactions[index];
    if (transaction === undefined || !equalBytes(transaction.id, id)) {
      throw new RuleViolation({ code: "TRANSACTION_MISSING", index });
    }
    return transaction;
  });
}

/**
 * A transaction of a known block spends nothing twice; its rings are not looked up, and nothing is left to prove.
 * Source: blockchain.cpp `handle_block_to_main_chain` (`fast_check`), db_lmdb.cpp `add_spent_key`.
 */
function verifyKnownTransaction(
  { transaction }: TransactionCandidate,
  { chain }: ChainContext,
): VerifiedTransaction {
  for (const [input, { keyImage }] of keyInputs(transaction).entries())
    if (chain.isKeyImageSpent(keyImage)) throw new RuleViolation({ code: "KEY_IMAGE_SPENT", input });
  return { obligations: [], newestRingEnd: 0, newestRingMember: 0 };
}

/** No key image is spent by two transactions of a block. Source: db_lmdb.cpp `add_spent_key`. */
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

/** The block is not too heavy and its miner claims what it earns. Source: cryptonote_basic_impl.cpp `get_block_reward`. */
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

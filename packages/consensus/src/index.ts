export type { ChainOutput, ChainView, PoolView } from "./chain-view.ts";
export {
  type BlockFacts,
  type ChainWindow,
  createChainWindow,
  createRollingMedian,
  type ReadBlockFacts,
  type ReadLongTermWeights,
  type RollingMedian,
} from "./chain-window.ts";
export {
  DIFFICULTY_BLOCKS,
  LONG_TERM_WINDOW,
  MINER_UNLOCK_BLOCKS,
  REWARD_WINDOW,
  SPENDABLE_AGE,
  TIMESTAMP_WINDOW,
  targetSeconds,
} from "./constants.ts";
export { type DifficultyWindow, difficultyOfNextBlock, nextDifficulty } from "./difficulty.ts";
export { median } from "./median.ts";
export type {
  BalanceObligation,
  ClsagObligation,
  ClsagProof,
  KeyImageObligation,
  Obligation,
  OutputKeyObligation,
  PowHashObligation,
  RangeProof,
  RangeProofObligation,
  RingMember,
  RingSignatureObligation,
} from "./obligations.ts";
export { meetsDifficulty, type PowCandidate, proofOfWork, seedHeight } from "./proof-of-work.ts";
export {
  adjustedTime,
  checkTimestamp,
  checkTimestampNotBefore,
  medianTimestamp,
} from "./timestamps.ts";
export type { PeerAction, SendTransactionFlag, Verdict, Violation, ViolationCode } from "./violations.ts";
export {
  describeViolation,
  RuleViolation,
  sendTransactionFlags,
  UnsupportedEra,
  verdictOf,
} from "./violations.ts";
export {
  longTermWeight,
  minimumBlockWeight,
  penaltyMedian,
  transactionWeightLimit,
  type WeightLimits,
  weightLimits,
} from "./weights.ts";

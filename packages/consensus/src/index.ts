export {
  chooseTransactions,
  compareByFee,
  fitMinerTransaction,
  type MinerFit,
  type TemplateChoice,
  type TemplateEconomy,
  type TemplateTransaction,
  templateTimestamp,
} from "./block-template.ts";
export { chainContext } from "./chain-context.ts";
export type { ChainOutput, ChainView, PoolView, SeedSchedule } from "./chain-view.ts";
export {
  type BlockFacts,
  type ChainWindow,
  createChainWindow,
  type ReadBlockFacts,
  type ReadLongTermWeights,
} from "./chain-window.ts";
export { BadCheckpoints, parseCheckpoints } from "./checkpoint-file.ts";
export {
  brokenCheckpoint,
  type Checkpoint,
  checkpointsOf,
  enforcedCheckpoints,
  isInCheckpointZone,
  withCheckpoints,
} from "./checkpoints.ts";
export {
  DIFFICULTY_BLOCKS,
  LONG_TERM_WINDOW,
  MAX_TRANSACTION_SIZE,
  MINER_UNLOCK_BLOCKS,
  REWARD_WINDOW,
  SPENDABLE_AGE,
  TIMESTAMP_WINDOW,
} from "./constants.ts";
export { type DifficultyWindow, difficultyOfNextBlock, nextDifficulty } from "./difficulty.ts";
export { discharge, dischargeEach, type Failure } from "./discharge.ts";
export { generatedAfter } from "./emission.ts";
export {
  countVotes,
  type ForkState,
  type ForkVoting,
  forkState,
  forkVoting,
  nextForkVersion,
  VOTING_WINDOW,
  type VotedFork,
  type Votes,
  votedVersion,
} from "./fork-votes.ts";
export { checkForkVersion } from "./header.ts";
export {
  type AnnouncedGroup,
  BadKnownBlocks,
  KNOWN_GROUP_BLOCKS,
  type KnownBlocks,
  parseKnownBlocks,
  writeKnownBlocks,
} from "./known-blocks.ts";
export { median } from "./median.ts";
export { minerOutputAmounts, minerTransactionVersion } from "./miner-amounts.ts";
export { checkClaim, checkMinerTransaction, type MinerClaim, type MinerPlace } from "./miner-transaction.ts";
export type {
  BalanceObligation,
  BitProof,
  BorromeanObligation,
  BulletproofObligation,
  ClsagObligation,
  FirstRangeProof,
  FullMlsagObligation,
  KeyImageObligation,
  MlsagObligation,
  MlsagProof,
  Obligation,
  OutputKeyObligation,
  PowHashObligation,
  RangeProof,
  RangeProofObligation,
  RingMember,
  RingSignatureObligation,
} from "./obligations.ts";
export {
  type Admission,
  admitTransaction,
  baseFee,
  doubleSpendObligations,
  feeOf,
  isRefusedBeforeRings,
  type Readmission,
  readmitTransaction,
} from "./pool-admission.ts";
export {
  agreedPowHash,
  meetsDifficulty,
  nextSeedHeight,
  type PowCandidate,
  parseSeedSchedule,
  powVariantOf,
  proofOfWork,
  RANDOMX_VERSIONS,
  randomXVersionOf,
  SEED_SCHEDULE,
  seedHeight,
} from "./proof-of-work.ts";
export { createRollingMedian, type RollingMedian } from "./rolling-median.ts";
export {
  adjustedTime,
  checkTimestamp,
  checkTimestampNotBefore,
  medianTimestamp,
} from "./timestamps.ts";
export type { ChainContext, TransactionCandidate, UnlockContext } from "./transaction/candidate.ts";
export { isUnlocked, unlockRule } from "./transaction/rings.ts";
export { checkSanity } from "./transaction/sanity.ts";
export {
  type Branch,
  type VerifiedAlternativeBlock,
  verifyAlternativeBlock,
} from "./verify-alternative-block.ts";
export {
  type BlockCandidate,
  type VerifiedBlock,
  type VerifiedHeader,
  verifyBlock,
  verifyHeader,
} from "./verify-block.ts";
export { type HeaderCandidate, type JudgedHeader, verifyHeaderAbove } from "./verify-headers.ts";
export {
  checkBlobSize,
  type VerifiedTransaction,
  verifyTransaction,
  verifyTransactionAlone,
} from "./verify-transaction.ts";
export type { PeerAction, SendTransactionFlag, Verdict, Violation, ViolationCode } from "./violations.ts";
export {
  describeViolation,
  RuleViolation,
  sendTransactionFlags,
  verdictOf,
} from "./violations.ts";
export {
  checkBlockSize,
  longTermWeight,
  penaltyMedian,
  transactionWeightLimit,
  type WeightLimits,
  weightLimits,
} from "./weights.ts";

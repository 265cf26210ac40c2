/**
 * A broken rule, with the data that shows it. The union is closed: `verdictOf` has a verdict for each code. Heights in
 * blocks, weights and sizes in bytes, amounts in atomic units, times in Unix seconds.
 */
export type Violation =
  // block header
  | { code: "UNKNOWN_PARENT" }
  | { code: "BLOCK_VERSION"; majorVersion: number; minorVersion: number; required: number }
  | { code: "TIMESTAMP_TOO_EARLY"; timestamp: number; median: number }
  | { code: "TIMESTAMP_TOO_LATE"; timestamp: number; limit: number }
  | { code: "DIFFICULTY_OVERFLOW" }
  | { code: "PROOF_OF_WORK"; difficulty: bigint }
  | { code: "CHECKPOINT"; height: number; id: string }
  | { code: "BELOW_CHECKPOINT"; height: number; checkpoint: number }
  // miner transaction
  | { code: "MINER_INPUT" }
  | { code: "MINER_VERSION"; version: number }
  | { code: "MINER_RINGCT"; type: number }
  | { code: "MINER_HEIGHT"; height: number; required: number }
  | { code: "MINER_UNLOCK_TIME"; unlockTime: bigint; required: bigint }
  | { code: "MINER_AMOUNT_OVERFLOW" }
  | { code: "MINER_OUTPUT_TYPE"; output: number }
  | { code: "MINER_OUTPUT_NOT_DECOMPOSED"; output: number }
  | { code: "MINER_OUTPUT_OF_NOTHING"; output: number }
  | { code: "MINER_REWARD_TOO_HIGH"; claimed: bigint; allowed: bigint }
  | { code: "MINER_REWARD_NOT_EXACT"; claimed: bigint; allowed: bigint }
  // block body
  | { code: "BLOCK_SIZE"; size: number; limit: number }
  | { code: "BLOCK_WEIGHT"; weight: number; limit: number }
  | { code: "TRANSACTION_MISSING"; index: number }
  | { code: "TRANSACTION_REPEATED"; index: number }
  | { code: "TRANSACTION_IN_CHAIN"; index: number }
  | { code: "KEY_IMAGE_REPEATED_IN_BLOCK"; index: number }
  // transaction, alone
  | { code: "BLOB_TOO_BIG"; size: number; limit: number }
  | { code: "MALFORMED"; reason: string }
  | { code: "TRANSACTION_VERSION"; version: number; highest: number }
  | { code: "SANITY"; reason: "coinbase" | "repeated members" | "old members" }
  | { code: "NO_INPUTS" }
  | { code: "INPUT_TYPE"; input: number }
  | { code: "OUTPUT_TARGET"; output: number }
  | { code: "OUTPUT_KEY"; output: number }
  | { code: "OUTPUT_AMOUNT_ZERO"; output: number }
  | { code: "COMMITMENT_COUNT"; outputs: number; commitments: number }
  | { code: "AMOUNT_OVERFLOW" }
  | { code: "AMOUNTS_NOT_POSITIVE"; spent: bigint; paid: bigint }
  | { code: "KEY_IMAGE_REPEATED"; input: number }
  | { code: "RING_MEMBER_REPEATED"; input: number }
  | { code: "KEY_IMAGE_DOMAIN"; input: number }
  | { code: "KEY_IMAGE_POINT"; input: number }
  | { code: "OUTPUT_TYPE"; output: number }
  | { code: "RINGCT_MISSING" }
  | { code: "RINGCT_SHAPE"; part: string }
  | { code: "BALANCE" }
  | { code: "COMMITMENT_POINT"; output: number }
  | { code: "RANGE_PROOF" }
  // transaction, by the rules of the pool
  | { code: "FEE_TOO_LOW"; fee: bigint; needed: bigint }
  | { code: "WEIGHT_ABOVE_LIMIT"; weight: number; limit: number }
  | { code: "EXTRA_TOO_BIG"; size: number; limit: number }
  | { code: "UNLOCK_TIME_SET"; unlockTime: bigint }
  | { code: "KEY_IMAGE_IN_POOL"; input: number }
  | { code: "EXPIRED" }
  // transaction, its outputs under the fork
  | { code: "OUTPUT_NOT_DECOMPOSED"; output: number; amount: bigint }
  | { code: "OUTPUT_AMOUNT_VISIBLE"; output: number; amount: bigint }
  | { code: "RINGCT_TYPE"; type: number; hardFork: number }
  // transaction, its inputs against the chain
  | { code: "TOO_FEW_OUTPUTS"; outputs: number }
  | { code: "RING_SIZES_DIFFER"; smallest: number; largest: number }
  | { code: "RING_SIZE"; size: number; required: number }
  | { code: "TRANSACTION_VERSION_TOO_NEW"; version: number; highest: number }
  | { code: "RINGCT_REQUIRED"; version: number }
  | { code: "INPUTS_NOT_SORTED"; input: number }
  | { code: "RING_EMPTY"; input: number }
  | { code: "KEY_IMAGE_SPENT"; input: number }
  | { code: "RING_MEMBER_UNKNOWN"; input: number; globalIndex: bigint }
  | { code: "RING_MEMBER_LOCKED"; input: number; unlockTime: bigint }
  | { code: "RING_MEMBER_TOO_YOUNG"; height: number; oldestNeeded: number }
  | { code: "SIGNATURE_COUNT"; signatures: number; required: number }
  | { code: "CLSAG"; input: number }
  | { code: "MLSAG"; input: number }
  | { code: "FULL_MLSAG" }
  | { code: "RING_SIGNATURE"; input: number };

export type ViolationCode = Violation["code"];

/** The flags of `/send_raw_transaction`, in the order in which the reason lists them. */
export const sendTransactionFlags = [
  "low_mixin",
  "double_spend",
  "invalid_input",
  "invalid_output",
  "too_big",
  "overspend",
  "fee_too_low",
  "too_few_outputs",
  "tx_extra_too_big",
  "nonzero_unlock_time",
  "not_rct",
  "sanity_check_failed",
] as const;

export type SendTransactionFlag = (typeof sendTransactionFlags)[number];

/**
 * What to do with the peer that sent it: "keep" if an honest peer can be behind or ahead of us, "drop" if it cannot,
 * "ban" if sending it was free for the peer and costly for us.
 */
export type PeerAction = "keep" | "drop" | "ban";

/** The consequences of a violation for its sender. */
export interface Verdict {
  /** Flags of `/send_raw_transaction`; empty if the real program sets none. */
  readonly rpcFlags: readonly SendTransactionFlag[];
  readonly peer: PeerAction;
}

const drop = (...rpcFlags: SendTransactionFlag[]): Verdict => ({ rpcFlags, peer: "drop" });
const keep = (...rpcFlags: SendTransactionFlag[]): Verdict => ({ rpcFlags, peer: "keep" });

/**
 * The verdict of every violation. Rules checked against the chain have `invalid_input` besides their own flag, because
 * the pool adds it whenever the inputs fail. Source: tx_pool.cpp `add_tx`, tx_verification_utils.cpp
 * `ver_non_input_consensus`, cryptonote_core.cpp `check_tx_semantic`, blockchain.cpp `check_tx_inputs` and
 * `check_tx_outputs`.
 */
export const verdictOf: { readonly [Code in ViolationCode]: Verdict } = {
  UNKNOWN_PARENT: keep(),
  BLOCK_VERSION: drop(),
  TIMESTAMP_TOO_EARLY: drop(),
  TIMESTAMP_TOO_LATE: drop(),
  DIFFICULTY_OVERFLOW: drop(),
  PROOF_OF_WORK: { rpcFlags: [], peer: "ban" },
  CHECKPOINT: drop(),
  BELOW_CHECKPOINT: drop(),
  MINER_INPUT: drop(),
  MINER_VERSION: drop(),
  MINER_RINGCT: drop(),
  MINER_HEIGHT: drop(),
  MINER_UNLOCK_TIME: drop(),
  MINER_AMOUNT_OVERFLOW: drop(),
  MINER_OUTPUT_TYPE: drop(),
  MINER_OUTPUT_NOT_DECOMPOSED: drop(),
  MINER_OUTPUT_OF_NOTHING: drop(),
  MINER_REWARD_TOO_HIGH: drop(),
  MINER_REWARD_NOT_EXACT: drop(),
  BLOCK_SIZE: drop(),
  BLOCK_WEIGHT: drop(),
  TRANSACTION_MISSING: keep(),
  TRANSACTION_REPEATED: drop(),
  TRANSACTION_IN_CHAIN: drop(),
  KEY_IMAGE_REPEATED_IN_BLOCK: drop(),
  BLOB_TOO_BIG: drop("too_big"),
  MALFORMED: drop(),
  TRANSACTION_VERSION: drop(),
  SANITY: keep("sanity_check_failed"),
  NO_INPUTS: drop("invalid_input"),
  INPUT_TYPE: drop("invalid_input"),
  OUTPUT_TARGET: drop("invalid_output"),
  OUTPUT_KEY: drop("invalid_output"),
  OUTPUT_AMOUNT_ZERO: drop("invalid_output"),
  COMMITMENT_COUNT: drop("invalid_output"),
  AMOUNT_OVERFLOW: drop("overspend"),
  AMOUNTS_NOT_POSITIVE: drop("overspend"),
  KEY_IMAGE_REPEATED: drop("invalid_input"),
  RING_MEMBER_REPEATED: drop("invalid_input"),
  KEY_IMAGE_DOMAIN: drop("invalid_input"),
  // The original leaves its checks by an exception if the bytes of these two are no point.
  KEY_IMAGE_POINT: drop(),
  OUTPUT_TYPE: drop("invalid_output"),
  RINGCT_MISSING: drop("invalid_input"),
  RINGCT_SHAPE: drop("invalid_input"),
  BALANCE: drop("invalid_input"),
  COMMITMENT_POINT: drop(),
  RANGE_PROOF: drop("invalid_input"),
  FEE_TOO_LOW: keep("fee_too_low"),
  WEIGHT_ABOVE_LIMIT: drop("too_big"),
  EXTRA_TOO_BIG: keep("tx_extra_too_big"),
  UNLOCK_TIME_SET: keep("nonzero_unlock_time"),
  KEY_IMAGE_IN_POOL: keep("double_spend"),
  EXPIRED: keep(),
  OUTPUT_NOT_DECOMPOSED: drop("invalid_output"),
  OUTPUT_AMOUNT_VISIBLE: drop("invalid_output"),
  RINGCT_TYPE: drop("invalid_output"),
  TOO_FEW_OUTPUTS: drop("invalid_input", "too_few_outputs"),
  RING_SIZES_DIFFER: drop("low_mixin", "invalid_input"),
  RING_SIZE: drop("low_mixin", "invalid_input"),
  TRANSACTION_VERSION_TOO_NEW: drop("invalid_input"),
  RINGCT_REQUIRED: drop("invalid_input", "not_rct"),
  INPUTS_NOT_SORTED: drop("invalid_input"),
  RING_EMPTY: drop("invalid_input"),
  KEY_IMAGE_SPENT: keep("double_spend", "invalid_input"),
  RING_MEMBER_UNKNOWN: keep("invalid_input"),
  RING_MEMBER_LOCKED: keep("invalid_input"),
  RING_MEMBER_TOO_YOUNG: keep("invalid_input"),
  SIGNATURE_COUNT: drop("invalid_input"),
  CLSAG: drop("invalid_input"),
  MLSAG: drop("invalid_input"),
  FULL_MLSAG: drop("invalid_input"),
  RING_SIGNATURE: drop("invalid_input"),
};

/** A rule of consensus or of the pool is broken: an expected refusal, never a bug. */
export class RuleViolation extends Error {
  readonly violation: Violation;

  constructor(violation: Violation) {
    super(describeViolation(violation));
    this.name = "RuleViolation";
    this.violation = violation;
  }
}

/** A violation as one line of text, its code first. */
export function describeViolation(violation: Violation): string {
  const { code, ...data } = violation;
  const details = Object.entries(data).map(([name, value]) => `${name} ${value}`);
  return details.length === 0 ? code : `${code} (${details.join(", ")})`;
}

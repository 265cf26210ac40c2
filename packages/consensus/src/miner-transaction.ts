import {
  forkRules,
  isDecomposedAmount,
  MAX_AMOUNT,
  ringCtTypes,
  sumAmounts,
  type Transaction,
} from "@anulo/protocol";
import { MAX_PROVEN_OUTPUTS, MINER_UNLOCK_BLOCKS } from "./constants.ts";
import { forbiddenOutputType } from "./transaction/outputs.ts";
import { RuleViolation } from "./violations.ts";

/** The position of a miner transaction in the chain. */
export interface MinerPlace {
  height: number;
  hardForkVersion: number;
}

/**
 * Checks the form of a miner transaction: one generation input of this height, locked for 60 blocks, without RingCT,
 * its outputs of a type the fork allows. Source: blockchain.cpp `prevalidate_miner_transaction`.
 */
export function checkMinerTransaction(transaction: Transaction, place: MinerPlace): void {
  const { prefix } = transaction;
  checkGeneration(transaction, place);
  const required = BigInt(place.height + MINER_UNLOCK_BLOCKS);
  if (prefix.unlockTime !== required) {
    throw new RuleViolation({ code: "MINER_UNLOCK_TIME", unlockTime: prefix.unlockTime, required });
  }
  if (sumAmounts(prefix.outputs) > MAX_AMOUNT) throw new RuleViolation({ code: "MINER_AMOUNT_OVERFLOW" });
  const output = forbiddenOutputType(prefix, place.hardForkVersion);
  if (output !== -1) throw new RuleViolation({ code: "MINER_OUTPUT_TYPE", output });
}

function checkGeneration({ prefix, ringct }: Transaction, { height, hardForkVersion }: MinerPlace): void {
  const { minerVersion } = forkRules(hardForkVersion);
  const [input, ...others] = prefix.inputs;
  if (input?.type !== "generation" || others.length > 0) throw new RuleViolation({ code: "MINER_INPUT" });
  if (prefix.version < minerVersion) {
    throw new RuleViolation({ code: "MINER_VERSION", version: prefix.version });
  }
  const type = ringct?.type ?? ringCtTypes.none;
  const mayHide = minerVersion < 2 && canBeWeighed(type, prefix);
  if (type !== ringCtTypes.none && !mayHide) throw new RuleViolation({ code: "MINER_RINGCT", type });
  if (input.height !== height) {
    throw new RuleViolation({ code: "MINER_HEIGHT", height: input.height, required: height });
  }
}

/**
 * Aggregated range proofs have no defined weight beyond 16 outputs. Source: cryptonote_format_utils.cpp
 * `get_transaction_weight_clawback`.
 */
function canBeWeighed(type: number, { outputs }: Transaction["prefix"]): boolean {
  return type < ringCtTypes.bulletproof || outputs.length <= MAX_PROVEN_OUTPUTS;
}

/** What a miner may claim, in atomic units. */
export interface MinerClaim {
  /** New coins for a block of this weight. */
  reward: bigint;
  /** Fees of the block's transactions. */
  fees: bigint;
  hardForkVersion: number;
}

/**
 * New coins (atomic units) that a miner transaction creates: it claims reward and fees exactly, or less from hard fork
 * 2 to 12 (at least the fees), in which case the rest is never created. Source: blockchain.cpp
 * `validate_miner_transaction`.
 */
export function checkClaim({ prefix }: Transaction, entitlement: MinerClaim): bigint {
  const { reward, fees, hardForkVersion } = entitlement;
  const { claim } = forkRules(hardForkVersion);
  if (claim === "less, digits") checkDecomposed(prefix.outputs);
  checkNotEmpty(prefix);
  const claimed = sumAmounts(prefix.outputs);
  const allowed = reward + fees;
  if (claimed > allowed) throw new RuleViolation({ code: "MINER_REWARD_TOO_HIGH", claimed, allowed });
  const mayClaimLess = claim !== "all" && claimed >= fees;
  if (claimed !== allowed && !mayClaimLess) {
    throw new RuleViolation({ code: "MINER_REWARD_NOT_EXACT", claimed, allowed });
  }
  return claimed - fees;
}

function checkDecomposed(outputs: readonly { amount: bigint }[]): void {
  const output = outputs.findIndex(({ amount }) => !isDecomposedAmount(amount));
  if (output !== -1) throw new RuleViolation({ code: "MINER_OUTPUT_NOT_DECOMPOSED", output });
}

/** An output of amount 0 counts as hidden, and version 1 cannot hide amounts. Source: db_lmdb.cpp `add_output`. */
function checkNotEmpty({ version, outputs }: Transaction["prefix"]): void {
  const output = outputs.findIndex(({ amount }) => amount === 0n);
  if (version === 1 && output !== -1) throw new RuleViolation({ code: "MINER_OUTPUT_OF_NOTHING", output });
}

/** Upper limits of fees: no honest node demands more, and no honest proposal pays more. */
import { dynamicFees2021, estimateTransactionWeight } from "@anulo/protocol";
import { type ConstructionData, feeOfConstruction } from "./metadata.ts";
import { RING_SIZE } from "./stages.ts";

/** Bytes. Source: cryptonote_config.h CRYPTONOTE_BLOCK_GRANTED_FULL_REWARD_ZONE_V5. */
const SMALLEST_MEDIAN = 300_000;
/** The reward (atomic units) of the first blocks of the chain. */
const GREATEST_REWARD = (2n ** 64n - 1n) >> 19n;
/**
 * Number of blocks in which the remaining emission falls to 1/e, with the slower of the emission speeds. Source:
 * `EMISSION_SPEED_FACTOR_PER_MINUTE`.
 */
const SLOWEST_EMISSION_BLOCKS = 2 ** 20;
/** Minimum block reward (atomic units). Source: cryptonote_config.h FINAL_SUBSIDY_PER_MINUTE. */
const LEAST_REWARD = 600_000_000_000n;
/** Tolerance factor: the last block's reward may be less than usual, and fees rise when blocks are full. */
export const FEE_TOLERANCE = 10n;

/** The wallet's view of the chain; `lastBlockReward` in atomic units, 0 if unknown. */
export type SeenChain = { readonly lastBlockReward: bigint; readonly height: number };

/**
 * The maximum reward (atomic units) of a block at this height: a limit is needed since the wallet does not check proof
 * of work.
 */
function greatestReward(height: number): bigint {
  return BigInt(Math.floor(Number(GREATEST_REWARD) * Math.exp(-height / SLOWEST_EMISSION_BLOCKS)));
}

/** Maximum fees per byte by priority that an honest node demands. */
export function feeLimits({ lastBlockReward, height }: SeenChain): readonly bigint[] {
  const greatest = greatestReward(height);
  const lastReward = lastBlockReward === 0n || lastBlockReward > greatest ? greatest : lastBlockReward;
  const reward = lastReward < LEAST_REWARD ? LEAST_REWARD : lastReward;
  const fees = dynamicFees2021({ reward, shortTermMedian: SMALLEST_MEDIAN, longTermMedian: SMALLEST_MEDIAN });
  return fees.map((fee) => fee * FEE_TOLERANCE);
}

/** Additional bytes of `extra`: public keys of a transaction with two outputs, and a payment id. */
const KEY_EXTRA_BYTES = 44;

/** Describes what is wrong with the fee (atomic units) of construction data; undefined if it is acceptable. */
export function absurdFee(data: ConstructionData, chain: SeenChain): string | undefined {
  const { sources, splitDestinations, extra } = data;
  const fee = feeOfConstruction(data);
  const weight = estimateTransactionWeight({
    inputs: sources.length,
    outputs: Math.max(2, splitDestinations.length),
    ringSize: RING_SIZE,
    extraSize: extra.length + KEY_EXTRA_BYTES,
  });
  const limit = feeLimits(chain).at(-1)! * BigInt(weight);
  return fee > limit ? `its fee is absurd: ${fee} atomic units, more than ${limit}` : undefined;
}

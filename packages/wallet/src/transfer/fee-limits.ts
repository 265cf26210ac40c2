/** Upper limits of fees: no honest node demands more, and no honest proposal pays more. */
import { dynamicFees2021, estimateTransactionWeight, type NetworkName, networks } from "@anulo/protocol";
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

/** What a wallet sees of the chain, and of which network it is; `hasScanned`: from its own blocks. */
type ScannedWallet = {
  readonly state: SeenChain;
  readonly network: NetworkName;
  readonly hasScanned: boolean;
};

/**
 * The chain as the signer of a transaction takes it to be. One that has scanned nothing, as on a machine without a
 * network, still knows the hard forks: transactions of today's kind are mined since the last of them, when blocks paid
 * far less than the first ones.
 */
export function chainOfSigner({ state, network, hasScanned }: ScannedWallet): SeenChain {
  const { lastBlockReward, height } = state;
  if (hasScanned) return { lastBlockReward, height };
  return { lastBlockReward, height: Math.max(height, networks[network].hardForks.at(-1)!.height) };
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

/**
 * Bytes of `extra` that nodes relay. Whoever describes a transaction writes its `extra`, and so must not raise the limit
 * of its fee by a longer one. Source: cryptonote_config.h MAX_TX_EXTRA_SIZE.
 */
const MAX_EXTRA_BYTES = 1060;

/** Describes what is wrong with the fee (atomic units) of construction data; undefined if it is acceptable. */
export function absurdFee(data: ConstructionData, chain: SeenChain): string | undefined {
  const { sources, splitDestinations, extra } = data;
  const fee = feeOfConstruction(data);
  const weight = estimateTransactionWeight({
    inputs: sources.length,
    outputs: Math.max(2, splitDestinations.length),
    ringSize: RING_SIZE,
    extraSize: Math.min(extra.length, MAX_EXTRA_BYTES) + KEY_EXTRA_BYTES,
  });
  const limit = feeLimits(chain).at(-1)! * BigInt(weight);
  return fee > limit ? `its fee is absurd: ${fee} atomic units, more than ${limit}` : undefined;
}

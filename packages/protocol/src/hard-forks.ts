import type { Network } from "./networks.ts";

/** Hard fork version whose rules a block at this height (blocks below it) follows. */
export function hardForkAt({ hardForks }: Pick<Network, "hardForks">, height: number): number {
  return hardForks.findLast((fork) => fork.height <= height)?.version ?? hardForks[0]!.version;
}

/** First height of a hard fork version, undefined when the network does not have it. */
export function heightOfHardFork(
  { hardForks }: Pick<Network, "hardForks">,
  version: number,
): number | undefined {
  return hardForks.find((fork) => fork.version === version)?.height;
}

/** First hard fork with each of these rules. Source: cryptonote_config.h `HF_VERSION_*`. */
export const ruleForks = {
  dynamicFee: 4,
  minimumRing5: 6,
  ringCtRequired: 6,
  minimumRing7: 7,
  perByteFee: 8,
  minimumRing11: 8,
  smallerBulletproofs: 10,
  longTermBlockWeight: 10,
  minimumTwoOutputs: 12,
  version2MinerTransaction: 12,
  sameRingSizes: 12,
  noSignaturesInMinerTransaction: 12,
  minimumAgeOfOutputs: 12,
  effectiveMedianInPenalty: 12,
  exactMinerReward: 13,
  clsag: 13,
  deterministicUnlockTime: 13,
  bulletproofPlus: 15,
  viewTags: 15,
  minimumRing16: 15,
  scaling2021: 15,
} as const;

/** Target time between blocks, in seconds, of the difficulty. Source: cryptonote_config.h `DIFFICULTY_TARGET_V1/V2`. */
export function secondsPerBlock(version: number): number {
  return version < 2 ? 60 : 120;
}

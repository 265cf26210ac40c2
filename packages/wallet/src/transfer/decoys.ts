/**
 * Selects the decoys of a ring, with ages like those of real spends, so that the real output does not stand out.
 * Source: wallet2.cpp `gamma_picker`; Möser et al., "An Empirical Analysis of Traceability in the Monero Blockchain"
 * (2018), https://arxiv.org/abs/1704.04299.
 */
import type { RandomSource } from "@anulo/crypto";
import { BLOCK_SECONDS, SPENDABLE_AGE } from "../outputs/locked-places.ts";
import { randomGamma, randomIndex, randomReal } from "./random.ts";

/** The logarithm of an output's age in seconds when it is spent follows this gamma distribution. */
const GAMMA_SHAPE = 19.28;
const GAMMA_SCALE = 1 / 1.61;
/** Seconds before a new output can be spent. */
const UNLOCK_SECONDS = SPENDABLE_AGE * BLOCK_SECONDS;
/** Ages too young to be spent are replaced by random ones within this many seconds after the youngest spendable age. */
const RECENT_SPEND_SECONDS = 15 * BLOCK_SECONDS;
const BLOCKS_IN_A_YEAR = (86_400 * 365) / BLOCK_SECONDS;

/** Number of RingCT outputs in the chain up to and including each block, from the first block on. */
export type CumulativeOutputs = readonly number[];

/** Number of blocks whose outputs the next block may spend: all but the newest nine. */
const spendableBlockCount = (cumulative: CumulativeOutputs): number =>
  Math.max(0, cumulative.length - (SPENDABLE_AGE - 1));

/** Number of outputs old enough to be in a ring. */
export function spendableOutputCount(cumulative: CumulativeOutputs): number {
  return cumulative[spendableBlockCount(cumulative) - 1] ?? 0;
}

/** Index of the first block after which there are more than `outputIndex` outputs, among the first `end` blocks. */
function blockOfOutput(cumulative: CumulativeOutputs, end: number, outputIndex: number): number {
  let low = 0;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (cumulative[middle]! < outputIndex) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The same random bytes, requested from the source in larger pieces. */
function buffered(random: RandomSource): RandomSource {
  let buffer = new Uint8Array(0);
  return (size) => {
    if (buffer.length < size) buffer = Uint8Array.from(random(Math.max(size, 4096)));
    const bytes = buffer.subarray(0, size);
    buffer = buffer.subarray(size);
    return bytes;
  };
}

/**
 * Creates a function that returns global output indices with the ages of real spends; undefined is a draw outside the
 * chain.
 */
export function createDecoyPicker(
  cumulative: CumulativeOutputs,
  random: RandomSource,
): () => number | undefined {
  const end = spendableBlockCount(cumulative);
  const outputCount = spendableOutputCount(cumulative);
  if (outputCount === 0) throw new RangeError("the chain has no output old enough for a ring");
  const blocks = Math.min(cumulative.length, BLOCKS_IN_A_YEAR);
  const before = blocks < cumulative.length ? cumulative[cumulative.length - blocks - 1]! : 0;
  const secondsPerOutput = (BLOCK_SECONDS * blocks) / (cumulative.at(-1)! - before);

  return () => {
    const age = Math.exp(randomGamma(random, GAMMA_SHAPE, GAMMA_SCALE));
    const seconds = age > UNLOCK_SECONDS ? age - UNLOCK_SECONDS : randomIndex(random, RECENT_SPEND_SECONDS);
    const fromNewest = Math.floor(seconds / secondsPerOutput);
    if (fromNewest >= outputCount) return undefined;
    // The age selects a block; all outputs of that block are equally likely.
    const block = blockOfOutput(cumulative, end, outputCount - 1 - fromNewest);
    const first = block === 0 ? 0 : cumulative[block - 1]!;
    const count = cumulative[block]! - first;
    return count === 0 ? undefined : first + randomIndex(random, count);
  };
}

/** Number of draws after which a small chain is considered exhausted; a ring needs far fewer than 75 candidates. */
const MAX_DRAWS = 50_000;

export type CandidateRequest = {
  readonly cumulative: CumulativeOutputs;
  /** Global index of the output that is spent. */
  readonly real: number;
  /** Global indices of an earlier ring of this output: they are used again, so that the rings can't be intersected. */
  readonly earlierRing: readonly number[];
  /** How many indices are needed, the real one included. */
  readonly count: number;
};

/** All existing indices: those of the earlier ring first, and the real one. */
function allIndices(
  available: number,
  { real, earlierRing }: Omit<CandidateRequest, "cumulative">,
): number[] {
  const all = Array.from({ length: available }, (_, index) => index);
  return [...new Set([...earlierRing.filter((index) => index < available), ...all, real])];
}

/**
 * Global indices in the order of picking: the earlier ring, the real one, and decoys; fewer than `count` when the
 * chain has no more. As no index is picked twice, later picks follow the distribution less closely than earlier ones.
 * The order shows which one is real, so it stays secret. Source: wallet2.cpp `get_outs`.
 */
export function pickCandidates(request: CandidateRequest, random: RandomSource): number[] {
  const { cumulative, real, earlierRing, count } = request;
  const available = spendableOutputCount(cumulative);
  if (available <= count) return allIndices(available, request);
  const picked = new Set([...earlierRing.filter((index) => index < available), real]);
  const pick = createDecoyPicker(cumulative, buffered(random));
  for (let draw = 0; draw < MAX_DRAWS && picked.size < count && picked.size < available; ++draw) {
    const index = pick();
    if (index !== undefined) picked.add(index);
  }
  return [...picked];
}

/** Outputs of one public amount that may be in a ring, and how many of them are recent. */
export type AmountCount = { readonly unlocked: number; readonly recent: number };

/** Seconds up to which an output of a public amount counts as recent. Source: wallet2.cpp RECENT_OUTPUT_ZONE. */
export const RECENT_OUTPUT_SECONDS = 1.8 * 86_400;
/** Share of the decoys that is recent. Source: wallet2.cpp RECENT_OUTPUT_RATIO. */
const RECENT_RATIO = 0.5;

/** How many of the decoys should be recent ones; one less if the real output is recent itself. */
function recentDecoys({ unlocked, recent }: AmountCount, real: number, count: number): number {
  const target = Math.min(Math.max(1, Math.floor(count * RECENT_RATIO)), recent);
  return real >= unlocked - recent && target > 0 ? target - 1 : target;
}

/**
 * As `pickCandidates`, for an output from before RingCT, whose decoys have its amount: half of them are recent, and
 * within both groups newer ones are more likely, by a triangular distribution. Source: wallet2.cpp `get_outs`.
 */
export function pickVisibleCandidates(
  request: Omit<CandidateRequest, "cumulative"> & { readonly available: AmountCount },
  random: RandomSource,
): number[] {
  const { available, real, earlierRing, count } = request;
  const { unlocked, recent } = available;
  if (unlocked <= count) return allIndices(unlocked, request);
  const picked = new Set([...earlierRing.filter((index) => index < unlocked), real]);
  const young = recentDecoys(available, real, count);
  while (picked.size < count) {
    const among = picked.size - 1 < young ? recent : unlocked;
    picked.add(unlocked - among + Math.floor(Math.sqrt(randomReal(random)) * among));
  }
  return [...picked];
}

import { type HardFork, hardForkAt } from "@anulo/protocol";

/** Blocks whose votes count. Source: hardfork.h `DEFAULT_WINDOW_SIZE`. */
export const VOTING_WINDOW = 10_080;
/** Seconds after the newest known fork was decided when another is likely. Source: hardfork.h `DEFAULT_FORKED_TIME`. */
const FORKED_SECONDS = 31_557_600;

/**
 * A fork that needs the votes of a share of the window's blocks; the published forks need none: their height decides.
 */
export interface VotedFork extends HardFork {
  /** Per cent of the window; 0 by default. */
  readonly thresholdPercent?: number;
}

/** Votes of the window below a block, by version. */
export type Votes = ReadonlyMap<number, number>;

/** Votes that are this share of the window, rounded up. */
function neededVotes(window: number, thresholdPercent = 0): number {
  return Math.floor((window * thresholdPercent + 99) / 100);
}

/**
 * Counts the votes of blocks, which are their minor versions: 0 means 1, and an unknown version counts for the newest.
 * Source: hardfork.cpp `get_block_vote`, `get_effective_version`.
 */
export function countVotes(minorVersions: Iterable<number>, newest: number): Votes {
  const votes = new Map<number, number>();
  for (const minorVersion of minorVersions) {
    const vote = Math.min(newest, Math.max(1, minorVersion));
    votes.set(vote, (votes.get(vote) ?? 0) + 1);
  }
  return votes;
}

/** Votes for a version or a later one. */
function votesFrom(votes: Votes, version: number): number {
  return [...votes].reduce((sum, [vote, count]) => sum + (vote >= version ? count : 0), 0);
}

/**
 * Version in force at a height: that of the newest fork whose height is reached and whose votes, with those for later
 * ones, are enough; `current` if there is none. Source: hardfork.cpp `get_voted_fork_index`.
 */
export function votedVersion(
  forks: readonly VotedFork[],
  { height, votes, current }: { height: number; votes: Votes; current: number },
): number {
  const isIn = ({ version, height: first, thresholdPercent }: VotedFork) =>
    height >= first && votesFrom(votes, version) >= neededVotes(VOTING_WINDOW, thresholdPercent);
  return Math.max(current, forks.findLast(isIn)?.version ?? current);
}

/** Whether this program is up to date: 0, an unknown fork is likely; 1, an update is due; 2, it is up to date. */
export type ForkState = 0 | 1 | 2;

/**
 * The state by the age of the newest known fork, by the clock (`now`, Unix seconds). Source: hardfork.cpp `get_state`.
 */
export function forkState(forks: readonly HardFork[], now: number): ForkState {
  if (forks.length <= 1) return 2;
  const age = now - forks.at(-1)!.time;
  if (age >= FORKED_SECONDS) return 0;
  return age >= FORKED_SECONDS / 2 ? 1 : 2;
}

/** First version above the one at this height, or the newest. Source: hardfork.cpp `get_next_version`. */
export function nextForkVersion(forks: readonly HardFork[], height: number): number {
  const current = forks.findLastIndex((fork) => height >= fork.height);
  return (forks[current + 1] ?? forks.at(-1)!).version;
}

/** The state of the vote on a version. */
export interface ForkVoting {
  /** Whether its rules are in force for the next block. */
  readonly isEnabled: boolean;
  /** Blocks counted. */
  readonly window: number;
  readonly votes: number;
  /** Votes needed in such a window. */
  readonly threshold: number;
  /** First height of a fork with at least these rules; 2^64 - 1 if there is none. */
  readonly earliestHeight: bigint;
  /** Newest known version. */
  readonly voting: number;
}

/**
 * The vote on a version, on a chain of `height` blocks whose newest, 10,080 at most, have these minor
 * versions. Source: hardfork.cpp `get_voting_info`.
 */
export function forkVoting(
  forks: readonly VotedFork[],
  { version, height, minorVersions }: { version: number; height: number; minorVersions: readonly number[] },
): ForkVoting {
  const newest = forks.at(-1)!.version;
  const current = hardForkAt({ hardForks: forks }, height);
  const window = minorVersions.length;
  const threshold = neededVotes(window, forks.find((fork) => fork.version === current)?.thresholdPercent);
  const first = forks.find((fork) => fork.version >= version);
  return {
    isEnabled: current >= version,
    window,
    votes: votesFrom(countVotes(minorVersions, newest), version),
    threshold,
    earliestHeight: first === undefined ? 2n ** 64n - 1n : BigInt(first.height),
    voting: newest,
  };
}

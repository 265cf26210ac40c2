import { type Block, hardForkAt, type Network } from "@anulo/protocol";
import type { ChainView } from "./chain-view.ts";
import { DIFFICULTY_BLOCKS } from "./constants.ts";
import type { PowHashObligation } from "./obligations.ts";
import type { ChainContext } from "./transaction/candidate.ts";
import { verifyHeader } from "./verify-block.ts";

/** A block of which only the header is judged; `id` has 32 bytes. */
export interface HeaderCandidate {
  readonly block: Block;
  readonly id: Uint8Array;
}

interface JudgedHeader {
  readonly id: Uint8Array;
  readonly timestamp: number;
  readonly cumulativeDifficulty: bigint;
}

/**
 * Judges the headers of blocks that follow one another on top of a chain, and yields for each the work it must
 * have, so that nothing of a run is read that took no work. Throws `RuleViolation` at the first that breaks a rule.
 * Source: blockchain.cpp `handle_block_to_main_chain`.
 */
export function* verifyHeaders(
  candidates: Iterable<HeaderCandidate>,
  { chain, limits, now }: ChainContext,
  network: Network,
): Generator<PowHashObligation[], void> {
  const judged: JudgedHeader[] = [];
  const below = windowsOf(chain);
  for (const { block, id } of candidates) {
    const view = withHeaders(below, judged, network);
    const { obligations, difficulty } = verifyHeader(block, { chain: view, limits, now });
    const cumulativeDifficulty = view.cumulativeDifficulty + difficulty;
    judged.push({ id, timestamp: block.header.timestamp, cumulativeDifficulty });
    yield obligations;
  }
}

/** The chain, with its windows as they are now: it may change while a long run is judged. */
function windowsOf(chain: ChainView): ChainView {
  const timestamps = chain.recentTimestamps(DIFFICULTY_BLOCKS);
  const difficulties = chain.recentCumulativeDifficulties(DIFFICULTY_BLOCKS);
  return {
    ...chain,
    recentTimestamps: (count) => newest(timestamps, count),
    recentCumulativeDifficulties: (count) => newest(difficulties, count),
  };
}

function newest<T>(items: readonly T[], count: number): readonly T[] {
  return count === 0 ? [] : items.slice(-count);
}

/** The chain with these headers on top, as far as the rules of a header look at it. */
function withHeaders(chain: ChainView, judged: readonly JudgedHeader[], network: Network): ChainView {
  const top = judged.at(-1);
  if (top === undefined) return chain;
  const height = chain.height + judged.length;
  const recent = <T>(
    below: (count: number) => readonly T[],
    count: number,
    of: (header: JudgedHeader) => T,
  ) => {
    const own = newest(judged, count);
    return [...below(Math.max(0, count - own.length)), ...own.map(of)];
  };
  return {
    ...chain,
    height,
    topId: top.id,
    hardForkVersion: hardForkAt(network, height),
    cumulativeDifficulty: top.cumulativeDifficulty,
    recentTimestamps: (count) => recent(chain.recentTimestamps, count, ({ timestamp }) => timestamp),
    recentCumulativeDifficulties: (count) =>
      recent(chain.recentCumulativeDifficulties, count, (header) => header.cumulativeDifficulty),
    blockId: (at) => judged[at - chain.height]?.id ?? chain.blockId(at),
  };
}

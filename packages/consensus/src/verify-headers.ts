import { type Block, hardForkAt, type Network } from "@anulo/protocol";
import type { ChainView } from "./chain-view.ts";
import type { ChainContext } from "./transaction/candidate.ts";
import { type VerifiedHeader, verifyHeader } from "./verify-block.ts";

/** A block of which only the header is judged; `id` has 32 bytes. */
export interface HeaderCandidate {
  readonly block: Block;
  readonly id: Uint8Array;
}

/** A header that follows the rules, with the facts that the headers above it need. */
export interface JudgedHeader {
  /** 32 bytes. */
  readonly id: Uint8Array;
  readonly timestamp: number;
  readonly cumulativeDifficulty: bigint;
  readonly verified: VerifiedHeader;
}

/**
 * Judges the header of a block on top of a chain and of headers, oldest first, whose blocks are not judged yet, so that
 * nothing else in a run of blocks is read before its proof of work is checked. Throws `RuleViolation`. Source:
 * blockchain.cpp `handle_block_to_main_chain`.
 */
export function verifyHeaderAbove(
  { block, id }: HeaderCandidate,
  context: ChainContext,
  { headers, network }: { readonly headers: readonly JudgedHeader[]; readonly network: Network },
): JudgedHeader {
  const chain = withHeaders(context.chain, headers, network);
  const verified = verifyHeader(block, { ...context, chain }, id);
  const cumulativeDifficulty = chain.cumulativeDifficulty + verified.difficulty;
  return { id, timestamp: block.header.timestamp, cumulativeDifficulty, verified };
}

/** The chain with these headers on top, as far as the rules for headers need it. */
function withHeaders(chain: ChainView, headers: readonly JudgedHeader[], network: Network): ChainView {
  const top = headers.at(-1);
  if (top === undefined) return chain;
  const height = chain.height + headers.length;
  const recent = <T>(
    below: (count: number) => readonly T[],
    count: number,
    of: (header: JudgedHeader) => T,
  ) => {
    const own = headers.slice(Math.max(0, headers.length - count));
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
    blockId: (at) => headers[at - chain.height]?.id ?? chain.blockId(at),
  };
}

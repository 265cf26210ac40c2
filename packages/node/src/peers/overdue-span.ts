import type { Clock } from "@anulo/p2p";
import { keepsWholeBlock } from "@anulo/protocol";
import type { BlockQueue, Span } from "./block-queue.ts";
import type { PeerLink } from "./link.ts";
import type { NeededBlock } from "./needed-blocks.ts";

/** Milliseconds after which blocks are also requested from another peer: if the first peer stalls, and in any case. */
export const STALLED_MS = 5000;
const ANY_MS = 30_000;
const STALLED_SECONDS = 2;

/** Whether a peer, pruned or not, keeps this block whole. */
export function isWhole({ height, pruningSeed }: PeerLink, block: NeededBlock): boolean {
  return keepsWholeBlock(block.height, height, pruningSeed);
}

function isLate({ askedAt, link }: Span, clock: Clock): boolean {
  const age = clock.milliseconds() - askedAt;
  const silence = clock.seconds() - link.peer.traffic.lastReceived;
  return (age >= STALLED_MS && silence > STALLED_SECONDS) || age >= ANY_MS;
}

/**
 * The lowest span of this peer's chain that has not arrived, if another peer was asked for it long ago; spans of other
 * chains, which nobody may have, are passed over. Source: `should_download_next_span`.
 */
export function overdueSpan({ spans }: BlockQueue, link: PeerLink, clock: Clock): Span | undefined {
  const span = pendingSpan(spans, link);
  if (span === undefined || span.link === link || !isLate(span, clock)) return undefined;
  const isThere = span.blocks.every((block) => link.needed.hasAnnounced(block) && isWhole(link, block));
  return isThere ? span : undefined;
}

/** The lowest span of this peer's chain that has not arrived, whoever was asked for it. */
export function pendingSpan(spans: readonly Span[], { needed }: PeerLink): Span | undefined {
  return spans.find(({ fetched, blocks }) => fetched === undefined && needed.hasAnnounced(blocks[0]!));
}

import type { Clock } from "@anulo/p2p";
import { keepsWholeBlock } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import type { BlockQueue, Span } from "./block-queue.ts";
import type { PeerLink } from "./link.ts";
import type { NeededBlock } from "./needed-blocks.ts";

/** Milliseconds after which blocks are also requested from another peer: if the first peer stalls, and in any case. */
const STALLED_MS = 5000;
export const MORE_PEERS_MS = 30_000;
const STALLED_SECONDS = 2;

/** Whether a peer, pruned or not, keeps this block whole. */
export function isWhole({ height, pruningSeed }: PeerLink, block: NeededBlock): boolean {
  return keepsWholeBlock(block.height, height, pruningSeed);
}

/** The lowest span of this peer's chain that has not arrived, whoever was asked for it. */
export function pendingSpan(spans: readonly Span[], { needed }: PeerLink): Span | undefined {
  return spans.find(({ fetched, blocks }) => fetched === undefined && needed.hasAnnounced(blocks[0]!));
}

/** Finds what peers can be asked for because others do not send it. */
export interface MissingBlocks {
  /**
   * The lowest span of this peer's chain that has not arrived, if another peer was asked for it long ago; spans of other
   * chains, which nobody may have, are passed over.
   */
  overdueSpan(link: PeerLink): Span | undefined;
  /** Records that this peer is asked for such a span. */
  askAgain(span: Span, link: PeerLink): void;
  /**
   * Whether the chain of a peer should be requested again from the top of ours: it may have blocks that are missing and
   * that its announced ones do not contain any more.
   */
  isBelowWanted(link: PeerLink): boolean;
}

export interface MissingBlocksOptions {
  readonly read: ChainReader;
  readonly queue: BlockQueue;
  readonly clock: Clock;
}

/** Source: cryptonote_protocol_handler.inl `should_download_next_span`. */
export function createMissingBlocks({ read, queue, clock }: MissingBlocksOptions): MissingBlocks {
  const next = { height: -1, since: 0, asked: 0 };
  /**
   * Whether the next block of our chain may be asked of a further peer: each half minute of as many more as were asked
   * before, so that many peers who do not send it take little longer to get past than one.
   */
  const isNextOverdue = (): boolean => {
    const height = read.height();
    if (next.height !== height) Object.assign(next, { height, since: clock.milliseconds(), asked: 1 });
    return next.asked < 2 ** Math.floor((clock.milliseconds() - next.since) / MORE_PEERS_MS);
  };
  const isLate = ({ askedAt, link }: Span): boolean => {
    const age = clock.milliseconds() - askedAt;
    const silence = clock.seconds() - link.peer.traffic.lastReceived;
    return (age >= STALLED_MS && silence > STALLED_SECONDS) || age >= MORE_PEERS_MS;
  };
  const isNext = ({ start, blocks }: Span, height: number): boolean =>
    start <= height && height < start + blocks.length;
  const isOverdue = (span: Span): boolean => isLate(span) || (isNext(span, read.height()) && isNextOverdue());
  /** The lowest height whose block this peer was not going to be asked for, though later ones are there or it is late. */
  const missingHeight = (link: PeerLink): number | undefined => {
    const height = read.height();
    const gap = queue.gapFrom(height);
    const isHole = queue.spans.some(({ start }) => start > gap);
    if (isHole && (link.needed.at(0)?.height ?? Number.POSITIVE_INFINITY) > gap) return gap;
    const spans = queue.spans.filter((span) => isNext(span, height));
    const isStuck =
      spans.length > 0 &&
      spans.every((span) => span.fetched === undefined && span.link !== link && isOverdue(span));
    return isStuck && !link.needed.coversHeight(height) ? height : undefined;
  };
  return {
    overdueSpan(link) {
      const span = pendingSpan(queue.spans, link);
      if (span === undefined || span.link === link || !isOverdue(span)) return undefined;
      const isThere = span.blocks.every((block) => link.needed.hasAnnounced(block) && isWhole(link, block));
      return isThere ? span : undefined;
    },
    askAgain(span, link) {
      if (isNext(span, read.height())) next.asked++;
      span.link = link;
      span.askedAt = clock.milliseconds();
    },
    isBelowWanted(link) {
      const missing = missingHeight(link);
      if (missing === undefined || missing >= link.height) return false;
      if (!keepsWholeBlock(missing, link.height, link.pruningSeed)) return false;
      const now = clock.milliseconds();
      if (link.gapRequestedAt !== undefined && now - link.gapRequestedAt < STALLED_MS) return false;
      link.gapRequestedAt = now;
      return true;
    },
  };
}

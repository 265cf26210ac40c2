import { MAX_BLOCK_NUMBER, PRUNING_LOG_STRIPES, stripeOfBlock, stripeOfSeed } from "@anulo/protocol";
import type { BlockQueue } from "./block-queue.ts";
import type { PeerLink } from "./link.ts";

/** The facts that determine which stripe of a pruned chain new peers should keep. */
export interface SyncProgress {
  /** Length of our chain in blocks. */
  readonly height: number;
  /** Length of the peers' chains in blocks; undefined if unknown. */
  readonly target: number | undefined;
  readonly queue: BlockQueue;
  readonly links: readonly PeerLink[];
  readonly maxOut: number;
}

/** Height of the first block that is neither in the chain nor requested. */
function nextNeededHeight({ height, queue }: SyncProgress): number {
  let next = height;
  for (const { start, blocks } of queue.spans) {
    if (start > next) return next;
    next = Math.max(next, start + blocks.length);
  }
  return next;
}

/**
 * The stripe (1 to 8) that is needed next, or the one after it if enough peers keep that one already; 0: any. Source:
 * cryptonote_protocol_handler.inl `get_next_needed_pruning_stripe`.
 */
export function neededStripe(question: SyncProgress): number {
  const { target = MAX_BLOCK_NUMBER, links, maxOut } = question;
  const next = stripeOfBlock(nextNeededHeight(question), target);
  if (next === 0) return 0;
  const subsequent = 1 + (next % 2 ** PRUNING_LOG_STRIPES);
  let onNext = 0;
  let onSubsequent = 0;
  for (const { pruningSeed } of links) {
    const stripe = stripeOfSeed(pruningSeed);
    if (stripe === 0 || stripe === next) onNext++;
    else if (stripe === subsequent) onSubsequent++;
  }
  const isEnough = (onNext > maxOut / 2 && onSubsequent <= 1) || (onNext > 2 && onSubsequent === 0);
  return isEnough ? subsequent : next;
}

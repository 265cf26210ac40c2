import type { Clock } from "@anulo/p2p";
import type { ChainReader } from "@anulo/storage";
import type { BlockQueue } from "./block-queue.ts";
import type { PeerLink } from "./link.ts";
import { MORE_PEERS_MS } from "./missing-blocks.ts";

/** Whether our chain is as long as those of the peers. */
export interface SyncState {
  /** Length in blocks of the longest chain being fetched; 0 when none is. */
  readonly target: number;
  /** True once our chain was as long as the peers', as far as they have sent blocks. */
  readonly isSynchronized: boolean;
  /** Fetched blocks were added to our chain. */
  onAdded(): void;
  /** Compares our chain with those of the peers: to be called when one of them has nothing more to send. */
  check(): void;
  /** Once a second: no longer waits for blocks that nobody sends. */
  tick(): void;
}

export interface SyncStateOptions {
  readonly read: ChainReader;
  readonly queue: BlockQueue;
  readonly clock: Clock;
  links(): readonly PeerLink[];
  /** Whether to count as synchronized without any peer. */
  readonly isOffline: boolean;
  onSynchronized(): void;
}

/**
 * Milliseconds without a new block after which longer chains of peers count as invented, if the whole chain of another
 * peer is here: by then even the blocks that 64 peers withhold were asked of all others.
 */
const UNPROVEN_MS = 6 * MORE_PEERS_MS;

export function createSyncState(options: SyncStateOptions): SyncState {
  const { read, queue, clock, links, isOffline, onSynchronized } = options;
  let isSynchronized = isOffline;
  let progressAt = clock.milliseconds();
  const target = () => {
    const heights = links().map((link) => (link.state === "normal" ? 0 : link.height));
    return Math.max(0, ...heights);
  };
  const isAhead = () => queue.spans.length > 0 || read.height() < target();
  const isWholeHere = ({ state, peer }: PeerLink) =>
    state === "normal" && peer.zone === "public" && read.heightOf(peer.syncData.topId) !== undefined;
  const finish = () => {
    isSynchronized = true;
    onSynchronized();
  };
  return {
    get target() {
      return target();
    },
    get isSynchronized() {
      return isSynchronized;
    },
    onAdded() {
      progressAt = clock.milliseconds();
    },
    check() {
      if (!isAhead()) finish();
    },
    tick() {
      if (isSynchronized) return;
      const now = clock.milliseconds();
      const isClaimed = isAhead();
      if (!isClaimed) progressAt = now;
      if ((!isClaimed || now - progressAt >= UNPROVEN_MS) && links().some(isWholeHere)) finish();
    },
  };
}

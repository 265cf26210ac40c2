import type { RandomSource } from "@anulo/crypto";
import type { Clock } from "@anulo/p2p";
import { compareBytes } from "@anulo/protocol";
import { poisson } from "./chance.ts";
import type { PeerLink } from "./link.ts";

/** Transactions on their way to everybody: kept back per connection for a time of chance, then sent together. */
export interface FluffQueue {
  add(link: PeerLink, blobs: readonly Uint8Array[]): void;
  closed(link: PeerLink): void;
}

export interface FluffQueueOptions {
  readonly clock: Clock;
  readonly random: RandomSource;
  /** Sends transactions to a peer, all at once. */
  send(link: PeerLink, blobs: readonly Uint8Array[]): void;
}

/** Quarters of a second a transaction waits on average. Source: cryptonote_config.h, levin_notify.cpp. */
const WAIT_QUARTERS = { in: 20, out: 10 } as const;

interface PendingSend {
  readonly blobs: Uint8Array[];
  readonly cancel: () => void;
}

/** Starts empty. Source: levin_notify.cpp `fluff_notify`, `fluff_flush`. */
export function createFluffQueue({ clock, random, send }: FluffQueueOptions): FluffQueue {
  const queues = new Map<PeerLink, PendingSend>();
  const flush = (link: PeerLink) => {
    const blobs = queues.get(link)?.blobs ?? [];
    queues.delete(link);
    // Sorted, so that the order does not tell which came first.
    if (link.peer.isOpen) send(link, blobs.sort(compareBytes));
  };
  return {
    add(link, blobs) {
      const waiting = queues.get(link);
      if (waiting !== undefined) return void waiting.blobs.push(...blobs);
      const quarters = poisson(WAIT_QUARTERS[link.peer.direction], random);
      const cancel = clock.after(quarters * 250, () => flush(link));
      queues.set(link, { blobs: [...blobs], cancel });
    },
    closed(link) {
      queues.get(link)?.cancel();
      queues.delete(link);
    },
  };
}

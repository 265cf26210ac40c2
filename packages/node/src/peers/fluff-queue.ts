import type { RandomSource } from "@anulo/crypto";
import type { Clock } from "@anulo/p2p";
import { compareBytes } from "@anulo/protocol";
import { poisson } from "./chance.ts";
import type { PeerLink } from "./link.ts";

/** Transactions in the fluff phase: held back per connection for a random time, then sent together. */
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

/** Average number of quarters of a second that a transaction waits. Source: cryptonote_config.h, levin_notify.cpp. */
const WAIT_QUARTERS = { in: 20, out: 10 } as const;

interface PendingSend {
  readonly blobs: Uint8Array[];
  readonly cancel: () => void;
}

/** Creates an empty queue. Source: levin_notify.cpp `fluff_notify`, `fluff_flush`. */
export function createFluffQueue({ clock, random, send }: FluffQueueOptions): FluffQueue {
  const queues = new Map<PeerLink, PendingSend>();
  const flush = (link: PeerLink) => {
    const blobs = queues.get(link)?.blobs ?? [];
    queues.delete(link);
    // They are sorted, so that the order does not reveal which one arrived first.
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

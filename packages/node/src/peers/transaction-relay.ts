import type { RandomSource } from "@anulo/crypto";
import type { Clock } from "@anulo/p2p";
import type { RelayPhase } from "@anulo/storage";
import type { ChainParts } from "../chain/parts.ts";
import type { PoolEntry } from "../pool/entry.ts";
import { dueTransactions, markRelayed } from "../pool/relay-phase.ts";
import { poisson, randomBelow } from "./chance.ts";
import { createFluffQueue } from "./fluff-queue.ts";
import type { PeerLink } from "./link.ts";
import { createStemMap, type StemMap } from "./stem-map.ts";
import { transactionsMessage } from "./transactions-message.ts";

/** Relays transactions in a way that hides the node where they began: Dandelion++. */
export interface TransactionRelay {
  /** Relays waiting transactions, in the phase each is in; `source` is the peer that sent them. */
  relay(entries: readonly PoolEntry[], source?: PeerLink): void;
  /** Relays again what is due: its embargo ended, or it was not mined for a while. */
  relayDue(): void;
  closed(link: PeerLink): void;
  stop(): void;
}

export interface TransactionRelayOptions {
  readonly parts: ChainParts;
  readonly clock: Clock;
  readonly random: RandomSource;
  /** All connected peers. */
  links(): readonly PeerLink[];
  /** Pads every message to a multiple of 1 KiB. */
  readonly padTransactions: boolean;
  /** Receives errors that occur after the call that relayed has returned. */
  readonly onFault: (error: unknown) => void;
}

const MINUTE_MS = 60_000;
/** Source: cryptonote_config.h `CRYPTONOTE_DANDELIONPP_*`. */
const EPOCH = { leastMs: 10 * MINUTE_MS, rangeMs: 30_000 };
const FLUFF_PERCENT = 20;
/** Average number of seconds for which another node is expected to fluff a stem transaction, before we do. */
const EMBARGO_SECONDS = 39;

interface Epoch {
  readonly isFluffing: boolean;
  readonly stems: StemMap;
  readonly endsAt: number;
}

/** The phase in which transactions arrived determines how they are sent. */
const groups = ["local", "forward", "stem", "fluff"] as const satisfies readonly RelayPhase[];

function phaseOf({ row }: PoolEntry): RelayPhase {
  return row.keptByBlock ? "fluff" : row.phase;
}

/** Creates the relay; the first epoch begins with the first transaction. Source: levin_notify.cpp. */
export function createTransactionRelay(options: TransactionRelayOptions): TransactionRelay {
  const { parts, clock, random, links, padTransactions, onFault } = options;
  let epoch: Epoch | undefined;
  const send = (link: PeerLink, blobs: readonly Uint8Array[], isFluff: boolean): boolean => {
    const { notification, payload } = transactionsMessage(blobs, { isFluff, isPadded: padTransactions });
    return link.peer.notify(notification, payload);
  };
  const queue = createFluffQueue({ clock, random, send: (link, blobs) => void send(link, blobs, true) });
  const stemCandidates = () => {
    const height = parts.store.read.height();
    const able = links().filter(({ peer, height: theirs }) => {
      return peer.direction === "out" && peer.zone === "public" && theirs >= height;
    });
    return able.map(({ key }) => key);
  };
  const currentEpoch = (): Epoch => {
    const now = clock.milliseconds();
    if (epoch === undefined || now >= epoch.endsAt) {
      epoch = {
        isFluffing: randomBelow(100, random) < FLUFF_PERCENT,
        stems: createStemMap(stemCandidates(), random),
        endsAt: now + EPOCH.leastMs + randomBelow(EPOCH.rangeMs, random),
      };
    }
    return epoch;
  };
  const blobsOf = (entries: readonly PoolEntry[]) => entries.map(({ row }) => row.blob);
  const mark = (entries: readonly PoolEntry[], phase: RelayPhase) => {
    const embargoEnd = () => parts.now() + poisson(EMBARGO_SECONDS, random);
    const relayed = entries.map(({ key }) => ({
      key,
      ...(phase === "stem" && { embargoEnd: embargoEnd() }),
    }));
    void markRelayed(parts, relayed, phase).catch(onFault);
  };
  const fluff = (entries: readonly PoolEntry[], source: PeerLink | undefined) => {
    mark(entries, "fluff");
    for (const link of links()) {
      if (link !== source && link.peer.zone === "public") queue.add(link, blobsOf(entries));
    }
  };
  /** Sends to one peer, or to all in an epoch of fluff; what is our own goes to one in each, which hides us behind it. */
  const stem = (entries: readonly PoolEntry[], source: PeerLink | "ourselves" | undefined) => {
    const { isFluffing, stems } = currentEpoch();
    const sender = source === "ourselves" ? undefined : source;
    const isByStem = source === "ourselves" || !isFluffing;
    for (let attempt = 0; attempt < 2 && isByStem; attempt++) {
      const out = stems.stemOf(sender?.key ?? "");
      const link = links().find(({ key }) => key === out);
      if (link !== undefined && send(link, blobsOf(entries), false)) return mark(entries, "stem");
      stems.update(stemCandidates());
    }
    fluff(entries, sender);
  };
  /** Outgoing connections of an anonymity network, over which our own transactions are sent first. */
  const anonymityLinks = (): PeerLink[] => {
    const ways = links().filter(({ peer }) => peer.direction === "out" && peer.zone !== "public");
    const isI2p = ways.some(({ peer }) => peer.zone === "i2p");
    return ways.filter(({ peer }) => (peer.zone === "i2p") === isI2p);
  };
  const relayOwn = (entries: readonly PoolEntry[]) => {
    const ways = anonymityLinks();
    if (ways.length === 0) return stem(entries, "ourselves");
    mark(entries, "local");
    for (const link of ways) queue.add(link, blobsOf(entries));
  };
  const relayGroup = (phase: RelayPhase, entries: readonly PoolEntry[], source: PeerLink | undefined) => {
    if (entries.length === 0) return;
    if (phase === "fluff") fluff(entries, source);
    else if (phase === "local") relayOwn(entries);
    else stem(entries, source);
  };
  const relayAll = (entries: readonly PoolEntry[], source?: PeerLink) => {
    for (const phase of groups) {
      relayGroup(
        phase,
        entries.filter((entry) => phaseOf(entry) === phase),
        source,
      );
    }
  };
  return {
    relay: relayAll,
    relayDue() {
      const due = dueTransactions(parts);
      const overdue = due.filter((entry) => phaseOf(entry) === "stem");
      if (overdue.length > 0) fluff(overdue, undefined);
      relayAll(due.filter((entry) => phaseOf(entry) !== "stem"));
    },
    closed: (link) => queue.closed(link),
    stop() {
      for (const link of links()) queue.closed(link);
    },
  };
}

import type { ByteReservation } from "@anulo/limits";
import type { Peer } from "@anulo/p2p";
import { NeededBlocks } from "./needed-blocks.ts";

/** What a connection is busy with, as RPC tells it. Source: connection_context.h `state`. */
export type LinkState = "synchronizing" | "standby" | "normal";

/** A question a peer has not answered yet. */
export type PendingRequest =
  /** For ids of the chain that follow one of these (32 bytes each), at most this high. */
  | {
      readonly what: "chain";
      readonly at: number;
      readonly ids: readonly Uint8Array[];
      readonly overlap: number;
    }
  /** For the blocks with these ids (hexadecimal), the first of them at this height. */
  | {
      readonly what: "blocks";
      readonly at: number;
      readonly start: number;
      readonly keys: readonly string[];
    };

/** A connected peer with what we know and want of it. */
export interface PeerLink {
  readonly peer: Peer;
  /** The connection's id in hexadecimal. */
  readonly key: string;
  state: LinkState;
  /** Blocks of the peer's chain, as it told last. */
  height: number;
  /** Which part of the chain it keeps; 0: all. */
  pruningSeed: number;
  /** Falls with each oddity; at -2 the peer is dropped. */
  score: number;
  pending: PendingRequest | undefined;
  /** Blocks of its chain that we lack, oldest first. */
  needed: NeededBlocks;
  /** The memory of `needed`, as it was told. */
  readonly neededMemory: ByteReservation;
  /** The newest block (32 bytes) of its chain that it told us of, with its height. */
  newestAnnounced: { readonly id: Uint8Array; readonly height: number } | undefined;
  /** Whether it sent a new block while its chain was being fetched, of which the fetched part may not know. */
  hasNewBlock: boolean;
  /** When (milliseconds) it was last asked for its chain because blocks before others are missing. */
  gapRequestedAt: number | undefined;
  /** Transactions of it that were refused. */
  readonly refusals: RefusalCount;
  /** The block (id in hexadecimal) of which it was asked for transactions. */
  missing: string | undefined;
}

/** Counts refusals that alone are no fault. */
export interface RefusalCount {
  /** Counts one more, at a moment in seconds; false once they are too many. */
  add(seconds: number): boolean;
}

/**
 * Refusals in a row that an honest peer may cause, and how many a second are forgotten: it sends what it took itself,
 * which breaks our rules where a double spend reached us by another way, or a block came between.
 */
const MAX_REFUSALS = 100;
const REFUSALS_FORGOTTEN_PER_SECOND = 1;

function createRefusalCount(): RefusalCount {
  let count = 0;
  let notedAt = 0;
  return {
    add(seconds) {
      const forgotten = Math.max(0, seconds - notedAt) * REFUSALS_FORGOTTEN_PER_SECOND;
      count = Math.max(0, count - forgotten) + 1;
      notedAt = seconds;
      return count <= MAX_REFUSALS;
    },
  };
}

/** Oddities a peer may show. Source: cryptonote_protocol_handler.inl `DROP_PEERS_ON_SCORE`. */
const MIN_SCORE = -2;

/** Starts with what the handshake told. */
export function createLink(peer: Peer): PeerLink {
  const { currentHeight, pruningSeed } = peer.syncData;
  return {
    peer,
    key: Buffer.from(peer.connectionId).toString("hex"),
    state: "normal",
    height: currentHeight,
    pruningSeed,
    score: 0,
    pending: undefined,
    needed: NeededBlocks.none(),
    neededMemory: peer.reserve(0)!,
    newestAnnounced: undefined,
    hasNewBlock: false,
    gapRequestedAt: undefined,
    refusals: createRefusalCount(),
    missing: undefined,
  };
}

/** Notes an oddity that alone is no fault; too many of them are one. Source: `hit_score`. */
function hitScore(link: PeerLink, points = 1): void {
  link.score -= points;
  if (link.score <= MIN_SCORE) link.peer.drop("odd too often", { score: 5 });
}

/** Takes the height a peer tells; one below what it told before is odd. */
export function noteHeight(link: PeerLink, height: number): void {
  if (height < link.height) hitScore(link);
  link.height = height;
}

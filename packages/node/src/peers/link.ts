import type { Peer } from "@anulo/p2p";
import type { SuppliedTransactions } from "../chain/incoming-block.ts";

/** What a connection is busy with, as RPC tells it. Source: connection_context.h `state`. */
export type LinkState = "synchronizing" | "standby" | "normal";

/** A question a peer has not answered yet. */
export type Asked =
  /** For ids of the chain that follow a block at most this high. */
  | { readonly what: "chain"; readonly at: number; readonly overlap: number }
  /** For the blocks with these ids (hexadecimal), the first of them at this height. */
  | {
      readonly what: "blocks";
      readonly at: number;
      readonly start: number;
      readonly keys: readonly string[];
    };

/** A block to fetch: id (32 bytes and hexadecimal), height, weight in bytes (0: not told). */
export interface NeededBlock {
  readonly id: Uint8Array;
  readonly key: string;
  readonly height: number;
  readonly weight: number;
}

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
  asked: Asked | undefined;
  /** Blocks of its chain that we lack, oldest first. */
  needed: NeededBlock[];
  /** The newest block (32 bytes) of its chain that it told us of, with its height. */
  newestTold: { readonly id: Uint8Array; readonly height: number } | undefined;
  /** When (milliseconds) it was last asked for its chain because blocks before others are missing. */
  holeAskedAt: number | undefined;
  /** A block (id in hexadecimal) it was asked transactions of, and those that came before. */
  missing: { readonly block: string; readonly transactions: SuppliedTransactions } | undefined;
}

/** Oddities a peer may show. Source: cryptonote_protocol_handler.inl `DROP_PEERS_ON_SCORE`. */
const LOWEST_SCORE = -2;

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
    asked: undefined,
    needed: [],
    newestTold: undefined,
    holeAskedAt: undefined,
    missing: undefined,
  };
}

/** Notes an oddity that alone is no fault; too many of them are one. Source: `hit_score`. */
function hitScore(link: PeerLink, points = 1): void {
  link.score -= points;
  if (link.score <= LOWEST_SCORE) link.peer.drop("odd too often", { score: 5 });
}

/** Takes the height a peer tells; one below what it told before is odd. */
export function noteHeight(link: PeerLink, height: number): void {
  if (height < link.height) hitScore(link);
  link.height = height;
}

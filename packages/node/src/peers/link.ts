import type { ByteReservation } from "@anulo/limits";
import type { Peer } from "@anulo/p2p";
import type { ChainParts } from "../chain/parts.ts";
import { NeededBlocks } from "./needed-blocks.ts";

/** The state of a connection, as RPC returns it. Source: connection_context.h `state`. */
export type LinkState = "synchronizing" | "standby" | "normal";

/** A request that a peer has not answered yet. */
export type PendingRequest =
  /** For ids of the chain that follow one of these (32 bytes each), starting at most at this height. */
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

/** A connected peer with what we know about it and need from it. */
export interface PeerLink {
  readonly peer: Peer;
  /** The connection's id in hexadecimal. */
  readonly key: string;
  state: LinkState;
  /** Length in blocks of the peer's chain, as it was sent last. */
  height: number;
  /** Which part of the chain the peer keeps; 0: all. */
  pruningSeed: number;
  /** Decreases with each irregularity; at -2 the peer is dropped. */
  score: number;
  pending: PendingRequest | undefined;
  /** Blocks of its chain that we do not have, oldest first. */
  needed: NeededBlocks;
  /** The reserved memory of `needed`. */
  readonly neededMemory: ByteReservation;
  /** The newest block (32 bytes) of its chain that it announced, with its height. */
  newestAnnounced: { readonly id: Uint8Array; readonly height: number } | undefined;
  /** Whether it sent a new block while its chain was being fetched, which may not contain that block yet. */
  hasNewBlock: boolean;
  /** When (milliseconds) its chain was last requested because blocks below fetched ones are missing. */
  gapRequestedAt: number | undefined;
  /** Counts transactions of it that were refused. */
  readonly refusals: RefusalCount;
  /** The block (id in hexadecimal) whose missing transactions, by their indices in it, were requested from it. */
  missing: { readonly key: string; readonly indices: readonly number[] } | undefined;
}

/** Counts refusals, which are no fault as long as they are few. */
export interface RefusalCount {
  /** Counts one more at a time in seconds; returns false once there are too many. */
  add(seconds: number): boolean;
}

/**
 * Number of consecutive refusals that an honest peer may cause, and how many per second are forgotten: it sends what it
 * accepted itself, which breaks our rules where we received the other one of two double spends, or a block arrived in
 * between.
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

/** Lowest score that a peer may have. Source: cryptonote_protocol_handler.inl `DROP_PEERS_ON_SCORE`. */
const MIN_SCORE = -2;

/** Creates the link with the data of the handshake. */
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

/** Counts an irregularity that is no fault by itself; too many of them are one. Source: `hit_score`. */
function hitScore(link: PeerLink, points = 1): void {
  link.score -= points;
  if (link.score <= MIN_SCORE) link.peer.drop("odd too often", { score: 5 });
}

/** Records the height that a peer sent; a decrease is irregular. */
export function noteHeight(link: PeerLink, height: number): void {
  if (height < link.height) hitScore(link);
  link.height = height;
}

/**
 * Returns parts whose proofs and attempts are charged to the peer as its work. To be called while a message is handled,
 * before anything is awaited.
 */
export function chargedTo({ peer }: PeerLink, parts: ChainParts): ChainParts {
  const { onWork } = peer.slicing;
  return onWork === undefined ? parts : { ...parts, proofs: parts.proofs.chargedTo(onWork) };
}

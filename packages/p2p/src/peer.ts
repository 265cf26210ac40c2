import type { ByteReservation, SliceOptions } from "@anulo/limits";
import type { PeerAddress, Zone } from "./address.ts";
import type { Notification } from "./notification.ts";

/** What nodes send each other about their chains, in handshakes and timed syncs. */
export interface CoreSyncData {
  /** Blocks of the chain: height of the top block + 1. */
  readonly currentHeight: number;
  /** 32 bytes. */
  readonly topId: Uint8Array;
  /** Hard fork version of the top block; 0 if it was not sent. */
  readonly topVersion: number;
  /** 128 bits. */
  readonly cumulativeDifficulty: bigint;
  /** Which part of the chain a pruned node keeps; 0: the whole chain. */
  readonly pruningSeed: number;
}

/** The cost of a fault: points (more than 10 ban the address for a day), or an immediate ban in seconds. */
export interface Blame {
  readonly score?: number;
  readonly banSeconds?: number;
}

/** A peer broke the protocol: it is dropped and blamed. Any other error that a handler throws is a bug of ours. */
export class PeerFault extends Error {
  override name = "PeerFault";
  readonly blame: Blame;

  constructor(reason: string, blame: Blame = {}) {
    super(reason);
    this.blame = blame;
  }
}

/** Bytes received and sent over a connection. */
export interface Traffic {
  readonly received: number;
  readonly sent: number;
  /** Unix seconds at which bytes were last received; before any, the connection's start. */
  readonly lastReceived: number;
  readonly lastSent: number;
  /** Bytes per second, over the last seconds. */
  readonly receiveRate: number;
  readonly sendRate: number;
}

/** A connected node whose handshake is complete. */
export interface Peer {
  /** A random number that the peer chose; 1 or 0 where it hides it. */
  readonly peerId: bigint;
  /** 16 random bytes, known only to us. */
  readonly connectionId: Uint8Array;
  readonly address: PeerAddress;
  readonly direction: "in" | "out";
  readonly zone: Zone;
  /** The chain data the peer sent last. */
  readonly syncData: CoreSyncData;
  /** Bit 0: the peer supports fluffy blocks. */
  readonly supportFlags: number;
  /** Port of its public RPC; 0: none. */
  readonly rpcPort: number;
  /** Unix seconds. */
  readonly since: number;
  readonly traffic: Traffic;
  /** Bytes queued for the peer that it has not read yet. */
  readonly queuedBytes: number;
  /**
   * How work for this peer is sliced: its processor time is charged to the peer, and each further slice waits for the
   * peer's turn. To be read while a message is handled, before anything is awaited.
   */
  readonly slicing: SliceOptions;
  /**
   * Resolves once at most `maxBytes` are queued, or the connection is closed; returns undefined if that is so already.
   */
  unread(maxBytes: number): Promise<void> | undefined;
  /**
   * Reserves memory for bytes of this peer that must wait, in the budget that all peers share with their frames and
   * queues; connections that use more may be closed for it. Returns undefined if this peer uses too much already. The
   * caller releases the reservation, even after the connection is closed.
   */
  reserve(bytes: number): ByteReservation | undefined;
  /** False once the connection is dropped or closed. */
  readonly isOpen: boolean;
  /** Queues a message. Returns false if the connection is closed, or its queue is full and it is being closed. */
  notify<T>(notification: Notification<T>, payload: T): boolean;
  /** Queues bytes of `encodeNotification`, `noiseMessage` or `fragmentMessage`. */
  send(message: Uint8Array): boolean;
  /** Closes the connection. */
  drop(reason: string, blame?: Blame): void;
}

import type { ByteReservation, SliceOptions } from "@anulo/limits";
import type { PeerAddress, Zone } from "./address.ts";
import type { Notification } from "./notification.ts";

/** What nodes tell each other about their chains, in handshakes and timed syncs. */
export interface CoreSyncData {
  /** Blocks of the chain: height of the top block + 1. */
  readonly currentHeight: number;
  /** 32 bytes. */
  readonly topId: Uint8Array;
  /** Hard fork version of the top block; 0: not told. */
  readonly topVersion: number;
  /** 128 bits. */
  readonly cumulativeDifficulty: bigint;
  /** Which part of the chain a pruned node keeps; 0: all of it. */
  readonly pruningSeed: number;
}

/** What misbehaving costs: points (10 ban the address for a day), or a ban at once, in seconds. */
export interface Blame {
  readonly score?: number;
  readonly banSeconds?: number;
}

/** A peer did what peers must not: it is dropped, and blamed as said. Anything else a handler throws is a bug of ours. */
export class PeerFault extends Error {
  override name = "PeerFault";
  readonly blame: Blame;

  constructor(reason: string, blame: Blame = {}) {
    super(reason);
    this.blame = blame;
  }
}

/** Bytes that came and went over a connection. */
export interface Traffic {
  readonly received: number;
  readonly sent: number;
  /** Unix seconds of the last bytes; of the connection's start before any. */
  readonly lastReceived: number;
  readonly lastSent: number;
  /** Bytes per second, over the last seconds. */
  readonly receiveRate: number;
  readonly sendRate: number;
}

/** A connected node that shook hands. */
export interface Peer {
  /** A random number the peer chose; 1 or 0 where it does not tell. */
  readonly peerId: bigint;
  /** 16 bytes, random, ours alone. */
  readonly connectionId: Uint8Array;
  readonly address: PeerAddress;
  readonly direction: "in" | "out";
  readonly zone: Zone;
  /** The last it told. */
  readonly syncData: CoreSyncData;
  /** 1: understands fluffy blocks. */
  readonly supportFlags: number;
  /** Port of its public RPC; 0: none. */
  readonly rpcPort: number;
  /** Unix seconds. */
  readonly since: number;
  readonly traffic: Traffic;
  /** Bytes queued for it that it did not take yet. */
  readonly queuedBytes: number;
  /**
   * How long work for this peer is sliced: its processor time is charged to the peer, and each further slice waits
   * for the peer's turn. To be read while a message is taken, before anything is awaited.
   */
  readonly slicing: SliceOptions;
  /** Resolves once at most `maxBytes` are queued, or the connection is gone; undefined where it is so already. */
  unread(maxBytes: number): Promise<void> | undefined;
  /**
   * Reserves memory for bytes of this peer that must wait, in the budget that all peers share with their frames and
   * queues; for it, connections that hold more may be closed. Undefined: too much is held for this peer already.
   * Whoever reserves releases, also after the connection is gone.
   */
  reserve(bytes: number): ByteReservation | undefined;
  /** False once it is dropped or gone. */
  readonly isOpen: boolean;
  /** Queues a message. False: the connection is closed, or its queue is full and it is being closed. */
  notify<T>(notification: Notification<T>, payload: T): boolean;
  /** Queues bytes of `encodeNotification`, `noiseMessage` or `fragmentMessage`. */
  send(message: Uint8Array): boolean;
  /** Closes the connection. */
  drop(reason: string, blame?: Blame): void;
}

import { randomBytes } from "node:crypto";
import type { RandomSource } from "@anulo/crypto";
import {
  type Clock,
  type CoreSyncData,
  handle,
  type NotificationHandler,
  type Peer,
  PeerFault,
  systemClock,
} from "@anulo/p2p";
import { hardForkAt, toHex } from "@anulo/protocol";
import { type Logger, unreadLog } from "@anulo/rpc";
import type { ChainEvent, Events } from "../chain/events.ts";
import type { ChainParts } from "../chain/parts.ts";
import { isPublic } from "../pool/entry.ts";
import { ChainSync } from "./chain-sync.ts";
import { checkSyncData } from "./check-sync-data.ts";
import { createLink, type LinkState, type PeerLink } from "./link.ts";
import { messages } from "./messages.ts";
import { createNewBlocks, type NewBlocks } from "./new-blocks.ts";
import { handleTransactions } from "./new-transactions.ts";
import { createProgress } from "./progress.ts";
import { relayBlock } from "./relay-blocks.ts";
import { createServer } from "./serve.ts";
import { createTransactionRelay, type TransactionRelay } from "./transaction-relay.ts";

export interface PeerProtocolOptions {
  readonly parts: ChainParts;
  readonly events: Events;
  /** Never connects to peers. */
  readonly isOffline: boolean;
  /** Fetches no blocks from peers. */
  readonly noSync?: boolean | undefined;
  /** Pruning seed: which part of the chain is kept whole; by default all. */
  readonly pruningSeed?: (() => number) | undefined;
  readonly padTransactions?: boolean | undefined;
  readonly maxQueueBytes?: number | undefined;
  readonly blocksPerRequest?: number | undefined;
  readonly onSynchronized?: (() => void) | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: RandomSource | undefined;
  readonly log?: Logger | undefined;
}

const TICK_MS = 1000;
/** Seconds between two checks for transactions to be relayed again. */
const RELAY_TICKS = 5;

/** The node's protocol with peers about chain and transactions: the functions that a peer network calls. */
export class PeerProtocol {
  readonly sync: ChainSync;
  readonly notifications: readonly NotificationHandler[];
  readonly #parts: ChainParts;
  readonly #links = new Map<string, PeerLink>();
  readonly #options: PeerProtocolOptions;
  readonly #relay: TransactionRelay;
  readonly #newBlocks: NewBlocks;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #random: RandomSource;
  #ends: (() => void)[] = [];
  #cancelTick = () => {};
  #wantsComplement = true;
  #ticks = 0;

  constructor(options: PeerProtocolOptions) {
    const { parts, clock = systemClock, random = randomBytes, log = unreadLog() } = options;
    const links = () => this.links;
    this.#options = options;
    this.#parts = parts;
    this.#clock = clock;
    this.#log = log;
    this.#random = random;
    const progress = createProgress(clock, log);
    this.sync = new ChainSync({
      parts,
      clock,
      links,
      isOffline: options.isOffline,
      noSync: options.noSync,
      maxQueueBytes: options.maxQueueBytes,
      blocksPerRequest: options.blocksPerRequest,
      onProgress: progress.advance,
      onSynchronized: () => {
        progress.finish(parts.store.read.height());
        options.onSynchronized?.();
        this.#requestComplement();
      },
      onFault: (error) => log.error("blocks could not be added", { error }),
    });
    const padTransactions = options.padTransactions ?? false;
    this.#relay = createTransactionRelay({
      parts,
      clock,
      random,
      links,
      padTransactions,
      onFault: (error) => log.error("what was told could not be noted", { error }),
    });
    this.#newBlocks = createNewBlocks({ parts, sync: this.sync, links });
    this.notifications = this.#handlers();
  }

  /** All connected peers. */
  get links(): readonly PeerLink[] {
    return [...this.#links.values()];
  }

  /** Starts to check peers and to relay events to them. */
  start(): void {
    this.#ends = [this.#options.events.listen((event) => this.#onEventSafely(event))];
    this.#scheduleTick();
  }

  /** Resolves when no block is being added any more. */
  async stop(): Promise<void> {
    for (const end of this.#ends) end();
    this.#cancelTick();
    this.#relay.stop();
    await this.sync.stop();
  }

  /** Our chain data, as it is sent to peers. */
  syncData(): CoreSyncData {
    const { state, network } = this.#parts;
    const { height, topId, cumulativeDifficulty } = state.view();
    return {
      currentHeight: height,
      topId,
      topVersion: hardForkAt(network, height - 1),
      cumulativeDifficulty,
      pruningSeed: this.#pruningSeed(),
    };
  }

  /** State of a connection; undefined before its handshake. */
  stateOf(peer: Peer): LinkState | undefined {
    return this.#links.get(toHex(peer.connectionId))?.state;
  }

  /** Compares the chain data that a peer sends with ours, in its handshake and later; throws PeerFault. */
  onSyncData(peer: Peer, data: CoreSyncData): void {
    const link = this.#links.get(toHex(peer.connectionId));
    if (link === undefined) checkSyncData(this.#parts.network, data);
    else this.sync.consider(link, data);
  }

  onConnected(peer: Peer): void {
    const link = createLink(peer);
    this.#links.set(link.key, link);
    // The peer must have our side of the handshake before it gets a request.
    this.#clock.after(0, () => {
      if (peer.isOpen) this.#guard(peer, () => this.sync.consider(link, peer.syncData));
    });
  }

  onClosed(peer: Peer): void {
    const link = this.#links.get(toHex(peer.connectionId));
    if (link === undefined) return;
    this.#links.delete(link.key);
    this.sync.closed(link);
    this.#relay.closed(link);
    if (this.#links.size === 0) this.#wantsComplement = true;
  }

  /** Blames the peer for a fault of its own; a bug of ours is logged. */
  #guard(peer: Peer, run: () => void): void {
    try {
      run();
    } catch (error) {
      if (error instanceof PeerFault) peer.drop(error.message, error.blame);
      else this.#log.error("a peer's data could not be handled", { error });
    }
  }

  #pruningSeed(): number {
    return this.#options.pruningSeed?.() ?? 0;
  }

  #linkOf(peer: Peer): PeerLink {
    const link = this.#links.get(toHex(peer.connectionId));
    if (link === undefined) throw new PeerFault("speaks before the handshake");
    return link;
  }

  #handlers(): NotificationHandler[] {
    const server = createServer(this.#parts, () => this.#pruningSeed());
    const { newBlock, newFluffyBlock, newTransactions, requestBlocks, blocks } = messages;
    const { requestChain, chain, requestMissing, poolComplement } = messages;
    return [
      handle(newBlock, (peer, body) => this.#newBlocks.onWhole(this.#linkOf(peer), body)),
      handle(newTransactions, (peer, body) => {
        const link = this.#linkOf(peer);
        if (link.state !== "normal" || !this.sync.isSynchronized) return;
        const options = { parts: this.#parts, relay: this.#relay, random: this.#random };
        return handleTransactions(options, link, body);
      }),
      handle(requestBlocks, (peer, body) => server.blocks(this.#linkOf(peer), body)),
      handle(blocks, (peer, body) => this.sync.onBlocks(this.#linkOf(peer), body), {
        isExpected: (peer) => this.#linkOf(peer).pending?.what === "blocks",
      }),
      handle(requestChain, (peer, body) => server.chain(this.#linkOf(peer), body)),
      handle(chain, (peer, body) => this.sync.onChain(this.#linkOf(peer), body), {
        isExpected: (peer) => this.#linkOf(peer).pending?.what === "chain",
      }),
      handle(newFluffyBlock, (peer, body) => this.#newBlocks.onFluffy(this.#linkOf(peer), body)),
      handle(requestMissing, (peer, body) => server.missing(this.#linkOf(peer), body)),
      handle(poolComplement, (peer, body) => server.complement(this.#linkOf(peer), body)),
    ];
  }

  /** An error while relaying must not reach the code that caused the event. */
  #onEventSafely(event: ChainEvent): void {
    try {
      this.#onEvent(event);
    } catch (error) {
      this.#log.error("peers could not be told", { error });
    }
  }

  #onEvent(event: ChainEvent): void {
    const { read } = this.#parts.store;
    if (event.type === "blockAdded") {
      if (!this.#cameFromPeers(event.id)) this.#relayBlock(event.height);
    } else if (event.type === "reorganised") {
      const height = read.height() - 1;
      if (!this.#cameFromPeers(read.blockInfo(height)!.hash)) this.#relayBlock(height);
    } else if (event.type === "transactionAdded" || event.type === "transactionReleased") {
      const entry = this.#parts.pool.get(toHex(event.id));
      const isOurs = entry !== undefined && !entry.row.doNotRelay && entry.row.phase === "local";
      if (isOurs || (entry !== undefined && event.type === "transactionReleased")) this.#relay.relay([entry]);
    }
  }

  /** Whether a block (id, 32 bytes) that was just added came from peers: then it is relayed elsewhere. */
  #cameFromPeers(id: Uint8Array): boolean {
    const key = toHex(id);
    return this.sync.queue.has(key) || this.#newBlocks.isExpected(key);
  }

  #relayBlock(height: number): void {
    const others = this.links.filter(({ peer }) => peer.zone === "public");
    if (others.length > 0) relayBlock(this.#parts.store.read, height, others);
  }

  /** Requests from one peer the waiting transactions that we do not have, once after we have synchronised. */
  #requestComplement(): void {
    const link = this.links.find(({ peer }) => peer.isOpen);
    if (link === undefined || !this.#wantsComplement) return;
    this.#wantsComplement = false;
    const publicEntries = this.#parts.pool.entries().filter(({ row }) => isPublic(row));
    link.peer.notify(messages.poolComplement, { hashes: Buffer.concat(publicEntries.map(({ id }) => id)) });
  }

  #scheduleTick(): void {
    this.#cancelTick = this.#clock.after(TICK_MS, () => {
      this.#scheduleTick();
      try {
        this.sync.tick();
        this.#ticks++;
        if (this.#ticks % RELAY_TICKS === 0) this.#relay.relayDue();
      } catch (error) {
        this.#log.error("peers could not be looked after", { error });
      }
    });
  }
}

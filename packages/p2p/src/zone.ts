import { addressBlock } from "@anulo/limits";
import { formatPeerAddress, isSameAddress, type PeerAddress, type Zone, zoneOf } from "./address.ts";
import { canReachBack, PING_TIMEOUT_MS } from "./back-ping.ts";
import type { Bans } from "./bans.ts";
import { RequestFailed, type SharedLines } from "./connection/link.ts";
import { DialFailed } from "./connection/tcp.ts";
import type { Transport } from "./connection/transport.ts";
import type { Faults } from "./faults.ts";
import type { NotificationHandler } from "./messages.ts";
import type { Log } from "./options.ts";
import { type Blame, type CoreSyncData, type Peer, PeerFault } from "./peer.ts";
import { entryOf, PeerLists } from "./peer-lists.ts";
import type { RandomSource } from "./random.ts";
import { RecentMap } from "./recent-map.ts";
import { MAX_PEERS_SENT, type NodeData, type PeerEntry } from "./records.ts";
import { Session, type SessionHost } from "./session.ts";

/** What the zones of one network share. */
export interface NetworkContext {
  readonly lines: SharedLines;
  readonly handlers: ReadonlyMap<number, NotificationHandler>;
  readonly bans: Bans;
  readonly faults: Faults;
  readonly log: Log;
  readonly random: RandomSource;
  readonly allowLocal: boolean;
  readonly ipv6: boolean;
  /** Milliseconds between two timed syncs with a peer. */
  readonly timedSyncIntervalMs: number;
  syncData(): CoreSyncData;
  onSyncData(peer: Peer, data: CoreSyncData): void;
  onConnected(peer: Peer): void;
  onClosed(peer: Peer): void;
  /** Called after any connection closed. */
  count(session: Session): void;
}

/** What is particular to a zone. */
export interface ZoneOptions {
  readonly zone: Zone;
  nodeData(): NodeData;
  maxOut: number;
  maxIn: number;
  /** Maximum number of accepted connections, before and after their handshake. */
  readonly maxAccepted: number;
  /** Maximum number of connections of one host, or of its 64 bits of IPv6; undefined where hosts are not known. */
  readonly maxPerIp: number | undefined;
  /** Whether an incoming peer can be connected to in return. */
  readonly canPingBack: boolean;
  /** Our own address, in an anonymity zone. */
  readonly ourAddress?: PeerAddress;
  readonly dial?: (address: PeerAddress, timeoutMs?: number) => Promise<Transport>;
}

/** Maximum number of connections whose handshake is not complete: of all, and of one host. */
const MAX_STRANGERS = 64;
const MAX_STRANGERS_PER_HOST = 8;
/** The part of all accepted connections that may be without a handshake, where the maximum above is more. */
const STRANGERS_SHARE = 1 / 4;
const MAX_BACK_PINGS = 8;
/** Source: cryptonote_config.h `P2P_FAILED_ADDR_FORGET_SECONDS`. */
const FAILED_SECONDS = 3600;
/** If no node is reached, our own connection has failed: addresses are tried again this soon. */
const FAILED_SECONDS_ALONE = 60;
const MAX_SENT_PEERS = 10_000;

/** The connections of one zone: all of the public network, or of Tor, or of I2P. */
export class PeerZone implements SessionHost {
  readonly #context: NetworkContext;
  readonly options: ZoneOptions;
  readonly lists: PeerLists;
  readonly handlers: ReadonlyMap<number, NotificationHandler>;
  readonly sessions = new Set<Session>();
  /** Addresses to which connections are being opened. */
  readonly dialing = new Map<string, PeerAddress>();
  readonly #connected = new Set<Session>();
  readonly #failed = new RecentMap<string, number>(10_000);
  #backPings = 0;
  #isStopped = false;

  constructor(commons: NetworkContext, options: ZoneOptions) {
    this.#context = commons;
    this.options = options;
    this.handlers = commons.handlers;
    this.lists = new PeerLists({ random: commons.random, allowLocal: commons.allowLocal });
  }

  get zone(): Zone {
    return this.options.zone;
  }

  get lines(): SharedLines {
    return this.#context.lines;
  }

  get log(): Log {
    return this.#context.log;
  }

  get timedSyncIntervalMs(): number {
    return this.#context.timedSyncIntervalMs;
  }

  get random(): RandomSource {
    return this.#context.random;
  }

  /** Sessions whose handshake is complete and that were accepted. */
  get peers(): Session[] {
    return [...this.#connected];
  }

  peersOf(direction: "in" | "out"): Session[] {
    return this.peers.filter((peer) => peer.direction === direction);
  }

  /** Whether a peer with this address has this id: any node can claim any id. */
  hasPeer(host: string, id: bigint): boolean {
    for (const peer of this.#connected) if (peer.peerId === id && peer.address.host === host) return true;
    return false;
  }

  stop(): void {
    this.#isStopped = true;
    for (const session of this.sessions) session.drop("the node stops");
  }

  tick(): void {
    for (const session of this.sessions) session.tick();
  }

  /** Closes connections of a direction beyond `max`, the newest first. */
  shrink(direction: "in" | "out", max: number): void {
    const all = this.peersOf(direction);
    for (const session of all.slice(Math.max(0, max))) session.drop("too many connections");
  }

  nodeData(): NodeData {
    return this.options.nodeData();
  }

  syncData(): CoreSyncData {
    return this.#context.syncData();
  }

  blame(address: PeerAddress, blame: Blame): void {
    this.#context.faults.blame(address, blame);
  }

  isBanned({ host }: PeerAddress): boolean {
    return (this.#context.bans.secondsLeft(host) ?? 0) > 0;
  }

  hasFailedRecently({ host }: PeerAddress): boolean {
    const at = this.#failed.get(host);
    if (at === undefined) return false;
    const forgotten = this.peersOf("out").length === 0 ? FAILED_SECONDS_ALONE : FAILED_SECONDS;
    return this.lines.clock.seconds() - at <= forgotten;
  }

  /** Whether an address may be connected to or stored. */
  canDial(address: PeerAddress): boolean {
    if (address.kind === "ipv6" && !this.#context.ipv6) return false;
    return !this.hasFailedRecently(address) && !this.isBanned(address) && !this.#isOurs(address);
  }

  get #maxStrangers(): number {
    return Math.max(1, Math.min(MAX_STRANGERS, Math.floor(this.options.maxAccepted * STRANGERS_SHARE)));
  }

  /** Accepts an incoming connection; if there are too many strangers, the oldest is closed. */
  accept(transport: Transport, address: PeerAddress): void {
    if (this.#isStopped || this.isBanned(address)) {
      transport.close();
      return;
    }
    const strangers = [...this.sessions].filter((session) => !session.isShaken && session.direction === "in");
    const block = addressBlock(address.host);
    const fromThere = strangers.filter((session) => addressBlock(session.address.host) === block);
    const tooMany = this.options.maxPerIp !== undefined && fromThere.length >= MAX_STRANGERS_PER_HOST;
    if (tooMany) fromThere[0]!.drop("too many connections of this address");
    else if (strangers.length >= this.#maxStrangers) strangers[0]!.drop("room for others is needed");
    this.#begin(new Session(transport, this, { address, direction: "in" }));
  }

  /**
   * Connects to a node, to stay connected ("peer") or to request its addresses ("list"). Returns whether the handshake
   * succeeded.
   */
  async connect(address: PeerAddress, purpose: "peer" | "list"): Promise<boolean> {
    const key = formatPeerAddress(address);
    this.dialing.set(key, address);
    try {
      await this.#shakeHands(address, purpose);
      return true;
    } catch (error) {
      if (!isExpected(error)) this.log.error("calling a peer failed", { error });
      this.#failed.set(address.host, this.lines.clock.seconds());
      return false;
    } finally {
      this.dialing.delete(key);
    }
  }

  async #shakeHands(address: PeerAddress, purpose: "peer" | "list"): Promise<void> {
    const session = new Session(await this.#dial(address), this, { address, direction: "out" });
    this.#begin(session);
    if (this.#isStopped) session.drop("the node stops");
    const entries = await session.shakeHands();
    try {
      this.addAnnounced(session, entries);
      this.#noteSeen(session);
      if (purpose === "list") session.drop("it told whom it knows");
      else this.onShaken(session, 0);
      session.handleEarly();
    } catch (error) {
      if (error instanceof PeerFault) session.drop(error.message, error.blame);
      else session.drop("the connection failed");
      throw error;
    }
  }

  #dial(address: PeerAddress, timeoutMs?: number): Promise<Transport> {
    if (this.options.dial === undefined) throw new DialFailed("this zone cannot be called");
    return this.options.dial(address, timeoutMs);
  }

  #begin(session: Session): void {
    this.sessions.add(session);
    session.start();
  }

  /** Source: node_server `handle_handshake`, `has_too_many_connections`. */
  refusal({ address }: Session): string | undefined {
    const incoming = this.peersOf("in");
    const maxPeers = Math.min(this.options.maxIn, this.options.maxAccepted - this.#maxStrangers);
    if (incoming.length >= maxPeers) return "no place for another peer";
    const { maxPerIp } = this.options;
    const block = addressBlock(address.host);
    const ofHost = incoming.filter((peer) => addressBlock(peer.address.host) === block).length;
    return maxPerIp !== undefined && ofHost >= maxPerIp ? "too many peers of this address" : undefined;
  }

  entriesFor(session: Session): PeerEntry[] {
    // This is how a node that we connect to in an anonymity zone gets our address. Source: node_server
    // `handle_timed_sync`.
    const ours = session.direction === "out" ? this.#ourEntry() : [];
    if (session.sentPeers.size > MAX_SENT_PEERS) session.sentPeers.clear();
    const news = this.lists.sample(MAX_PEERS_SENT - ours.length).filter(({ address }) => {
      const key = formatPeerAddress(address);
      const isNew = !session.sentPeers.has(key);
      session.sentPeers.add(key);
      return isNew;
    });
    return [...news.map(entryOf), ...ours];
  }

  #ourEntry(): PeerEntry[] {
    const { ourAddress: address } = this.options;
    if (address === undefined) return [];
    const ownEntry = { address, peerId: this.nodeData().peer_id, lastSeen: 0, pruningSeed: 0, rpcPort: 0 };
    return [{ ...entryOf(ownEntry), last_seen: BigInt(this.lines.clock.seconds()) }];
  }

  #isOurs(address: PeerAddress): boolean {
    const { ourAddress } = this.options;
    return ourAddress !== undefined && isSameAddress(address, ourAddress);
  }

  addAnnounced(_session: Session, entries: readonly PeerEntry[]): void {
    if (entries.some(({ adr }) => adr !== undefined && zoneOf(adr) !== this.zone)) {
      throw new PeerFault("tells addresses of another zone", { score: 1 });
    }
    this.lists.addAnnounced(entries, (address) => this.canDial(address));
  }

  onSyncData(session: Session, data: CoreSyncData): void {
    if (session.direction === "out") this.#noteSeen(session);
    if (this.#connected.has(session)) this.#context.onSyncData(session, data);
  }

  onShaken(session: Session, port: number): void {
    this.#context.onSyncData(session, session.syncData);
    if (!session.isOpen) return;
    this.#connected.add(session);
    this.log.debug("peer connected", {
      address: formatPeerAddress(session.address),
      direction: session.direction,
    });
    this.#context.onConnected(session);
    if (session.supportFlags === 0 && this.zone === "public") void session.askSupportFlags();
    if (port !== 0 && this.options.canPingBack) void this.#pingBack(session, port);
  }

  onClosed(session: Session, reason: string): void {
    this.sessions.delete(session);
    this.#context.count(session);
    if (!this.#connected.delete(session)) return;
    this.log.debug("peer gone", { address: formatPeerAddress(session.address), reason });
    this.#context.onClosed(session);
  }

  #noteSeen({ address, peerId, syncData, rpcPort }: Session): void {
    const lastSeen = this.lines.clock.seconds();
    this.lists.addWhite({ address, peerId, lastSeen, pruningSeed: syncData.pruningSeed, rpcPort });
  }

  /** An incoming peer that can be connected to is worth announcing to others. */
  async #pingBack(session: Session, port: number): Promise<void> {
    const address = { ...session.address, port };
    if (!this.lists.isAllowed(address) || this.#backPings >= MAX_BACK_PINGS) return;
    this.#backPings++;
    try {
      const transport = await this.#dial(address, PING_TIMEOUT_MS);
      if (!(await canReachBack(session.peerId, transport, this.lines))) return;
      const lastSeen = this.lines.clock.seconds();
      const { peerId, syncData, rpcPort } = session;
      this.lists.addWhite({ address, peerId, lastSeen, pruningSeed: syncData.pruningSeed, rpcPort });
    } catch (error) {
      if (!isExpected(error)) this.log.error("calling a peer back failed", { error });
    } finally {
      this.#backPings--;
    }
  }
}

function isExpected(error: unknown): boolean {
  return error instanceof DialFailed || error instanceof RequestFailed || error instanceof PeerFault;
}

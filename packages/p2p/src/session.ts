import type { ByteReservation, CostLimits, SliceOptions } from "@anulo/limits";
import { writeRecord } from "@anulo/protocol";
import type { PeerAddress, Zone } from "./address.ts";
import { handshake, PING_OK, ping, supportFlags, timedSync } from "./commands.ts";
import { Link, RequestFailed, type SharedLines } from "./connection/link.ts";
import type { MemoryHolder, PeerMemory } from "./connection/peer-memory.ts";
import { ConnectionClosed } from "./connection/shared-work.ts";
import type { Transport } from "./connection/transport.ts";
import { BadFrame, type Frame, type FrameHeader, responseFrame, returnCodes } from "./levin/frame.ts";
import {
  type Command,
  encodeNotification,
  type NotificationHandler,
  readRequest,
  readResponse,
} from "./messages.ts";
import type { Notification } from "./notification.ts";
import type { Log } from "./options.ts";
import { type Blame, type CoreSyncData, type Peer, PeerFault, type Traffic } from "./peer.ts";
import type { NodeData, PeerEntry } from "./records.ts";

/** What sessions need of the zone they belong to. */
export interface SessionHost {
  readonly zone: Zone;
  readonly lines: SharedLines;
  readonly handlers: ReadonlyMap<number, NotificationHandler>;
  readonly log: Log;
  readonly random: (size: number) => Uint8Array;
  /** Milliseconds between two timed syncs. */
  readonly timedSyncIntervalMs: number;
  /** The description of our node that is sent to peers. */
  nodeData(): NodeData;
  syncData(): CoreSyncData;
  /** The reason for which an incoming handshake is refused; undefined if it is accepted. */
  refusal(session: Session): string | undefined;
  /** Addresses to send to this peer. */
  entriesFor(session: Session): PeerEntry[];
  /** Receives the addresses that this peer sent. */
  addAnnounced(session: Session, entries: readonly PeerEntry[]): void;
  /** Receives the peer's chain data. May throw PeerFault. */
  onSyncData(session: Session, data: CoreSyncData): void;
  /**
   * Called when the handshake is complete; `port` is the port at which an incoming peer says it listens, or 0. May
   * throw PeerFault.
   */
  onShaken(session: Session, port: number): void;
  onClosed(session: Session, reason: string): void;
  blame(address: PeerAddress, blame: Blame): void;
}

export interface SessionStart {
  readonly address: PeerAddress;
  readonly direction: "in" | "out";
}

/** Source: cryptonote_config.h `P2P_DEFAULT_HANDSHAKE_INVOKE_TIMEOUT`, `P2P_DEFAULT_INVOKE_TIMEOUT`. */
const HANDSHAKE_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 120_000;
/**
 * Milliseconds within which the handshake has to be complete. Source: abstract_tcp_server2.inl
 * `NEW_CONNECTION_TIMEOUT_REMOTE`.
 */
const HANDSHAKE_DEADLINE_MS = 10_000;
/** Ordinary peers send a few requests per minute; a peer that sends more costs more than it is worth. */
const MAX_REQUESTS_PER_MINUTE = 60;
const MAX_EARLY_FRAMES = 4;
/** The longest request of an unknown command, which is skipped. */
const MAX_UNKNOWN_BYTES = 65_536;
/** The commands allowed in anonymity zones. Source: net_node.cpp `is_filtered_command`. */
const NEW_TRANSACTIONS = 2002;
const anonymityZoneCommands: ReadonlySet<number> = new Set([handshake.id, timedSync.id, NEW_TRANSACTIONS]);

const commandCosts: ReadonlyMap<number, CostLimits> = new Map(
  [handshake, timedSync, ping, supportFlags].map(({ id, cost }) => [id, cost]),
);

/** A connection to another node, from its first byte to its last. */
export class Session implements Peer, MemoryHolder {
  readonly address: PeerAddress;
  readonly direction: "in" | "out";
  readonly connectionId: Uint8Array;
  readonly since: number;
  /** Addresses that were sent to this peer already. */
  readonly sentPeers = new Set<string>();
  readonly #host: SessionHost;
  readonly #link: Link;
  readonly #opened: number;
  #nodeData: NodeData | undefined;
  #syncData: CoreSyncData | undefined;
  #supportFlags = 0;
  /** Messages that arrived before the answer to our handshake. */
  #early: Frame[] = [];
  #requests = { minute: 0, count: 0 };
  #nextTimedSync: number;
  #isExchanging = false;

  constructor(transport: Transport, host: SessionHost, { address, direction }: SessionStart) {
    this.address = address;
    this.direction = direction;
    this.#host = host;
    this.connectionId = host.random(16);
    this.since = host.lines.clock.seconds();
    this.#opened = host.lines.clock.milliseconds();
    this.#nextTimedSync = this.#opened + host.timedSyncIntervalMs;
    this.#link = new Link(transport, host.lines, {
      maxBytes: (header) => this.#maxBytes(header),
      hasResponse: (header) => (this.#costOf(header)?.responseBytes ?? 0) > 0,
      onFrame: (frame) => this.#onFrame(frame),
      onError: (error) => this.#onError(error),
      onClosed: (reason) => host.onClosed(this, reason),
    });
  }

  start(): void {
    this.#link.start();
  }

  get zone(): Zone {
    return this.#host.zone;
  }

  get isShaken(): boolean {
    return this.#nodeData !== undefined;
  }

  get isOpen(): boolean {
    return this.#link.isOpen;
  }

  get peerId(): bigint {
    return this.#nodeData?.peer_id ?? 0n;
  }

  get rpcPort(): number {
    return this.#nodeData?.rpc_port ?? 0;
  }

  get supportFlags(): number {
    return this.#supportFlags;
  }

  get syncData(): CoreSyncData {
    if (this.#syncData === undefined) throw new Error("no handshake yet");
    return this.#syncData;
  }

  get traffic(): Traffic {
    return this.#link.pace.traffic;
  }

  get packets(): { in: number; out: number } {
    return { in: this.#link.pace.packetsIn, out: this.#link.pace.packetsOut };
  }

  get queuedBytes(): number {
    return this.#link.queued;
  }

  get memory(): PeerMemory {
    return this.#link.memory;
  }

  reserve(bytes: number): ByteReservation | undefined {
    return this.#link.memory.reserve(bytes);
  }

  get slicing(): SliceOptions {
    return this.#link.work.slicing;
  }

  unread(maxBytes: number): Promise<void> | undefined {
    return this.#link.unread(maxBytes);
  }

  notify<T>(notification: Notification<T>, payload: T): boolean {
    if (!this.isShaken || !this.isOpen || this.#isFiltered(notification.id)) return false;
    return this.send(encodeNotification(notification, payload));
  }

  send(message: Uint8Array): boolean {
    return this.isShaken && this.#link.send(message);
  }

  drop(reason: string, blame: Blame = {}): void {
    if (!this.isOpen) return;
    this.#link.close(reason);
    this.#host.blame(this.address, blame);
  }

  /** Checks the timeouts; to be called about once a second. */
  tick(): void {
    const now = this.#host.lines.clock.milliseconds();
    if (!this.isShaken && now - this.#opened > HANDSHAKE_DEADLINE_MS) {
      this.#link.close("no handshake in time");
      return;
    }
    this.#link.tick();
    if (!this.isShaken || !this.isOpen || this.#isExchanging || now < this.#nextTimedSync) return;
    this.#isExchanging = true;
    void this.#exchangeSyncData().finally(() => {
      this.#isExchanging = false;
      this.#nextTimedSync = this.#host.lines.clock.milliseconds() + this.#host.timedSyncIntervalMs;
    });
  }

  /**
   * Makes the handshake on a connection that we opened. Throws RequestFailed or PeerFault; then the session is closed.
   */
  async shakeHands(): Promise<readonly PeerEntry[]> {
    const ours = { node_data: this.#host.nodeData(), payload_data: this.#host.syncData() };
    try {
      const theirs = await this.#ask(handshake, ours, HANDSHAKE_TIMEOUT_MS);
      this.#checkNetwork(theirs.node_data);
      this.#setNodeData(theirs.node_data, theirs.payload_data);
      return theirs.local_peerlist_new;
    } catch (error) {
      if (error instanceof PeerFault) this.drop(error.message, error.blame);
      else this.#link.close("no handshake");
      throw error;
    }
  }

  /** Handles the messages that arrived too early; nothing else is read meanwhile. */
  handleEarly(): void {
    const frames = this.#early;
    this.#early = [];
    if (frames.length === 0) return;
    const takeAll = async () => {
      for (const frame of frames) if (this.isOpen) await this.#onFrame(frame);
    };
    this.#link.hold(takeAll());
  }

  /** Requests the peer's chain data and addresses, and sends our chain data. */
  async #exchangeSyncData(): Promise<void> {
    try {
      const news = await this.#ask(timedSync, { payload_data: this.#host.syncData() }, REQUEST_TIMEOUT_MS);
      this.#host.addAnnounced(this, news.local_peerlist_new);
      this.#setSyncData(news.payload_data);
    } catch (error) {
      if (!(error instanceof RequestFailed)) this.#onError(error);
    }
  }

  /** Requests the peer's support flags, if its handshake did not contain them. */
  async askSupportFlags(): Promise<void> {
    try {
      this.#supportFlags = (await this.#ask(supportFlags, {}, HANDSHAKE_TIMEOUT_MS)).support_flags;
    } catch (error) {
      if (!(error instanceof RequestFailed)) this.#onError(error);
    }
  }

  async #ask<Q, A>(command: Command<Q, A>, request: Q, timeoutMs: number): Promise<A> {
    const limits = { maxBytes: command.cost.responseBytes, timeoutMs };
    const answer = await this.#link.request(command.id, writeRecord(command.request, request), limits);
    return readResponse(command, answer);
  }

  #isFiltered(command: number): boolean {
    return this.zone !== "public" && !anonymityZoneCommands.has(command);
  }

  #costOf({ command, expectsResponse }: FrameHeader): CostLimits | undefined {
    return expectsResponse ? commandCosts.get(command) : this.#host.handlers.get(command)?.cost;
  }

  #maxBytes(header: FrameHeader): number {
    const { command, expectsResponse } = header;
    if (!expectsResponse && !this.isShaken && this.direction === "in") return 0;
    const handler = expectsResponse ? undefined : this.#host.handlers.get(command);
    if (handler?.isExpected?.(this) === false) throw new PeerFault(`${handler.name} unasked`, { score: 1 });
    return this.#costOf(header)?.requestBytes ?? MAX_UNKNOWN_BYTES;
  }

  #onFrame({ header, payload }: Frame): Promise<void> | undefined {
    const { command, expectsResponse } = header;
    if (expectsResponse) {
      this.#answer(command, payload);
      return undefined;
    }
    if (!this.isShaken) {
      // The original sends its first notifications before the answer to a handshake.
      const isEarly = this.direction === "out" && this.#early.length < MAX_EARLY_FRAMES;
      if (!isEarly) throw new PeerFault("speaks before the handshake", { score: 1 });
      this.#early.push({ header, payload });
      return undefined;
    }
    const handler = this.#isFiltered(command) ? undefined : this.#host.handlers.get(command);
    return handler?.receive(this, payload) ?? undefined;
  }

  #onError(error: unknown): void {
    if (error instanceof PeerFault) this.drop(error.message, error.blame);
    else if (error instanceof BadFrame) this.drop(error.message, { score: 1 });
    else if (!(error instanceof ConnectionClosed))
      this.#host.log.error("handling a peer's message failed", { error });
  }

  #answer(command: number, payload: Uint8Array): void {
    this.#countRequest();
    if (!this.isShaken && command !== handshake.id && command !== ping.id) {
      throw new PeerFault("asks before the handshake", { score: 1 });
    }
    const answer = this.#isFiltered(command) ? undefined : this.#answers.get(command);
    if (answer === undefined) this.#respond(command, returnCodes.unknownCommand);
    else answer(payload);
  }

  readonly #answers = new Map<number, (payload: Uint8Array) => void>([
    [handshake.id, (payload) => this.#answerHandshake(payload)],
    [timedSync.id, (payload) => this.#answerTimedSync(payload)],
    [ping.id, () => this.#answerPing()],
    [supportFlags.id, () => this.#answerSupportFlags()],
  ]);

  #answerPing(): void {
    const answer = { status: PING_OK, peer_id: this.#host.nodeData().peer_id };
    this.#respond(ping.id, returnCodes.success, writeRecord(ping.response, answer));
  }

  #answerSupportFlags(): void {
    const answer = { support_flags: this.#host.nodeData().support_flags };
    this.#respond(supportFlags.id, returnCodes.success, writeRecord(supportFlags.response, answer));
  }

  #respond(command: number, code: number, payload: Uint8Array = new Uint8Array()): void {
    this.#link.send(responseFrame(command, code, payload));
  }

  #countRequest(): void {
    const minute = Math.floor(this.#host.lines.clock.milliseconds() / 60_000);
    if (minute !== this.#requests.minute) this.#requests = { minute, count: 0 };
    if (++this.#requests.count > MAX_REQUESTS_PER_MINUTE) throw new PeerFault("asks too often", { score: 1 });
  }

  /** Source: node_server `handle_handshake`. */
  #answerHandshake(payload: Uint8Array): void {
    if (this.direction === "out")
      throw new PeerFault("handshake from the side that was called", { score: 1 });
    if (this.isShaken) throw new PeerFault("a second handshake");
    const theirs = readRequest(handshake, payload);
    this.#checkNetwork(theirs.node_data);
    const refusal = this.#host.refusal(this);
    if (refusal !== undefined) {
      this.#link.close(refusal);
      return;
    }
    this.#setNodeData(theirs.node_data, theirs.payload_data);
    // The answer is sent before any other message to this peer.
    const ours = {
      node_data: this.#host.nodeData(),
      payload_data: this.#host.syncData(),
      local_peerlist_new: this.#host.entriesFor(this),
    };
    this.#respond(handshake.id, returnCodes.success, writeRecord(handshake.response, ours));
    this.#host.onShaken(this, theirs.node_data.my_port);
  }

  #answerTimedSync(payload: Uint8Array): void {
    const { payload_data } = readRequest(timedSync, payload);
    this.#setSyncData(payload_data);
    if (!this.isOpen) return;
    const ours = { payload_data: this.#host.syncData(), local_peerlist_new: this.#host.entriesFor(this) };
    this.#respond(timedSync.id, returnCodes.success, writeRecord(timedSync.response, ours));
  }

  #checkNetwork(theirs: NodeData): void {
    const ours = this.#host.nodeData();
    if (!ours.network_id.every((byte, i) => byte === theirs.network_id[i])) {
      throw new PeerFault("belongs to another network", { score: 1 });
    }
    // In anonymity zones all ids are the same: a peer must not learn that two zones lead to one node.
    if (this.zone === "public" && theirs.peer_id === ours.peer_id) throw new PeerFault("is ourselves");
    if (theirs.my_port > 65_535) throw new PeerFault("tells an impossible port", { score: 1 });
  }

  #setNodeData(nodeData: NodeData, syncData: CoreSyncData): void {
    this.#nodeData = nodeData;
    this.#supportFlags = nodeData.support_flags;
    this.#syncData = syncData;
    this.#link.raiseLimit();
  }

  #setSyncData(data: CoreSyncData): void {
    this.#syncData = data;
    this.#host.onSyncData(this, data);
  }
}

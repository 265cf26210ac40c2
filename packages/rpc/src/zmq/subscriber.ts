import type { Socket } from "node:net";
import { Subscriptions } from "./subscriptions.ts";
import type { ZmqLimits } from "./zmq-limits.ts";
import {
  BadZmtp,
  type Command,
  commandFrame,
  greeting,
  readCommand,
  readProperties,
  readyFrame,
} from "./zmtp.ts";
import { type ReceivedFrame, ZmtpReader } from "./zmtp-reader.ts";

/** Who a subscriber's connection works for. */
export interface SubscriberOwner {
  /** A prefix (latin1) was added to the subscriptions, or removed. */
  onSubscription(prefix: string, isAdded: boolean): void;
  onClosed(reason: string): void;
}

export interface SubscriberOptions {
  readonly limits: ZmqLimits;
  /** Milliseconds since some moment, never going back. */
  readonly now: () => number;
}

/** Bytes given to the socket at once: so much of a long message is the least progress that is noticed. */
const PIECE_BYTES = 64 * 1024;
/** Accounted for each message that waits, beside its bytes. */
const MESSAGE_OVERHEAD = 64;
/** The longest context that a PING may have. */
const MAX_PING_CONTEXT = 16;
const PING_TTL_BYTES = 2;

/** One connection to the publisher: handshake, subscriptions, and what waits to be sent. */
export class Subscriber {
  readonly #socket: Socket;
  readonly #options: SubscriberOptions;
  readonly #owner: SubscriberOwner;
  readonly #reader: ZmtpReader;
  readonly subscriptions: Subscriptions;
  readonly connectedAt: number;
  readonly address: string | undefined;
  #isReady = false;
  #isOpen = true;
  /** True inside a message whose first frame was read. */
  #isInMessage = false;
  readonly #queue: Buffer[] = [];
  /** Bytes of the first message that went to the socket. */
  #sent = 0;
  /** Of the bytes that wait, those that the socket was given and has not passed on. */
  #inFlight = 0;
  #unread = 0;
  #progressAt: number;
  /** Frames that may still be received; grows with time. */
  #frames: { allowance: number; at: number };
  readonly #whenDrained = new Set<() => void>();

  constructor(socket: Socket, options: SubscriberOptions, owner: SubscriberOwner) {
    const { limits, now } = options;
    this.#socket = socket;
    this.#options = options;
    this.#owner = owner;
    this.#reader = new ZmtpReader(limits.receivedFrameBytes);
    this.subscriptions = new Subscriptions(limits.subscriptions);
    this.connectedAt = now();
    this.#progressAt = this.connectedAt;
    this.#frames = { allowance: limits.receivedFrames.burst, at: this.connectedAt };
    this.address = socket.remoteAddress;
  }

  /** Greets the peer, and begins to read. */
  start(): void {
    this.#socket
      .on("data", (chunk) => this.#received(chunk))
      // The reason follows with `close`.
      .on("error", () => {})
      .on("end", () => this.close("closed by the subscriber"))
      .on("close", () => this.close("closed by the subscriber"));
    this.send(greeting());
  }

  /** Whether the handshake is complete. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Bytes that wait to be read by the subscriber. */
  get unread(): number {
    return this.#unread;
  }

  /** Queues a frame; closes instead where too much waits already. */
  send(frame: Buffer): void {
    if (!this.#isOpen) return;
    const cost = frame.length + MESSAGE_OVERHEAD;
    if (this.#unread > 0 && this.#unread + cost > this.#options.limits.unreadBytes) {
      this.close("does not read what it is sent");
      return;
    }
    if (this.#unread === 0) this.#progressAt = this.#options.now();
    this.#unread += cost;
    this.#queue.push(frame);
    this.#pump();
  }

  /** Resolves when nothing waits any more, or the connection is closed. */
  whenDrained(): Promise<void> {
    if (!this.#isOpen || this.#unread === 0) return Promise.resolve();
    return new Promise((resolve) => void this.#whenDrained.add(resolve));
  }

  /** Closes where the handshake, or reading, takes too long; to be called every second or so. */
  checkTime(): void {
    const { limits, now } = this.#options;
    const time = now();
    if (!this.#isReady && time - this.connectedAt > limits.handshakeMs) this.close("no handshake in time");
    else if (this.#unread > 0 && time - this.#progressAt > limits.stalledMs) this.close("reads nothing");
  }

  /** Closes when the socket has sent what it was given. */
  end(reason: string): void {
    if (this.#isOpen && this.#unread === 0) this.#socket.end();
    this.close(reason);
  }

  close(reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#queue.length = 0;
    this.#unread = 0;
    if (this.#socket.writableEnded) this.#socket.destroySoon();
    else this.#socket.destroy();
    this.#announceDrained();
    this.#owner.onClosed(reason);
  }

  /** Gives the socket a few pieces at a time. */
  #pump(): void {
    while (this.#inFlight < PIECE_BYTES) {
      const first = this.#queue[0];
      if (first === undefined || !this.#isOpen) return;
      const piece = first.subarray(this.#sent, this.#sent + PIECE_BYTES);
      this.#sent += piece.length;
      let cost = piece.length;
      if (this.#sent >= first.length) {
        this.#queue.shift();
        this.#sent = 0;
        cost += MESSAGE_OVERHEAD;
      }
      this.#inFlight += cost;
      this.#socket.write(piece, (error) => {
        if (!error) this.#writeDone(cost);
      });
    }
  }

  #writeDone(cost: number): void {
    if (!this.#isOpen) return;
    this.#progressAt = this.#options.now();
    this.#inFlight -= cost;
    this.#unread -= cost;
    if (this.#unread === 0) this.#announceDrained();
    else this.#pump();
  }

  #announceDrained(): void {
    for (const resolve of this.#whenDrained) resolve();
    this.#whenDrained.clear();
  }

  #received(chunk: Uint8Array): void {
    try {
      for (const frame of this.#reader.read(chunk)) {
        this.#chargeFrame();
        this.#onFrame(frame);
        if (!this.#isOpen) return;
      }
    } catch (error) {
      if (!(error instanceof BadZmtp)) throw error;
      this.close(error.message);
    }
  }

  /** Throws BadZmtp where a subscriber sends more than it can have to say. */
  #chargeFrame(): void {
    const { limits, now } = this.#options;
    const { burst, perSecond } = limits.receivedFrames;
    const at = now();
    const allowance =
      Math.min(burst, this.#frames.allowance + ((at - this.#frames.at) / 1000) * perSecond) - 1;
    if (allowance < 0) throw new BadZmtp("too many frames");
    this.#frames = { allowance, at };
  }

  #onFrame({ isCommand, hasMore, body }: ReceivedFrame): void {
    if (isCommand) {
      this.#onCommand(readCommand(body));
      return;
    }
    if (!this.#isReady) throw new BadZmtp("a message before the handshake");
    const isFirst = !this.#isInMessage;
    this.#isInMessage = hasMore;
    // Only a message of one frame is a subscription; what else a subscriber says is nobody's business here.
    if (!isFirst || hasMore) return;
    if (body[0] === 1) this.#subscribe(body.subarray(1));
    else if (body[0] === 0) this.#cancel(body.subarray(1));
  }

  #onCommand({ name, data }: Command): void {
    if (!this.#isReady) {
      if (name !== "READY") throw new BadZmtp(`${name === "ERROR" ? "an error" : "a command"} before READY`);
      const type = readProperties(data).get("socket-type");
      if (type !== "SUB" && type !== "XSUB") throw new BadZmtp("not a subscriber");
      this.#isReady = true;
      this.send(readyFrame("XPUB"));
    } else if (name === "SUBSCRIBE") this.#subscribe(data);
    else if (name === "CANCEL") this.#cancel(data);
    else if (name === "PING") this.#pong(data);
  }

  #pong(data: Uint8Array): void {
    const context = data.subarray(PING_TTL_BYTES);
    if (data.length < PING_TTL_BYTES || context.length > MAX_PING_CONTEXT) throw new BadZmtp("a bad PING");
    this.send(commandFrame("PONG", context));
  }

  #subscribe(prefix: Uint8Array): void {
    if (this.subscriptions.add(prefix))
      this.#owner.onSubscription(Buffer.from(prefix).toString("latin1"), true);
  }

  #cancel(prefix: Uint8Array): void {
    if (this.subscriptions.remove(prefix))
      this.#owner.onSubscription(Buffer.from(prefix).toString("latin1"), false);
  }
}

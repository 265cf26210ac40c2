import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "../log/logger.ts";
import { Connections } from "./connections.ts";
import { listenOptions, type ZmqEndpoint } from "./endpoint.ts";
import { Subscriber } from "./subscriber.ts";
import { type ZmqLimits, zmqLimits } from "./zmq-limits.ts";
import { frame } from "./zmtp.ts";

/** Publishes messages, each of one frame that begins with its topic, to all who subscribed to a prefix of it. */
export interface ZmqPublisher {
  /** Where each endpoint is reached, in their order: a chosen port stands in the place of a free one. */
  readonly addresses: readonly string[];
  readonly connectionCount: number;
  /** Whether somebody subscribed to a prefix of this topic; messages nobody wants need not be made. */
  isWanted(topic: string): boolean;
  /** Sends `topic:text`; a connection where too much waits to be read is closed instead. */
  publish(topic: string, text: string): void;
  /** Bytes that the slowest subscriber has not read. */
  readonly unread: number;
  /** Closes connections whose time is over; done every second. */
  checkTime(): void;
  /** Closes every connection: subscribers lose what is published meanwhile, and notice the closing. */
  dropAll(reason: string): void;
  /** Stops listening and closes all connections, after a moment for what waits. */
  stop(): Promise<void>;
}

export interface ZmqPublisherOptions {
  readonly endpoints: readonly ZmqEndpoint[];
  /** Every topic there is; subscriptions to others are kept and match nothing. */
  readonly topics: readonly string[];
  readonly log: Logger;
  readonly limits?: ZmqLimits | undefined;
  /** Milliseconds since some moment, never going back. */
  readonly now?: (() => number) | undefined;
}

/** Milliseconds between two looks at the time. */
const LOOK_MS = 1000;
/** Milliseconds that are waited for subscribers to read on at the stop. Source: zmq_server.cpp `linger_timeout`. */
const LINGER_MS = 2000;
const KEEP_ALIVE_MS = 60_000;

/** Starts listening on every endpoint; rejects, and listens nowhere, where one cannot be opened. */
export async function startZmqPublisher(options: ZmqPublisherOptions): Promise<ZmqPublisher> {
  const publisher = new Publisher(options);
  try {
    for (const endpoint of options.endpoints) await publisher.listen(endpoint);
  } catch (error) {
    await publisher.stop();
    throw error;
  }
  return publisher;
}

class Publisher implements ZmqPublisher {
  readonly #log: Logger;
  readonly #limits: ZmqLimits;
  readonly #now: () => number;
  readonly #connections: Connections;
  readonly #servers: Server[] = [];
  readonly addresses: string[] = [];
  /** How many connections subscribed to a prefix of each topic. */
  readonly #subscriptionCounts: Map<string, number>;
  readonly #timer: NodeJS.Timeout;

  constructor({ topics, log, limits = zmqLimits, now = () => performance.now() }: ZmqPublisherOptions) {
    this.#log = log;
    this.#limits = limits;
    this.#now = now;
    this.#connections = new Connections(limits);
    this.#subscriptionCounts = new Map(topics.map((topic) => [topic, 0]));
    this.#timer = setInterval(() => this.checkTime(), LOOK_MS).unref();
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  get unread(): number {
    let most = 0;
    for (const { unread } of this.#connections) most = Math.max(most, unread);
    return most;
  }

  async listen(endpoint: ZmqEndpoint): Promise<void> {
    const server = createServer((socket) => this.#accept(socket));
    server.listen(listenOptions(endpoint));
    await once(server, "listening");
    // Too few descriptors, mostly: those who are connected stay.
    server.on("error", (error) => this.#log.warn("a subscriber could not be accepted", { error }));
    this.#servers.push(server);
    const bound = server.address();
    const isFreePort = endpoint.kind === "tcp" && endpoint.port === 0;
    const port = typeof bound === "object" && bound !== null ? bound.port : 0;
    const address = isFreePort ? endpoint.text.replace(/[*\d]+$/, String(port)) : endpoint.text;
    this.addresses.push(address);
    this.#log.info("ZeroMQ is published", { address });
  }

  isWanted(topic: string): boolean {
    return (this.#subscriptionCounts.get(topic) ?? 0) > 0;
  }

  publish(topic: string, text: string): void {
    const body = Buffer.from(`${topic}:${text}`);
    let bytes: Buffer | undefined;
    for (const subscriber of this.#connections) {
      if (!subscriber.subscriptions.matches(body)) continue;
      bytes ??= frame(0, body);
      subscriber.send(bytes);
    }
  }

  dropAll(reason: string): void {
    for (const subscriber of [...this.#connections]) subscriber.close(reason);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    const closed = this.#servers.map((server) => once(server, "close"));
    for (const server of this.#servers) server.close();
    const lingering = new AbortController();
    const drained = Promise.all([...this.#connections].map((it) => it.whenDrained()));
    const timeout = delay(LINGER_MS, undefined, { signal: lingering.signal, ref: false }).catch(() => {});
    await Promise.race([drained, timeout]);
    lingering.abort();
    for (const subscriber of [...this.#connections]) subscriber.end("the node stops");
    await Promise.all(closed);
  }

  #accept(socket: Socket): void {
    socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
    const { limits, now } = { limits: this.#limits, now: this.#now };
    const subscriber: Subscriber = new Subscriber(
      socket,
      { limits, now },
      {
        onSubscription: (prefix, isAdded) => this.#count(prefix, isAdded ? 1 : -1),
        onClosed: (reason) => this.#forget(subscriber, reason),
      },
    );
    if (this.#connections.add(subscriber)) subscriber.start();
    else socket.on("error", () => {}).destroy();
  }

  #forget(subscriber: Subscriber, reason: string): void {
    this.#connections.remove(subscriber);
    for (const prefix of subscriber.subscriptions.prefixes()) this.#count(prefix, -1);
    this.#log.debug("a subscriber of ZeroMQ has left", { reason, address: subscriber.address });
  }

  #count(prefix: string, change: number): void {
    for (const [topic, count] of this.#subscriptionCounts) {
      if (topic.startsWith(prefix)) this.#subscriptionCounts.set(topic, count + change);
    }
  }

  checkTime(): void {
    for (const subscriber of [...this.#connections]) subscriber.checkTime();
  }
}

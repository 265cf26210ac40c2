/** The three kinds of consumers of a service's events, each of which remembers what it has seen. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type ExactObject, isExactObject, parseExact } from "@anulo/devnet";
import { jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import type { Chance } from "../chance.ts";
import { SeenEvents } from "./seen.ts";

const EVENTS_PER_PAGE = 1000;
const PAUSE_MS = 50;
const ANSWER_MS = 10_000;
/** Maximum milliseconds for which the receiver of webhooks takes what comes, and for which it fails. */
const MAX_PERIOD_MS = 3000;

/** A loop that runs until it is stopped; what it throws is kept for who stops it. */
class Loop {
  #isStopped = false;
  readonly #running: Promise<void>;
  #failure: unknown;

  constructor(step: () => Promise<void>) {
    const run = async () => {
      while (!this.#isStopped) await step();
    };
    this.#running = run().catch((error: unknown) => {
      this.#failure = error;
    });
  }

  /** Throws what the loop threw. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }
}

/** Reads the log page by page, from where it is. */
export class CursorConsumer {
  readonly seenEvents = new SeenEvents("the reader with a cursor");
  readonly #onEvent: (event: ExactObject) => void;
  readonly #urlOf: () => string;
  readonly #loop: Loop;

  constructor(urlOf: () => string, onEvent: (event: ExactObject) => void) {
    this.#urlOf = urlOf;
    this.#onEvent = onEvent;
    this.#loop = new Loop(() => this.#readPage());
  }

  async #readPage(): Promise<void> {
    const page = await this.#fetchPage().catch(() => undefined);
    const events = (page?.events ?? []) as ExactObject[];
    for (const event of events) if (this.seenEvents.add(event)) this.#onEvent(event);
    if (events.length === 0) await delay(PAUSE_MS);
  }

  async #fetchPage(): Promise<ExactObject> {
    const url = `${this.#urlOf()}/events?after=${this.seenEvents.last}&limit=${EVENTS_PER_PAGE}`;
    // A process that is stopped does not answer.
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
    const page = parseExact(await response.text());
    if (!response.ok || !isExactObject(page)) throw new Error(`HTTP ${response.status}`);
    return page;
  }

  check(): void {
    this.#loop.check();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }
}

async function bodyOf(request: IncomingMessage): Promise<ExactObject> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return parseExact(Buffer.concat(parts).toString()) as ExactObject;
}

/** Takes webhooks, and fails half of the time: all that comes for as long as it took what came, on average. */
export class HookConsumer {
  readonly seenEvents = new SeenEvents("the receiver of webhooks");
  /** Number of requests that it failed. */
  refused = 0;
  /** Whether it takes what comes, as once the run is over. */
  isSteady = false;
  readonly #server: Server;
  readonly #chance: Chance;
  #failure: unknown;
  /** When it goes away, or comes back. */
  #changesAt = 0;
  #isAway = true;

  private constructor(chance: Chance) {
    this.#chance = chance;
    this.#server = createServer((request, response) => {
      response.on("error", () => undefined);
      void bodyOf(request).then(
        (event) => {
          if (this.#fails()) {
            this.refused++;
            if (this.#chance.happens(0.5)) response.destroy();
            else response.writeHead(503).end();
            return;
          }
          this.#add(event);
          // It has the event, and the sender gets no response: the event comes again.
          if (!this.isSteady && this.#chance.happens(0.01)) response.destroy();
          else response.writeHead(204).end();
        },
        () => response.destroy(),
      );
    });
  }

  static async start(chance: Chance): Promise<HookConsumer> {
    const consumer = new HookConsumer(chance);
    consumer.#server.listen(0, "127.0.0.1");
    await once(consumer.#server, "listening");
    return consumer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  #fails(): boolean {
    if (this.isSteady) return false;
    const now = performance.now();
    if (now >= this.#changesAt) {
      this.#isAway = !this.#isAway;
      this.#changesAt = now + this.#chance.between(1, MAX_PERIOD_MS);
    }
    return this.#isAway;
  }

  #add(event: ExactObject): void {
    try {
      this.seenEvents.add(event, true);
    } catch (error) {
      this.#failure ??= error;
    }
  }

  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** Reads the stream of a NATS server, over a connection of its own each time. */
export class StreamConsumer {
  readonly seenEvents = new SeenEvents("the reader of the stream");
  readonly #address: string;
  readonly #loop: Loop;
  #next = 1;

  constructor(address: string) {
    this.#address = address;
    this.#loop = new Loop(() => this.#readPage());
  }

  async #readPage(): Promise<void> {
    const events = await this.#fetchPage().catch(() => []);
    for (const { event, streamSequence } of events) {
      this.seenEvents.add(event);
      this.#next = streamSequence + 1;
    }
    if (events.length === 0) await delay(PAUSE_MS);
  }

  async #fetchPage(): Promise<{ readonly event: ExactObject; readonly streamSequence: number }[]> {
    const connection = await connect({ servers: this.#address, reconnect: false });
    try {
      const consumer = await jetstream(connection).consumers.get("ANULO_EVENTS", {
        opt_start_seq: this.#next,
      });
      const events = [];
      const messages = await consumer.fetch({ max_messages: EVENTS_PER_PAGE, expires: 1000 });
      for await (const message of messages) {
        const event = parseExact(message.string()) as ExactObject;
        events.push({ event, streamSequence: message.seq });
        if (message.info.pending === 0) break;
      }
      return events;
    } finally {
      await connection.close();
    }
  }

  check(): void {
    this.#loop.check();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }
}

import { type Clock, systemClock } from "../clock.ts";
import { formatJson, packJson, unpackJson } from "../json.ts";
import type { EventLog } from "../log.ts";
import { tables } from "../tables.ts";
import { connectionOptions, type NatsNames, StreamConnection } from "./connection.ts";
import { subjectToken } from "./subject.ts";

const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 60_000;
const EVENTS_PER_READ = 256;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const PREFIX = /^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,7}$/;

export interface NatsSinkOptions {
  readonly log: EventLog;
  /** `nats://host:port` or `tls://host:port`, with a user and a password, or a token, if the server requires them. */
  readonly address: string;
  /** By default `ANULO_EVENTS`. */
  readonly stream?: string;
  /** The first part of all subjects; by default `anulo.events`. Each log needs a prefix of its own. */
  readonly prefix?: string;
  readonly clock?: Clock;
  /** Returns a number from 0 to below 1. */
  readonly random?: () => number;
}

/** Publishes the events of a log to a NATS JetStream stream: each once and in order. */
export interface NatsSink {
  /** Number of the last event that the stream is known to have. */
  readonly sequence: number;
  readonly isConnected: boolean;
  /** Why the last connection ended, without credentials; empty if none has ended. */
  readonly failure: string;
  /** Stops sending. The log stays open. */
  close(): Promise<void>;
}

/**
 * Opens the sink and continues after the last event in this stream and prefix. Throws a RangeError for an invalid
 * address or name.
 */
export async function openNatsSink(options: NatsSinkOptions): Promise<NatsSink> {
  const { stream = "ANULO_EVENTS", prefix = "anulo.events", log } = options;
  if (!NAME.test(stream) || !PREFIX.test(prefix)) throw new RangeError("a stream or a prefix is not safe");
  const target = connectionOptions(options.address);
  const key = Buffer.from(`nats:${stream}:${prefix}`);
  const stored = await log.rows.read(tables.cursors, key);
  const sequence = stored === undefined ? 0 : Number(unpackJson(Buffer.from(stored).toString()));
  const { clock = systemClock, random = Math.random } = options;
  const open = () => StreamConnection.open(target, { stream, prefix });
  const publisher = new Publisher({ log, clock, random, names: { stream, prefix }, open, key }, sequence);
  publisher.start();
  return publisher;
}

interface PublisherContext {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly random: () => number;
  readonly names: NatsNames;
  readonly open: () => Promise<StreamConnection>;
  /** Of its row. */
  readonly key: Uint8Array;
}

class Publisher implements NatsSink {
  readonly #context: PublisherContext;
  readonly #stop = new AbortController();
  /** Aborts also when another service has taken the log, which continues to publish from the stored position. */
  readonly #over: AbortSignal;
  #sequence: number;
  #isConnected = false;
  #failure = "";
  #running: Promise<void> = Promise.resolve();

  constructor(context: PublisherContext, sequence: number) {
    this.#context = context;
    this.#over = AbortSignal.any([this.#stop.signal, context.log.ended]);
    this.#sequence = sequence;
  }

  get sequence(): number {
    return this.#sequence;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  get failure(): string {
    return this.#failure;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock, random } = this.#context;
    for (let failures = 0; !this.#over.aborted; failures++) {
      const before = this.#sequence;
      await this.#publishUntilLost().catch((error: unknown) => {
        this.#failure = error instanceof Error ? error.message : "the connection failed";
      });
      if (this.#sequence > before) failures = 0;
      const most = Math.min(FIRST_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS);
      await clock.delay(most * (0.5 + random() / 2), this.#over);
    }
  }

  /** Publishes over one connection, until it fails for any reason. */
  async #publishUntilLost(): Promise<void> {
    const connection = await this.#context.open();
    const lost = new AbortController();
    const end = () => lost.abort();
    this.#over.addEventListener("abort", end);
    void connection.closed.then(end, end);
    try {
      this.#isConnected = true;
      await this.#takeStreamOver(await connection.lastMessageId());
      while (!lost.signal.aborted && !this.#over.aborted) await this.#publishPage(connection, lost.signal);
    } finally {
      this.#isConnected = false;
      this.#over.removeEventListener("abort", end);
      await connection.close();
    }
  }

  /** Messages that were not acknowledged may have arrived all the same: the stream's last message decides. */
  async #takeStreamOver(id: string | undefined): Promise<void> {
    const { log } = this.#context;
    if (id === undefined || !id.startsWith(`${log.id}_`)) return;
    const sequence = Number(id.slice(log.id.length + 1));
    if (Number.isSafeInteger(sequence) && sequence > this.#sequence && sequence <= log.last) {
      await this.#save(sequence);
    }
  }

  /** Publishes one event after another: the next is sent once the stream has the one before. */
  async #publishPage(connection: StreamConnection, signal: AbortSignal): Promise<void> {
    const { log, names } = this.#context;
    await log.waitForEvent(this.#sequence, signal);
    if (signal.aborted) return;
    const { events, next } = await log.read({ after: this.#sequence, limit: EVENTS_PER_READ });
    let sent = this.#sequence;
    try {
      for (const event of events) {
        if (signal.aborted || log.ended.aborted) return;
        if (!log.isHeld) throw new Error("another service may have the log");
        const subject = `${names.prefix}.${subjectToken(event.wallet)}.${subjectToken(event.type)}`;
        await connection.publish(subject, formatJson(event), `${log.id}_${event.sequence}`);
        sent = event.sequence;
      }
      sent = next;
    } finally {
      if (sent > this.#sequence) await this.#save(sent);
    }
  }

  async #save(sequence: number): Promise<void> {
    const { log, key } = this.#context;
    await log.rows.write(async (rows) => {
      rows.put({ table: tables.cursors, key, value: Buffer.from(packJson(sequence)) });
      return true;
    });
    this.#sequence = sequence;
  }
}

import { parseAnswer } from "./client.ts";
import { BadAnswer, ConnectionFailed } from "./errors.ts";
import type { paymentEventTypes, stateEventTypes, transferEventTypes } from "./generated/event-types.ts";
import type { JsonObject } from "./json.ts";
import { delayBefore, isUnanswered, pause, repeat } from "./repeat.ts";
import { EventReader, StreamTooLong } from "./sse.ts";
import type { CallOptions, ClientOptions, Transport } from "./transport.ts";

/** The event's number in the log, its wallet, and when it was added (Unix seconds). */
type Numbered = { readonly sequence: number; readonly wallet: string; readonly time: number };

export type PaymentEvent = Numbered & {
  readonly type: (typeof paymentEventTypes)[number];
  readonly tx_hash: string;
  readonly subaddr_index: { readonly major: number; readonly minor: number };
  /** Atomic units. */
  readonly amount: bigint;
  /** Height of its block; missing in the pool. */
  readonly height?: number;
  readonly unlock_time: bigint;
  readonly coinbase: boolean;
  readonly payment_id?: string;
  readonly confirmations?: number;
  readonly reason?: "reorganisation" | "own_change" | "rescan";
};

/** `transfer_planned` has only `method` and `idempotency_key`. */
export type TransferEvent = Numbered & {
  readonly type: (typeof transferEventTypes)[number];
  readonly tx_hash?: string;
  readonly account?: number;
  readonly subaddr_indices?: readonly number[];
  /** Amount paid to others, in atomic units. */
  readonly amount?: bigint;
  readonly fee?: bigint;
  readonly change?: bigint;
  readonly height?: number;
  readonly idempotency_key?: string;
  readonly method?: string;
};

export type StateEvent = Numbered & {
  readonly type: (typeof stateEventTypes)[number];
  readonly height?: number;
  readonly hard?: boolean;
};

/** An event of a wallet service. Later services may send other types. */
export type WalletEvent = PaymentEvent | TransferEvent | StateEvent;
export type WalletEventType = WalletEvent["type"];

export type EventFilter = {
  /** Number of the last known event; 0 for all events. */
  readonly after?: number;
  readonly types?: readonly WalletEventType[];
  /** Name of a wallet, for a client of the whole service. */
  readonly wallet?: string;
};

export type EventPage = {
  readonly events: WalletEvent[];
  /** The value of `after` for the next call. */
  readonly next: number;
  /** Number of the oldest stored event. */
  readonly oldest: number;
};

export interface EventCalls {
  /** Returns existing events, oldest first, at most `limit` (100 by default, up to 1,000). */
  readonly events: (
    filter?: EventFilter & { readonly limit?: number },
    options?: CallOptions,
  ) => Promise<EventPage>;
  /**
   * Yields events as they occur, from `after` on, each once and in order, until `signal` aborts (then it throws its
   * reason) or the loop is left. A lost connection is reopened, however long that takes; an error of the service is
   * thrown.
   */
  readonly follow: (
    filter?: EventFilter,
    options?: { readonly signal?: AbortSignal },
  ) => AsyncGenerator<WalletEvent, void>;
}

type Source = { readonly transport: Transport; readonly path: string; readonly options: ClientOptions };

/** Milliseconds of silence after which a stream is considered dead: services send data every 15 seconds. */
const SILENT_MS = 60_000;

export function createEventCalls(source: Source): EventCalls {
  const { transport, path, options } = source;
  return {
    events: async (filter = {}, callOptions = {}) => {
      const context = { call: path };
      const exchange = { ...callOptions, context, method: "GET", path: pathOf(path, filter) } as const;
      const { signal } = callOptions;
      const text = await repeat(() => transport.text(exchange), {
        retries: options.retries ?? 2,
        maySend: () => true,
        signal,
      });
      const { events, next, oldest } = parseAnswer(text, context);
      if (!Array.isArray(events) || !isNumber(next) || !isNumber(oldest))
        throw new BadAnswer("no page of events", context);
      return { events: events.map((event) => readEvent(event as JsonObject, path)), next, oldest };
    },
    follow: (filter = {}, { signal } = {}) => follow(source, filter, signal),
  };
}

function pathOf(path: string, { types, ...others }: EventFilter & { readonly limit?: number }): string {
  const parameters = { ...others, types: types?.join(",") };
  const query = Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  return query.length === 0 ? path : `${path}?${query.join("&")}`;
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value);

/** Fields with amounts, or with numbers as large. */
const exactFields = ["amount", "fee", "change", "unlock_time"];

function readEvent(event: JsonObject, path: string): WalletEvent {
  const { sequence, wallet, type } = event;
  if (!isNumber(sequence) || typeof wallet !== "string" || typeof type !== "string")
    throw new BadAnswer("no event", { call: path });
  const exact = exactFields
    .filter((name) => isNumber(event[name]))
    .map((name) => [name, BigInt(event[name] as number)]);
  return { ...event, ...Object.fromEntries(exact) } as WalletEvent;
}

async function* follow(
  source: Source,
  filter: EventFilter,
  signal: AbortSignal | undefined,
): AsyncGenerator<WalletEvent, void> {
  let last = filter.after ?? 0;
  let failures = 0;
  /** Whether the service has begun a stream once: before that, a failure is thrown to the caller. */
  let isKnown = false;
  const onOpen = () => {
    isKnown = true;
  };
  for (;;) {
    try {
      for await (const event of openStream(source, { ...filter, after: last }, { signal, onOpen })) {
        failures = 0;
        if (event.sequence <= last) continue;
        last = event.sequence;
        yield event;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!isKnown || !isUnanswered(error)) throw error;
      await pause(delayBefore(failures, error), signal);
      failures++;
      continue;
    }
    signal?.throwIfAborted();
    await pause(delayBefore(failures, undefined), signal);
    failures++;
  }
}

/** The events of one connection, until it ends. */
async function* openStream(
  { transport, path }: Source,
  filter: EventFilter,
  { signal, onOpen }: { readonly signal: AbortSignal | undefined; readonly onOpen: () => void },
): AsyncGenerator<WalletEvent, void> {
  const control = new AbortController();
  const abort = () => control.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    signal?.throwIfAborted();
    const response = await transport.open({
      context: { call: path },
      method: "GET",
      path: pathOf(path, filter),
      headers: { Accept: "text/event-stream" },
      signal: control.signal,
    });
    onOpen();
    const restartTimer = () => {
      clearTimeout(timer);
      timer = setTimeout(() => control.abort(), SILENT_MS);
    };
    for await (const data of readStream(response, restartTimer))
      yield readEvent(parseAnswer(data, { call: path }), path);
  } catch (error) {
    if (error instanceof StreamTooLong) throw new BadAnswer(error.message, { call: path });
    if (error instanceof TypeError || control.signal.aborted)
      throw new ConnectionFailed("the stream was cut off", { call: path }, { cause: error });
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    control.abort();
  }
}

async function* readStream(response: Response, onBytes: () => void): AsyncGenerator<string, void> {
  const events = new EventReader();
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  onBytes();
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    onBytes();
    for (const { data } of events.push(decoder.decode(part.value, { stream: true }))) yield data;
  }
}

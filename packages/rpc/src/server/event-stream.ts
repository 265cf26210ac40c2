import type { ServerEvent } from "../resource.ts";
import type { ByteStream } from "./http/http-answer.ts";

/** A stream as a handler gave it, before it is HTTP. */
export type StreamAnswer = {
  readonly events: AsyncIterable<ServerEvent>;
  /** Bytes of its longest event. */
  readonly longest: number;
  /** Told of what the handler threw. */
  readonly onFailure: (error: unknown) => void;
  /** To be called once it has ended. */
  readonly onEnd: () => void;
};

const NAME = /^[!-~]*$/;
const LINE_END = /\r\n|\r|\n/;

/** One event as it is sent. Source: HTML Standard, section 9.2.5, "Parsing an event stream". */
export function eventText({ id, event, data }: ServerEvent): string {
  for (const name of [id, event])
    if (name !== undefined && !NAME.test(name)) throw new TypeError("names of events are visible ASCII");
  const lines = data.split(LINE_END).map((line) => `data: ${line}\n`);
  const named = event === undefined ? "" : `event: ${event}\n`;
  return `${id === undefined ? "" : `id: ${id}\n`}${named}${lines.join("")}\n`;
}

/** The events of a stream as bytes, drawn as its reader takes them. */
export class EventStream implements ByteStream {
  readonly maxWaitingBytes: number;
  readonly #answer: StreamAnswer;
  readonly #onEnd: () => void;
  #events: AsyncIterator<ServerEvent> | undefined;
  #isOver = false;

  /** Of an event, and of what waits for the reader, `maxWaitingBytes` at most. */
  constructor(
    answer: StreamAnswer,
    options: { readonly maxWaitingBytes: number; readonly onEnd: () => void },
  ) {
    this.maxWaitingBytes = options.maxWaitingBytes;
    this.#answer = answer;
    this.#onEnd = options.onEnd;
  }

  async next(): Promise<Buffer | undefined> {
    try {
      this.#events ??= this.#answer.events[Symbol.asyncIterator]();
      const { done, value } = await this.#events.next();
      if (done === true || this.#isOver) return undefined;
      // Characters are never more than bytes: what is too long is not copied.
      if (value.data.length > this.maxWaitingBytes) throw new RangeError("event too long");
      const bytes = Buffer.from(eventText(value), "utf8");
      if (bytes.length > this.maxWaitingBytes) throw new RangeError("event too long");
      return bytes;
    } catch (error) {
      // What ends because the reader has left may say so.
      if (!this.#isOver) this.#answer.onFailure(error);
      return undefined;
    }
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#answer.onEnd();
    this.#onEnd();
    // Nobody hears what a handler still throws; a generator that waits ends once what it waits for does.
    void this.#events?.return?.().catch(() => {});
  }
}

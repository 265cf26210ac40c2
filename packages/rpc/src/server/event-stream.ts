import type { ServerEvent } from "../resource.ts";
import type { ByteStream } from "./http/http-answer.ts";

/** A stream as a handler returned it, before it becomes HTTP. */
export type StreamAnswer = {
  readonly events: AsyncIterable<ServerEvent>;
  /** Maximum size of an event in bytes. */
  readonly longest: number;
  /** Called with an error that the handler threw. */
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

/** The events of a stream as bytes, requested from the handler as its reader receives them. */
export class EventStream implements ByteStream {
  readonly maxWaitingBytes: number;
  readonly #answer: StreamAnswer;
  readonly #onEnd: () => void;
  #events: AsyncIterator<ServerEvent> | undefined;
  #isOver = false;

  /** `maxWaitingBytes` limits an event, and the data that waits for the reader. */
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
      // A text has no more characters than bytes: one that is too long is not copied.
      if (value.data.length > this.maxWaitingBytes) throw new RangeError("event too long");
      const bytes = Buffer.from(eventText(value), "utf8");
      if (bytes.length > this.maxWaitingBytes) throw new RangeError("event too long");
      return bytes;
    } catch (error) {
      // If the reader has left, an error is expected and not reported.
      if (!this.#isOver) this.#answer.onFailure(error);
      return undefined;
    }
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#answer.onEnd();
    this.#onEnd();
    // Errors that the handler still throws are ignored; a waiting generator ends once its wait ends.
    void this.#events?.return?.().catch(() => {});
  }
}

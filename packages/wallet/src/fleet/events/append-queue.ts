/** Sends events of many wallets to the process that has the fleet's event log, those that come together in one request. */
import { packJson } from "@anulo/events";
import { forEachSliced } from "@anulo/limits";
import { toHex } from "@anulo/protocol";
import type { EventSink } from "../../events/follower.ts";
import type { LogFailure, SentEntry } from "./log-requests.ts";

type Entry = Parameters<EventSink["append"]>[0];

/** Bytes of events from which on a change is sent in parts; a part is larger by an event at the most. */
const PART_BYTES = 128 * 1024;
/** Maximum bytes of a request, but for one part. */
const MAX_BYTES = 256 * 1024;

type Waiting = {
  readonly text: string;
  resolve(failure: LogFailure | undefined): void;
  reject(error: unknown): void;
};

export class AppendQueue {
  /** Sends a request's text, and returns how each of its entries fared. */
  readonly #send: (body: string) => Promise<readonly (LogFailure | null)[]>;
  #waiting: Waiting[] = [];
  #isSending = false;

  constructor(send: (body: string) => Promise<readonly (LogFailure | null)[]>) {
    this.#send = send;
  }

  /** Resolves with the first failure once the process has answered for all parts; rejects if it has not answered. */
  async append(entry: Entry): Promise<LogFailure | undefined> {
    const parts = await partsOf(entry);
    const outcomes = parts.map(
      (text) =>
        new Promise<LogFailure | undefined>((resolve, reject) => {
          this.#waiting.push({ text, resolve, reject });
        }),
    );
    if (!this.#isSending) void this.#sendAll();
    return (await Promise.all(outcomes)).find((failure) => failure !== undefined);
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const batch = this.#nextBatch();
      try {
        const failures = await this.#send(bodyOf(batch.map(({ text }) => text)));
        batch.forEach(({ resolve }, i) => {
          resolve(failures[i] ?? undefined);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isSending = false;
  }

  #nextBatch(): Waiting[] {
    let count = 0;
    for (let bytes = 0; count < this.#waiting.length && bytes < MAX_BYTES; count++)
      bytes += Buffer.byteLength(this.#waiting[count]!.text);
    const batch = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    return batch;
  }
}

function bodyOf(entries: readonly string[]): string {
  const empty = packJson({ ask: "append", entries: [] });
  return `${empty.slice(0, -"]}".length)}${entries.join(",")}]}`;
}

/** The texts in which the events of a change are sent, without holding the event loop where they are many. */
async function partsOf({ source, wallet, change, events }: Entry): Promise<string[]> {
  const parts: string[] = [];
  let texts: string[] = [];
  let [bytes, before] = [0, 0];
  const head: Omit<SentEntry, "events" | "before" | "isPart"> = { source: toHex(source), wallet, change };
  const end = (isPart: boolean) => {
    const empty = packJson({ ...head, before, isPart, events: [] });
    parts.push(`${empty.slice(0, -"]}".length)}${texts.join(",")}]}`);
    before += texts.length;
    texts = [];
    bytes = 0;
  };
  await forEachSliced(events, (event) => {
    if (bytes >= PART_BYTES) end(true);
    const text = packJson(event);
    texts.push(text);
    bytes += Buffer.byteLength(text);
  });
  end(false);
  return parts;
}

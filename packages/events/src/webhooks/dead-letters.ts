import type { LoggedEvent } from "../event.ts";
import type { PendingRows } from "../gathered-writes.ts";
import { packJson, unpackJson } from "../json.ts";
import type { DeliveryRows } from "../log.ts";
import { sequenceKey, sequenceOf, tables } from "../tables.ts";
import type { DeadLetter } from "./hook.ts";

/** Maximum number per webhook: beyond it the oldest are removed. */
const MAX_DEAD_LETTERS = 1_000;

type StoredLetter = DeadLetter & { readonly event: LoggedEvent };

const letterKey = (hook: string, sequence: number) => ({
  table: tables.deadLetters,
  key: Buffer.concat([Buffer.from(hook, "hex"), sequenceKey(sequence)]),
});

/** Events that could not be delivered to a webhook, with all that is needed to send them again. */
export class DeadLetters {
  readonly #rows: DeliveryRows;
  readonly #hook: string;

  constructor(rows: DeliveryRows, hook: string) {
    this.#rows = rows;
    this.#hook = hook;
  }

  /** Returns letters after a sequence number, oldest first. */
  async *after(sequence: number, limit = Number.MAX_SAFE_INTEGER): AsyncGenerator<StoredLetter, void> {
    const from = letterKey(this.#hook, sequence + 1).key;
    for await (const { value } of this.#rows.range(tables.deadLetters, { from, limit })) {
      yield unpackJson(Buffer.from(value).toString()) as unknown as StoredLetter;
    }
  }

  /** Adds a letter to a group of rows, and removes the oldest letters above the limit. */
  async add(rows: PendingRows, event: LoggedEvent, letter: Omit<DeadLetter, "sequence">): Promise<void> {
    const stored = { ...letter, sequence: event.sequence, event };
    const numbers = await this.#numbers();
    const surplus = numbers.slice(0, Math.max(0, numbers.length + 1 - MAX_DEAD_LETTERS));
    rows.put({ ...letterKey(this.#hook, event.sequence), value: Buffer.from(packJson(stored)) });
    for (const sequence of surplus) rows.delete(letterKey(this.#hook, sequence));
  }

  async remove(sequence: number): Promise<void> {
    await this.#rows.write(async (rows) => {
      rows.delete(letterKey(this.#hook, sequence));
      return true;
    });
  }

  /** Removes all letters of the webhook in a group of rows. */
  async clear(rows: PendingRows): Promise<void> {
    for (const sequence of await this.#numbers()) rows.delete(letterKey(this.#hook, sequence));
  }

  async #numbers(): Promise<number[]> {
    const found: number[] = [];
    const from = letterKey(this.#hook, 0).key;
    for await (const { key } of this.#rows.range(tables.deadLetters, { from })) {
      found.push(sequenceOf(key.subarray(-8)));
    }
    return found;
  }
}

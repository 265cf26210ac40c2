/** Writes what happens to tokens, and what they are used for, to the event log and the text log. Never a secret. */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { EventLog, NewEvent } from "@anulo/events";
import type { Logger } from "@anulo/rpc";
import type { TokenRecord } from "./token.ts";

/** The id of these events among the sources of the event log. */
const SOURCE = new Uint8Array(createHash("sha256").update("anulo access").digest().subarray(0, 16));
/** Rejections of one kind are reported once in this many seconds. */
const REFUSALS_SECONDS = 60;
/** Maximum number of kinds of rejections that are counted. */
const MAX_KINDS = 1000;
/** Maximum number of events that wait to be written; further ones are only in the text log. */
const MAX_WAITING = 1000;
/** Maximum number of transactions in one event, whose size the event log limits: ids take half of it. */
const MAX_TRANSACTIONS = 400;
/** Milliseconds between two attempts to write an event. */
const RETRY_MS = 5000;

/** The number of rejections since they were last reported. */
type Refusals = { since: number; count: number };

export type AuditParts = {
  /** If undefined, only the text log is written. */
  readonly events: EventLog | undefined;
  readonly log: Logger;
  /** Returns seconds since 1970. */
  readonly now: () => number;
  /** Milliseconds between two attempts to write an event. */
  readonly retryMs?: number;
};

type EventFields = Omit<NewEvent, "type">;

export class AuditLog {
  readonly #parts: AuditParts;
  readonly #refusals = new Map<string, Refusals>();
  /** Number of the last event in the log; undefined until it was read. */
  #change: number | undefined;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();
  /** Aborted when the log is closed: nothing is tried again from then on. */
  readonly #closing = new AbortController();

  constructor(parts: AuditParts) {
    this.#parts = parts;
  }

  /** `by`: the id of the token used to create it, "login" or "start". */
  created(record: TokenRecord, by: string): void {
    const { id, name, scopes, wallets, expires, capHour, capDay } = record;
    this.#tell("token_created", {
      token_id: id,
      name,
      scopes: [...scopes],
      wallets: [...wallets],
      ...(expires !== 0 && { expires }),
      ...(capHour !== undefined && { cap_hour: capHour }),
      ...(capDay !== undefined && { cap_day: capDay }),
      by,
    });
  }

  firstUsed({ id, name }: TokenRecord): void {
    this.#tell("token_first_used", { token_id: id, name });
  }

  revoked({ id, name }: TokenRecord, by: string | undefined): void {
    this.#tell("token_revoked", { token_id: id, name, by: by ?? "login" });
  }

  /** A token was refused access; reported once a minute, with the number of rejections since. */
  refused(id: string, what: string): void {
    const count = this.#countRefusal(`${id} ${what}`);
    if (count !== undefined) this.#tell("token_refused", { token_id: id, what, count });
  }

  /** A request came without a valid token. Only in the text log, since anyone can send such requests. */
  unknown(): undefined {
    const count = this.#countRefusal("");
    if (count !== undefined) this.#parts.log.warn("tokens refused", { count });
  }

  /**
   * Transactions of a wallet are sent with a token; `amount` (atomic units, with fees) is undefined if it isn't known.
   * Many transactions are told in several events, of which the first has the amount.
   */
  spent(
    token: string,
    wallet: string,
    spend: { amount: bigint | undefined; txHashes: readonly string[] },
  ): void {
    const { amount, txHashes } = spend;
    const parts = Math.max(1, Math.ceil(txHashes.length / MAX_TRANSACTIONS));
    for (let part = 1; part <= parts; part++) {
      const tx_hashes = txHashes.slice((part - 1) * MAX_TRANSACTIONS, part * MAX_TRANSACTIONS);
      const total = part === 1 && amount !== undefined && { amount };
      this.#tell(
        "token_spent",
        { token_id: token, tx_hashes, ...total, ...(parts > 1 && { part, parts }) },
        wallet,
      );
    }
  }

  /** Waits until pending writes have ended; what can't be written by then is given up. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#last;
  }

  /** The number of rejections since the last report; undefined if that was not long ago. */
  #countRefusal(kind: string): number | undefined {
    const now = this.#parts.now();
    const refusal = this.#refusals.get(kind);
    if (refusal !== undefined && now < refusal.since + REFUSALS_SECONDS) {
      refusal.count += 1;
      return undefined;
    }
    if (this.#refusals.size >= MAX_KINDS) this.#refusals.clear();
    this.#refusals.set(kind, { since: now, count: 0 });
    return (refusal?.count ?? 0) + 1;
  }

  #tell(type: string, fields: EventFields, wallet = ""): void {
    const { events, log } = this.#parts;
    log.info(type.replaceAll("_", " "), { ...fields, ...(wallet !== "" && { wallet }) });
    if (events === undefined || this.#waiting >= MAX_WAITING) return;
    this.#waiting += 1;
    this.#last = this.#last
      .then(() => this.#write(events, { ...fields, type }, wallet))
      .catch((error: unknown) => log.error("an event about a token can't be kept", { error }))
      .finally(() => {
        this.#waiting -= 1;
      });
  }

  /** Writes an event; tries again as long as the log can't be written for the time being. */
  async #write(events: EventLog, event: NewEvent, wallet: string): Promise<void> {
    const { retryMs = RETRY_MS } = this.#parts;
    while (true) {
      try {
        this.#change ??= (await events.cursorOf(SOURCE)) ?? 0;
        await events.append({ source: SOURCE, wallet, change: this.#change + 1, events: [event] });
        this.#change += 1;
        return;
      } catch (error) {
        const isFinal = error instanceof RangeError || events.ended.aborted || this.#closing.signal.aborted;
        if (isFinal) throw error;
        this.#change = undefined;
        const signal = AbortSignal.any([events.ended, this.#closing.signal]);
        await delay(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }
}

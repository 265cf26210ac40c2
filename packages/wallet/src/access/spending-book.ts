/** What each token has spent in the last hour and day, counted durably before a payment is signed. */
import type { LineFile } from "../file/line-file.ts";
import type { Reservation, Spend } from "../intents/allowance.ts";
import { WalletRefusal } from "../refusal.ts";
import { TaskQueue } from "../turns.ts";
import type { TokenRecord } from "./token.ts";

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Maximum number of payments that are counted per token and day. */
const MAX_COUNTED = 10_000;
/** Number of obsolete lines, beyond as many as are in use, after which the file is rewritten. */
const MAX_SPARE_LINES = 1000;

/** A spend that is counted; `key` becomes undefined once it can't be released any more. */
type Entry = {
  readonly at: number;
  readonly amount: bigint;
  key: string | undefined;
  txHashes: readonly string[];
};

/** A line of the file: a spend is counted, is settled, or is released. */
type Line =
  | { readonly do: "count"; readonly token: string; readonly key: string; at: number; amount: string }
  | { readonly do: "settle"; readonly token: string; readonly key: string; txHashes: readonly string[] }
  | { readonly do: "release"; readonly token: string; readonly key: string };

type Capped = Pick<TokenRecord, "id" | "capHour" | "capDay">;

/** Amounts that a token has spent, in atomic units. */
export type Spent = { readonly hour: bigint; readonly day: bigint };

export class SpendingBook {
  readonly #file: LineFile;
  /** Returns seconds since 1970. */
  readonly #now: () => number;
  /** Spends of each token, oldest first. */
  readonly #entries = new Map<string, Set<Entry>>();
  /** Spends are processed one after the other, so that the cap is compared with all spends so far. */
  readonly #turns = new TaskQueue();
  #lines: number;
  /** A write has failed: the content of the file is unknown. */
  #isBroken = false;

  /** Continues with the lines of the file. Throws if a line is invalid. */
  constructor(file: LineFile, now: () => number) {
    this.#file = file;
    this.#now = now;
    for (const line of file.lines) this.#apply(JSON.parse(line) as Line);
    this.#lines = file.lines.length;
  }

  /** The amounts that a token has spent in the last hour and day. */
  spentBy(token: string): Spent {
    return this.#spentBy(token, undefined);
  }

  #spentBy(token: string, except: Entry | undefined): Spent {
    const now = this.#now();
    let [hour, day] = [0n, 0n];
    for (const entry of this.#entries.get(token) ?? []) {
      if (entry === except) continue;
      // Entries that seem to be in the future, after the clock was set back, count too.
      if (entry.at > now - HOUR) hour += entry.amount;
      if (entry.at > now - DAY) day += entry.amount;
    }
    return { hour, day };
  }

  /**
   * Counts a spend, durably before this resolves; it replaces a spend with the same key that was never sent. Throws
   * `WalletRefusal` if it exceeds a cap.
   */
  reserve(token: Capped, { key, amount }: Spend): Promise<Reservation> {
    return this.#turns.run(async () => {
      this.#forgetOld(token.id);
      this.#check(token, amount, this.#spentBy(token.id, this.#open(token.id, key)));
      await this.#write({ do: "count", token: token.id, key, at: this.#now(), amount: `${amount}` });
      return {
        settle: (txHashes) => this.#end({ do: "settle", token: token.id, key, txHashes }),
        release: () => this.#end({ do: "release", token: token.id, key }),
      };
    });
  }

  /** Whether all of these transactions (ids, hexadecimal) were counted for a token in the last day. */
  hasCounted(token: string, txHashes: readonly string[]): boolean {
    const counted = new Set([...(this.#entries.get(token) ?? [])].flatMap((entry) => entry.txHashes));
    return txHashes.every((txHash) => counted.has(txHash));
  }

  /** Waits until pending writes have ended. */
  whenIdle(): Promise<void> {
    return this.#turns.whenIdle();
  }

  #check({ id, capHour, capDay }: Capped, amount: bigint, { hour, day }: Spent): void {
    const isOver = (cap: bigint | undefined, spent: bigint) => cap !== undefined && spent + amount > cap;
    const which = isOver(capHour, hour) ? "an hour" : isOver(capDay, day) ? "a day" : undefined;
    if (which !== undefined) throw capped(`spend so much ${which}`);
    if ((this.#entries.get(id)?.size ?? 0) >= MAX_COUNTED)
      throw capped(`pay more than ${MAX_COUNTED} times a day`);
  }

  #end(line: Line): Promise<void> {
    return this.#turns.run(() => this.#write(line));
  }

  async #write(line: Line): Promise<void> {
    if (this.#isBroken)
      throw new WalletRefusal(
        "UNKNOWN_ERROR",
        "What tokens spend can't be counted until the service is restarted",
      );
    try {
      await this.#file.append(JSON.stringify(line));
      this.#lines += 1;
      this.#apply(line);
      await this.#compact();
    } catch (error) {
      this.#isBroken = true;
      throw new WalletRefusal(
        "UNKNOWN_ERROR",
        `What tokens spend can't be counted: ${(error as Error).message}`,
      );
    }
  }

  #apply(line: Line): void {
    const { token } = line;
    if (!this.#entries.has(token)) this.#entries.set(token, new Set());
    const entries = this.#entries.get(token)!;
    const open = this.#open(token, line.key);
    if (line.do === "settle") {
      if (open === undefined) return;
      open.key = undefined;
      open.txHashes = line.txHashes;
      return;
    }
    if (open !== undefined) entries.delete(open);
    if (line.do === "count")
      entries.add({ at: line.at, amount: BigInt(line.amount), key: line.key, txHashes: [] });
  }

  #open(token: string, key: string): Entry | undefined {
    for (const entry of this.#entries.get(token) ?? []) if (entry.key === key) return entry;
    return undefined;
  }

  #forgetOld(token: string): void {
    const entries = this.#entries.get(token);
    const before = this.#now() - DAY;
    for (const entry of entries ?? []) if (entry.at <= before) entries!.delete(entry);
  }

  /** Rewrites the file once most of its lines are obsolete. */
  async #compact(): Promise<void> {
    let count = 0;
    for (const entries of this.#entries.values()) count += 2 * entries.size;
    if (this.#lines <= 2 * count + MAX_SPARE_LINES) return;
    for (const token of this.#entries.keys()) this.#forgetOld(token);
    const lines = [...this.#entries].flatMap(([token, entries]) =>
      [...entries].flatMap((entry, place) => linesOf(token, entry, place)),
    );
    await this.#file.replace(lines.map((line) => JSON.stringify(line)));
    this.#lines = lines.length;
  }
}

/**
 * The lines of the file for an entry; `place` makes a unique key for a settled entry, which no payment's key equals.
 */
function linesOf(token: string, { at, amount, key, txHashes }: Entry, place: number): Line[] {
  const name = key ?? `settled ${place}`;
  const count = { do: "count", token, key: name, at, amount: `${amount}` } as const;
  return key === undefined ? [count, { do: "settle", token, key: name, txHashes }] : [count];
}

/** The error for a call that a token's cap forbids. */
export const capped = (what: string) =>
  new WalletRefusal("TOKEN_CAP", `Forbidden: this token may not ${what}`);

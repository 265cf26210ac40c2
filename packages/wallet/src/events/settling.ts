/** Items in blocks until no further event about them can follow: each block costs only what is due at its height. */
import { SPENDABLE_AGE, waitsForTime } from "../outputs/locked-places.ts";
import { isUnlocked, type Now } from "../unlock.ts";

/** An item in a block. */
export type Settling = {
  readonly item: { readonly height: number; readonly unlockTime: bigint };
  /** Numbers of confirmations that are reported, ascending. */
  readonly marks: readonly number[];
  readonly tellsUnlock: boolean;
};

/** What has become true of an item. */
export type Step =
  | { readonly what: "confirmed"; readonly confirmations: number }
  | { readonly what: "unlocked" };

/** Maximum unlock height that is followed: no chain reaches higher ones. */
const HIGHEST = BigInt(Number.MAX_SAFE_INTEGER);

type Entry<T extends Settling> = { readonly followed: T; marks: number; isUnlocked: boolean };

export class Unsettled<T extends Settling> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #due = new Map<number, string[]>();
  readonly #timed = new Set<string>();
  #nextTime: bigint | undefined;

  /**
   * Follows an item from `height` blocks on; what was true at `known` is not reported again. What has become true by
   * that height is returned by `stepsOf`.
   */
  add(key: string, followed: T, height: number, since?: Now): void {
    const { item, marks, tellsUnlock } = followed;
    const reached =
      since === undefined ? 0 : marks.filter((mark) => item.height + mark <= since.height).length;
    const isDone = !tellsUnlock || (since !== undefined && isUnlocked(item, since));
    this.#entries.set(key, { followed, marks: reached, isUnlocked: isDone });
    const plan = (at: number) => {
      if (at > height) this.#plan(at, key);
    };
    for (const mark of marks.slice(reached)) plan(item.height + mark);
    this.#forgetIfOver(key);
    if (isDone) return;
    plan(item.height + SPENDABLE_AGE);
    if (waitsForTime(item)) {
      this.#timed.add(key);
      this.#nextTime = undefined;
    } else if (item.unlockTime < HIGHEST) plan(Number(item.unlockTime));
  }

  drop(key: string): void {
    this.#entries.delete(key);
    if (this.#timed.delete(key)) this.#nextTime = undefined;
  }

  /** The steps that have become true of one item. */
  stepsOf(key: string, now: Now): Step[] {
    const entry = this.#entries.get(key);
    if (entry === undefined) return [];
    const { item, marks } = entry.followed;
    const steps: { readonly step: Step; readonly at: number }[] = [];
    for (; entry.marks < marks.length && item.height + marks[entry.marks]! <= now.height; entry.marks++) {
      const confirmations = marks[entry.marks]!;
      steps.push({ step: { what: "confirmed", confirmations }, at: item.height + confirmations });
    }
    if (!entry.isUnlocked && isUnlocked(item, now)) {
      entry.isUnlocked = true;
      steps.push({ step: { what: "unlocked" }, at: item.height + SPENDABLE_AGE });
    }
    this.#forgetIfOver(key);
    return steps.sort((a, b) => a.at - b.at).map(({ step }) => step);
  }

  /** The steps that are due at heights above `from`, up to that of `now`, lowest first. */
  *dueSince(from: number, now: Now): Generator<{ readonly followed: T; readonly step: Step }> {
    for (const height of this.#heights(from, now.height)) {
      const keys = this.#due.get(height) ?? [];
      this.#due.delete(height);
      yield* this.#stepsOfAll(keys, { ...now, height });
    }
  }

  /** The steps that are due because an unlock time has passed. */
  *dueByTime(now: Now): Generator<{ readonly followed: T; readonly step: Step }> {
    yield* this.#stepsOfAll([...this.#timed], now);
  }

  /** The next unlock time, in seconds since 1970, of an item after `seconds`. */
  nextTime(seconds: number): bigint | undefined {
    if (this.#nextTime !== undefined && this.#nextTime > BigInt(seconds)) return this.#nextTime;
    this.#nextTime = undefined;
    for (const key of this.#timed) {
      const { unlockTime } = this.#entries.get(key)!.followed.item;
      if (unlockTime > BigInt(seconds) && unlockTime < (this.#nextTime ?? unlockTime + 1n))
        this.#nextTime = unlockTime;
    }
    return this.#nextTime;
  }

  *#stepsOfAll(keys: readonly string[], now: Now): Generator<{ readonly followed: T; readonly step: Step }> {
    for (const key of keys) {
      const followed = this.#entries.get(key)?.followed;
      if (followed === undefined) continue;
      for (const step of this.stepsOf(key, now)) yield { followed, step };
    }
  }

  #heights(from: number, to: number): number[] {
    const heights: number[] = [];
    if (to - from < this.#due.size) {
      for (let height = from + 1; height <= to; height++) if (this.#due.has(height)) heights.push(height);
      return heights;
    }
    for (const height of this.#due.keys()) if (height > from && height <= to) heights.push(height);
    return heights.sort((a, b) => a - b);
  }

  #plan(height: number, key: string): void {
    const keys = this.#due.get(height);
    if (keys === undefined) this.#due.set(height, [key]);
    else keys.push(key);
  }

  #forgetIfOver(key: string): void {
    const entry = this.#entries.get(key);
    if (entry?.isUnlocked === true && entry.marks === entry.followed.marks.length) this.drop(key);
  }
}

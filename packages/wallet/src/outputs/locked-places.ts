/** Which unspent outputs may not be spendable yet, so that asking for what is unlocked walks only these. */

import { MAX_BLOCK_NUMBER } from "@anulo/protocol";
import { LazyMap } from "../packed/lazy-map.ts";

/** Blocks before an output can be spent. Source: cryptonote_config.h CRYPTONOTE_DEFAULT_TX_SPENDABLE_AGE. */
export const SPENDABLE_AGE = 10;
/** Seconds per block since hard fork 2. Source: cryptonote_config.h DIFFICULTY_TARGET_V2. */
export const BLOCK_SECONDS = 120;
/** Number of places that are kept without asking whether their height has passed. */
const SLACK = 256;

type Locked = { readonly height: number; readonly unlockTime: bigint };

/** True if the unlock time is a time rather than a height, even if it has passed. */
export function waitsForTime({ unlockTime }: Pick<Locked, "unlockTime">): boolean {
  return unlockTime >= MAX_BLOCK_NUMBER;
}

/** Height from which on an output can be spent, as far as heights decide. */
export function unlockHeight({ height, unlockTime }: Locked): number {
  const spendableAt = height + SPENDABLE_AGE;
  return waitsForTime({ unlockTime }) ? spendableAt : Math.max(spendableAt, Number(unlockTime));
}

const NONE: ReadonlySet<number> = new Set();

/**
 * The places of every account that unlock above the height given last, or at a time; some that have unlocked meanwhile
 * may still be among them.
 */
export class LockedPlaces {
  readonly #accounts = new LazyMap<number, Set<number>>();
  #count = 0;
  /** Places that are unlocked at this height may be missing. */
  #passed = 0;
  #nextPrune = SLACK;

  get passed(): number {
    return this.#passed;
  }

  ofAccount(major: number): ReadonlySet<number> {
    return this.#accounts.get(major) ?? NONE;
  }

  add(major: number, place: number, output: Locked): void {
    if (!waitsForTime(output) && unlockHeight(output) <= this.#passed) return;
    const places = this.#accounts.get(major) ?? new Set();
    this.#count += places.has(place) ? 0 : 1;
    this.#accounts.set(major, places.add(place));
  }

  delete(major: number, place: number): void {
    const places = this.#accounts.get(major);
    if (places?.delete(place) !== true) return;
    this.#count -= 1;
    if (places.size === 0) this.#accounts.delete(major);
  }

  /**
   * Drops places that a height unlocks, once enough have gathered that looking at all of them costs little each.
   */
  pass(height: number, lockedAt: (place: number) => Locked): void {
    if (height < this.#passed || (this.#count > 0 && this.#count < this.#nextPrune)) return;
    this.#passed = height;
    for (const [major, places] of this.#accounts) {
      for (const place of places) {
        const output = lockedAt(place);
        if (!waitsForTime(output) && unlockHeight(output) <= height) this.delete(major, place);
      }
    }
    this.#nextPrune = 2 * this.#count + SLACK;
  }

  /** Begins anew: every place that is locked at this height, or unlocks at a time, has to be added again. */
  restart(height: number): void {
    this.#accounts.clear();
    this.#count = 0;
    this.#passed = height;
    this.#nextPrune = SLACK;
  }
}

/** Some outputs as columns of what changes and choices of inputs need: 25 bytes of each, and 8 where some have unlock times. */
import type { ColdOutput } from "./cold-outputs.ts";
import { SPENDABLE_AGE, waitsForTime } from "./locked-places.ts";
import type { OwnedOutput } from "./owned-output.ts";

/** Maximum number of outputs of a page. */
export const PAGE_OUTPUTS = 1024;
const LEAST_OUTPUTS = 8;

const FLAGS = { rct: 1, coinbase: 2, frozen: 4, keyImage: 8, pending: 16, unlockTime: 32 } as const;
type Flag = keyof typeof FLAGS;

export type Lock = { readonly height: number; readonly unlockTime: bigint };

/** What decides whether an output may be spent. */
export type SpendableQuestion = {
  readonly height: number;
  /** Since 1970. */
  readonly seconds: number;
  readonly needsKeyImage: boolean;
  /** Decides for outputs that may be locked at that height or time. */
  readonly isUnlocked: (output: Lock) => boolean;
};

/**
 * Whether the output at an index of a page may be spent: nothing spends it, its owner has not frozen it, its key image
 * is known if that is needed, and it is unlocked. The one place where this is decided.
 */
export function isSpendable(page: OutputPage, index: number, question: SpendableQuestion): boolean {
  const { spends, flags } = page.columns;
  const image = question.needsKeyImage ? FLAGS.keyImage : 0;
  const mask = FLAGS.frozen | FLAGS.pending | image;
  if (spends[index] !== 0 || (flags[index]! & mask) !== image) return false;
  return !page.mayBeLocked(index, question.height) || question.isUnlocked(page.lockAt(index));
}

const ALL_ONES = 0xffff_ffff;

export type HotOutput = Omit<OwnedOutput, keyof ColdOutput | "replaces">;

/** Which word of a number of 64 bits has its higher half, on this processor. */
const HIGH_WORD = new Uint32Array(BigUint64Array.of(1n).buffer)[1] === 0 ? 1 : 0;

function columnsOf(capacity: number, hasUnlockTimes = false) {
  const amounts = new BigUint64Array(capacity);
  return {
    amounts,
    /** The same memory: numbers of 64 bits are slow to make. */
    amountWords: new Uint32Array(amounts.buffer),
    unlockTimes: new BigUint64Array(hasUnlockTimes ? capacity : 0),
    heights: new Uint32Array(capacity),
    /** Height + 1, so that 0 is an output that no block spends. */
    spends: new Uint32Array(capacity),
    majors: new Uint32Array(capacity),
    minors: new Uint32Array(capacity),
    flags: new Uint8Array(capacity),
  };
}

export type Columns = Readonly<ReturnType<typeof columnsOf>>;
type NumberColumn = "heights" | "spends" | "majors" | "minors";

export class OutputPage {
  columns: Columns = columnsOf(LEAST_OUTPUTS);
  #capacity = LEAST_OUTPUTS;
  /** No output is in a higher block. */
  greatestHeight = 0;
  /** From this height on all are unlocked; infinite if one waits for a time. */
  opensBy = 0;
  /** Above the height of every block that spends one of the outputs. */
  greatestSpend = 0;
  /** Whether an output may have an unlock time, and the column is there. */
  hasUnlockTimes = false;
  /** No amount is below this number, which is near to one. */
  leastAmount = Number.POSITIVE_INFINITY;

  /** Makes room for an output at an index below `PAGE_OUTPUTS`. */
  reserve(index: number): void {
    if (index < this.#capacity) return;
    const former = this.columns;
    this.#capacity = Math.min(PAGE_OUTPUTS, Math.max(2 * this.#capacity, index + 1));
    this.#copy(former);
  }

  /** Makes room for unlock times, which few outputs have. */
  reserveUnlockTimes(): void {
    if (this.hasUnlockTimes) return;
    this.hasUnlockTimes = true;
    this.#copy(this.columns);
  }

  #copy(former: Columns): void {
    this.columns = columnsOf(this.#capacity, this.hasUnlockTimes);
    for (const name of Object.keys(former) as (keyof Columns)[])
      this.columns[name].set(former[name] as never);
  }

  /** The number nearest to an amount: the amount itself below 2^53. */
  amountNumber(index: number): number {
    const { amountWords } = this.columns;
    return amountWords[2 * index + HIGH_WORD]! * 2 ** 32 + amountWords[2 * index + 1 - HIGH_WORD]!;
  }

  is(flag: Flag, index: number): boolean {
    return (this.columns.flags[index]! & FLAGS[flag]) !== 0;
  }

  mark(flag: Flag, index: number, isSet: boolean): void {
    if (isSet) this.columns.flags[index]! |= FLAGS[flag];
    else this.columns.flags[index]! &= ~FLAGS[flag];
  }

  /** True while the output is not spent, neither in a block nor by an unconfirmed transaction. */
  isUnspent(index: number): boolean {
    return this.columns.spends[index] === 0 && !this.is("pending", index);
  }

  /** Tells by index what may change of the outputs, as it is now. */
  statesNow(): (index: number) => {
    readonly isSpent: boolean;
    readonly frozen: boolean;
    readonly hasKeyImage: boolean;
  } {
    const spends = this.columns.spends.slice();
    const flags = this.columns.flags.slice();
    const has = (flag: Flag, index: number) => (flags[index]! & FLAGS[flag]) !== 0;
    return (index) => ({
      isSpent: spends[index] !== 0 || has("pending", index),
      frozen: has("frozen", index),
      hasKeyImage: has("keyImage", index),
    });
  }

  /** True while nothing spends the output, and its owner has not frozen it. */
  isFree(index: number): boolean {
    const { spends, flags } = this.columns;
    return spends[index] === 0 && (flags[index]! & (FLAGS.pending | FLAGS.frozen)) === 0;
  }

  /** False only for outputs that are unlocked at a height, whatever the time. */
  mayBeLocked(index: number, height: number): boolean {
    if (this.opensBy <= height) return false;
    return this.is("unlockTime", index) || this.columns.heights[index]! + SPENDABLE_AGE > height;
  }

  lockAt(index: number): Lock {
    const unlockTime = this.is("unlockTime", index) ? this.columns.unlockTimes[index]! : 0n;
    return { height: this.columns.heights[index]!, unlockTime };
  }

  setSpentHeight(index: number, height: number | undefined): void {
    this.#setNumber("spends", index, height === undefined ? 0 : height + 1);
    this.greatestSpend = Math.max(this.greatestSpend, this.columns.spends[index]!);
  }

  /** Throws `RangeError` for a number that does not fit. */
  write(index: number, output: HotOutput & Pick<ColdOutput, "keyImage">): void {
    if (output.unlockTime !== 0n) this.reserveUnlockTimes();
    const { columns } = this;
    if (this.hasUnlockTimes) columns.unlockTimes[index] = output.unlockTime;
    columns.amounts[index] = output.amount;
    this.leastAmount = Math.min(this.leastAmount, Number(output.amount));
    this.#setNumber("heights", index, output.height);
    this.greatestHeight = Math.max(this.greatestHeight, output.height);
    this.#setNumber("majors", index, output.subaddress.major);
    this.#setNumber("minors", index, output.subaddress.minor);
    columns.flags[index] = 0;
    this.mark("rct", index, output.rct);
    this.mark("coinbase", index, output.coinbase);
    this.mark("frozen", index, output.frozen);
    this.mark("pending", index, output.pendingSpend !== undefined);
    this.mark("unlockTime", index, output.unlockTime !== 0n);
    this.setSpentHeight(index, output.spentHeight);
    this.mark("keyImage", index, output.keyImage !== undefined);
    this.#noteLock(index);
  }

  #noteLock(index: number): void {
    const spendableAt = this.columns.heights[index]! + SPENDABLE_AGE;
    this.opensBy = Math.max(this.opensBy, spendableAt);
    if (!this.is("unlockTime", index)) return;
    const unlockTime = this.columns.unlockTimes[index]!;
    this.opensBy = waitsForTime({ unlockTime })
      ? Number.POSITIVE_INFINITY
      : Math.max(this.opensBy, Number(unlockTime));
  }

  #setNumber(column: NumberColumn, index: number, value: number): void {
    if (!(value >= 0 && value < ALL_ONES)) throw new RangeError(`${column} of an output: ${value}`);
    this.columns[column][index] = value;
  }

  read(index: number): Omit<HotOutput, "pendingSpend"> {
    const { columns } = this;
    const spend = columns.spends[index]!;
    return {
      amount: columns.amounts[index]!,
      rct: this.is("rct", index),
      subaddress: { major: columns.majors[index]!, minor: columns.minors[index]! },
      height: columns.heights[index]!,
      unlockTime: this.hasUnlockTimes ? columns.unlockTimes[index]! : 0n,
      coinbase: this.is("coinbase", index),
      frozen: this.is("frozen", index),
      spentHeight: spend === 0 ? undefined : spend - 1,
    };
  }

  /** Learns what is known of the page as a whole from outputs that were put into its columns. */
  noteColumns(from: number, to: number): void {
    const { heights, spends } = this.columns;
    for (let index = from; index < to; index++) {
      this.greatestHeight = Math.max(this.greatestHeight, heights[index]!);
      this.greatestSpend = Math.max(this.greatestSpend, spends[index]!);
      this.leastAmount = Math.min(this.leastAmount, this.amountNumber(index));
      this.#noteLock(index);
    }
  }
}

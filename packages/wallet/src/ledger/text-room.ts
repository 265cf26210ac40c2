/** How much text callers have had a wallet store: labels, tags, notes, attributes, the address book. */
import { runSliced } from "@anulo/limits";
import { WalletRefusal } from "../refusal.ts";
import type { WalletState } from "../state.ts";

/** Characters of all of it: it is in memory while the wallet is open, one or two bytes each. */
const MAX_CHARACTERS = 128 * 1024 * 1024;
/** What an entry costs beside its texts, in characters. */
const ENTRY = 64;
/** Entries that are read between two looks at the clock. */
const ENTRIES_AT_ONCE = 64;

type Texts = Pick<WalletState, "accounts" | "accountTags" | "notes" | "attributes" | "addressBook">;

/** The characters that entries with these texts cost. */
export const costOf = (...texts: readonly string[]): number =>
  texts.reduce((sum, { length }) => sum + length, ENTRY);

function* costs({ accounts, accountTags, notes, attributes, addressBook }: Texts): Generator<number, void> {
  for (const { tag, addresses } of accounts) {
    yield tag.length;
    for (const { label } of addresses) yield label.length;
  }
  for (const texts of [accountTags, notes, attributes])
    for (const [key, text] of texts) yield costOf(key, text);
  for (const { address, description } of addressBook) yield costOf(address, description);
}

function* sumOf(texts: Texts): Generator<void, number> {
  let [sum, count] = [0, 0];
  for (const cost of costs(texts)) {
    sum += cost;
    if (++count % ENTRIES_AT_ONCE === 0) yield;
  }
  return sum;
}

export class TextRoom {
  readonly #texts: Texts;
  readonly #max: number;
  /** What was stored when it was counted; from then on what is replaced or deleted still counts. */
  #counted: number | undefined;
  /** What calls have stored since, or failed to, of which some may be stored. */
  #added = 0;
  /** What calls store at the moment. */
  #pending = 0;
  #counting: Promise<void> | undefined;

  /** `max`: characters of all texts. */
  constructor(texts: Texts, max = MAX_CHARACTERS) {
    this.#texts = texts;
    this.#max = max;
  }

  /**
   * Has texts stored that cost so many characters. Throws `WalletRefusal` if they are too many with those there are, and
   * those that other calls store meanwhile.
   */
  async during<T>(characters: number, store: () => Promise<T>): Promise<T> {
    if (characters === 0) return await store();
    if (!this.#hasRoomFor(characters)) {
      this.#counting ??= this.#count();
      await this.#counting;
    }
    if (!this.#hasRoomFor(characters)) throw this.#refusal;
    this.#pending += characters;
    try {
      return await store();
    } finally {
      this.#pending -= characters;
      this.#added += characters;
    }
  }

  get #refusal(): WalletRefusal {
    return new WalletRefusal(
      "UNKNOWN_ERROR",
      `the labels, notes and other texts of a wallet have at most ${this.#max} characters`,
    );
  }

  #hasRoomFor(characters: number): boolean {
    if (this.#counted === undefined) return false;
    return this.#counted + this.#added + this.#pending + characters <= this.#max;
  }

  /** What is stored while it counts may not be in the sum. */
  async #count(): Promise<void> {
    const before = this.#added;
    try {
      this.#counted = await runSliced(sumOf(this.#texts));
      this.#added -= before;
    } finally {
      this.#counting = undefined;
    }
  }
}

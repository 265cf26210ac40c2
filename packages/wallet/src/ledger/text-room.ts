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
  /** At least what is stored: what is replaced or deleted is taken off when it is counted anew. */
  #stored: number | undefined;

  /** `max`: characters of all texts. */
  constructor(texts: Texts, max = MAX_CHARACTERS) {
    this.#texts = texts;
    this.#max = max;
  }

  /** To be called before texts are stored that cost so many characters. Throws `WalletRefusal` if they are too many. */
  async take(characters: number): Promise<void> {
    if (characters === 0) return;
    if (this.#stored === undefined || this.#stored + characters > this.#max)
      this.#stored = await runSliced(sumOf(this.#texts));
    if (this.#stored + characters > this.#max)
      throw new WalletRefusal(
        "UNKNOWN_ERROR",
        `the labels, notes and other texts of a wallet have at most ${this.#max} characters`,
      );
    this.#stored += characters;
  }
}

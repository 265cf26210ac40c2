/** The payments of a wallet by their keys. */
import type { Ledger } from "../ledger/ledger.ts";
import type { Intent } from "../state.ts";

export class IntentBook {
  readonly #ledger: Pick<Ledger, "state" | "intentPlaces">;

  constructor(ledger: Pick<Ledger, "state" | "intentPlaces">) {
    this.#ledger = ledger;
  }

  /** The payment with a key, from the caller or generated. */
  of(key: string): Intent | undefined {
    const place = this.#ledger.intentPlaces.get(key);
    return place === undefined ? undefined : this.#ledger.state.intents[place];
  }

  /**
   * Up to `count` payments after the one with `key`, in the order in which they were first recorded; undefined if there
   * is no such payment.
   */
  after(key: string | undefined, count: number): Intent[] | undefined {
    const place = key === undefined ? -1 : this.#ledger.intentPlaces.get(key);
    return place === undefined ? undefined : this.#ledger.state.intents.slice(place + 1, place + 1 + count);
  }
}

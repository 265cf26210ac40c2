import { type ExactObject, formatExact } from "@anulo/devnet";
import { demand } from "../wallet/stage.ts";

/** What the events say of a payment or a transfer that is in a block. */
type Mined = { readonly height: number; isConfirmed: boolean; isUnlocked: boolean };

const keyOf = ({ tx_hash, subaddr_index }: ExactObject): string => {
  const { major, minor } = subaddr_index as ExactObject;
  return `${String(tx_hash)}/${major}/${minor}`;
};

/** Follows the events of a wallet's payments: none comes where what it says is the case already, or can't be. */
export class PaymentsByEvents {
  readonly #mined = new Map<string, Mined>();
  readonly #pool = new Set<string>();
  /** Number of events of each type. */
  readonly counts = new Map<string, number>();

  add(event: ExactObject): void {
    const type = String(event.type);
    this.counts.set(type, (this.counts.get(type) ?? 0) + 1);
    if (!type.startsWith("payment_")) return;
    const key = keyOf(event);
    const mined = this.#mined.get(key);
    const fits: (holds: boolean) => asserts holds = (holds) =>
      demand(holds, `an event does not fit what was told before: ${formatExact(event)}`);
    switch (type) {
      case "payment_in_pool":
        fits(mined === undefined && !this.#pool.has(key));
        this.#pool.add(key);
        break;
      case "payment_dropped":
        fits(this.#pool.delete(key));
        break;
      case "payment_in_block":
        fits(mined === undefined);
        this.#pool.delete(key);
        this.#mined.set(key, { height: Number(event.height), isConfirmed: false, isUnlocked: false });
        break;
      case "payment_confirmed":
        fits(mined?.isConfirmed === false);
        mined.isConfirmed = true;
        break;
      case "payment_unlocked":
        fits(mined?.isUnlocked === false);
        mined.isUnlocked = true;
        break;
      case "payment_undone":
        fits(this.#mined.delete(key));
        break;
    }
  }

  /** Throws unless exactly these payments (entries of get_transfers) are in blocks, confirmed and unlocked. */
  demandMined(receipts: readonly ExactObject[]): void {
    demand(
      receipts.length === this.#mined.size,
      `the wallet lists ${receipts.length} payments, by its events it has ${this.#mined.size}`,
    );
    for (const receipt of receipts) {
      const mined = this.#mined.get(keyOf({ ...receipt, tx_hash: receipt.txid ?? null }));
      demand(
        mined !== undefined &&
          mined.height === Number(receipt.height) &&
          mined.isConfirmed &&
          mined.isUnlocked,
        `the events do not say what the wallet lists: ${formatExact(receipt)}`,
      );
    }
  }
}

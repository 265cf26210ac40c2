/** Payments that were sent and not answered yet: kept in this tab, so that leaving the view forgets no key. */

/** A payment as it was entered and checked; the key makes it one payment, however often it is sent. */
export type Order = {
  readonly address: string;
  readonly amount: bigint;
  readonly priority: number;
  readonly key: string;
};

const entryOf = (wallet: string) => `payment of ${wallet}`;

/** The payment of a wallet that was sent without an answer, or undefined. */
export function sentOrder(wallet: string): Order | undefined {
  const text = sessionStorage.getItem(entryOf(wallet));
  if (text === null) return undefined;
  const { amount, ...order } = JSON.parse(text) as Omit<Order, "amount"> & { readonly amount: string };
  return { ...order, amount: BigInt(amount) };
}

/** Keeps a payment before it is sent; a wallet has one at a time. */
export function keepOrder(wallet: string, { amount, ...order }: Order): void {
  sessionStorage.setItem(entryOf(wallet), JSON.stringify({ ...order, amount: String(amount) }));
}

/** Forgets the payment of a wallet once it was answered. */
export function forgetOrder(wallet: string): void {
  sessionStorage.removeItem(entryOf(wallet));
}

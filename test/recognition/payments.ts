/** A plan of payments of many shapes, to be carried out by two wallets alike. */

import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import type { ExactObject } from "@anulo/testkit";

export type Addresses = {
  readonly standard: string;
  readonly subaddresses: readonly string[];
  readonly integrated: string;
};

/** `outputs` is given where a whole output is sent, which the wallet names. */
export type PlannedPayment = { readonly kind: "transfer" | "sweep"; readonly params: ExactObject };

/** Numbers in [0, bound), the same for the same seed. Source: Park and Miller (1988). */
export function seededNumbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % bound;
  };
}

function destinationCount(number: (bound: number) => number): number {
  const kind = number(10);
  if (kind < 6) return 1;
  return kind < 9 ? 2 + number(3) : 5 + number(11);
}

function addressFor(addresses: Addresses, count: number, number: (bound: number) => number): string {
  const kind = number(count === 1 ? 4 : 3);
  if (kind === 3) return addresses.integrated;
  return kind === 0 ? addresses.standard : addresses.subaddresses[number(addresses.subaddresses.length)]!;
}

/** To one and to many, to each kind of address, at each priority; every tenth a whole output. */
export function planPayments(count: number, addresses: Addresses): PlannedPayment[] {
  const number = seededNumbers(2022);
  return Array.from({ length: count }, (_, at): PlannedPayment => {
    const priority = number(5);
    if (at % 10 === 9) {
      const address = addressFor(addresses, 1, number);
      return { kind: "sweep", params: { address, priority, outputs: 1 + number(3) } };
    }
    const length = destinationCount(number);
    const destinations = Array.from({ length }, () => ({
      address: addressFor(addresses, length, number),
      amount: coin / 10n + BigInt(number(1_000_000_000)) * 1_000n,
    }));
    return { kind: "transfer", params: { destinations, priority } };
  });
}

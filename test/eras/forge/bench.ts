import type { RandomSource } from "@anulo/crypto";
import { toHex, writeTransaction } from "@anulo/protocol";
import type { Specimen } from "../fixture.ts";
import { type Coin, type Ledger, ringOf } from "./ledger.ts";
import { forgeTransaction, type Kind, type Order } from "./sign.ts";

const names = ["version 1", "type 1", "type 2", "type 3", "type 4", "type 5", "type 6"] as const;

/** What specimens of one height are made from: they share coins, as only one of them could be mined. */
export type Bench = {
  readonly ledger: Ledger;
  readonly height: number;
  readonly random: RandomSource;
  readonly specimens: Specimen[];
};

export type Plan = Partial<Order> & {
  readonly coins: readonly Coin[];
  readonly sizes: readonly number[];
  /** One more member of each ring. */
  readonly member?: bigint;
  /** Rings to use instead, one a coin, in any order. */
  readonly rings?: readonly (readonly bigint[])[];
};

/** Adds a specimen; two outputs unless the plan has other amounts. */
export function make(
  { ledger, height, random, specimens }: Bench,
  name: string,
  plan: Plan & { kind: Kind },
): void {
  const inputs = plan.coins.map((coin, i) => ({
    coin,
    ring:
      plan.rings?.[i] ?? withMember(ringOf(ledger, coin, { size: plan.sizes[i]!, at: height }), plan.member),
  }));
  const total = plan.coins.reduce((sum, { amount }) => sum + amount, 0n);
  const amounts = plan.amounts ?? change(total, plan.kind);
  const transaction = forgeTransaction(ledger, { ...plan, inputs, amounts }, random);
  const blob = toHex(writeTransaction(transaction));
  specimens.push({ name: `${names[plan.kind]}, ${name}`, blob, from: height });
}

function withMember(ring: readonly bigint[], member: bigint | undefined): bigint[] {
  const all = member === undefined ? ring : [...ring, member];
  return [...all].sort((a, b) => (a < b ? -1 : 1));
}

/** Two outputs and a fee that is high in every era. */
function change(total: bigint, kind: Kind): bigint[] {
  if (kind !== 0) return [total / 2n, total - total / 2n - 200_000_000_000n];
  const digit = 10n ** BigInt(String(total).length - 1);
  return [(total / digit - 1n) * digit, digit / 2n].filter((amount) => amount > 0n);
}

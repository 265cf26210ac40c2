import type { RandomSource } from "@anulo/crypto";
import type { Transaction } from "@anulo/protocol";
import { forkHeights } from "../plan.ts";
import { lockedToHeight, lockedToTime, rarities } from "./amounts.ts";
import { type Coin, type Ledger, ringOf, spendable } from "./ledger.ts";
import { forgeTransaction, type Kind } from "./sign.ts";

/** Kinds of transactions the hard forks know, and the smallest ring. */
const erasKinds: readonly {
  readonly from: number;
  readonly kinds: readonly Kind[];
  readonly ring: number;
}[] = [
  { from: 1, kinds: [0], ring: 1 },
  { from: 2, kinds: [0], ring: 3 },
  { from: 4, kinds: [0, 1, 2], ring: 3 },
  { from: 6, kinds: [1, 2], ring: 5 },
  { from: 7, kinds: [1, 2], ring: 7 },
  { from: 8, kinds: [2, 3], ring: 11 },
  { from: 9, kinds: [3], ring: 11 },
  { from: 10, kinds: [3, 4], ring: 11 },
  { from: 11, kinds: [4], ring: 11 },
  { from: 13, kinds: [4, 5], ring: 11 },
  { from: 14, kinds: [5], ring: 11 },
  { from: 15, kinds: [5, 6], ring: 16 },
  { from: 16, kinds: [6], ring: 16 },
];

export type Payment = { readonly name: string; readonly transaction: Transaction };

/** The time is that of the block of this height; the original looked at its clock before hard fork 13. */
const timeLockHeight = 400;
const heightLock = 300n;
/** Blocks at a fork hold no payments: the original takes a block beside the chain only if it has none of the chain's. */
const lastFirstPayment = 93;

type PaymentOrder = {
  readonly ledger: Ledger;
  readonly height: number;
  readonly random: RandomSource;
  /** Unix seconds of a block. */
  timestamp(height: number): number;
};

/** What is paid before the block of this height: often in the first era, twice in each later one. */
export function paymentsAt({ ledger, height, random, timestamp }: PaymentOrder): Payment[] {
  const version = forkHeights.filter((at) => at <= height).length + 1;
  const since = height - (forkHeights[version - 2] ?? 0);
  if (version === 1) return height < 70 ? [] : firstPayments({ ledger, height, random, version }, timestamp);
  if (since !== 3 && since !== 15) return [];
  return laterPayments({ ledger, height, random, version });
}

type Till = {
  readonly ledger: Ledger;
  readonly height: number;
  readonly random: RandomSource;
  readonly version: number;
};

/** Takes the oldest coins of a kind; none where there are not that many. */
function takeCoins({ ledger, height }: Till, count: number, isWanted: (coin: Coin) => boolean): Coin[] {
  const coins = spendable(ledger, height).filter(isWanted).slice(0, count);
  if (coins.length < count) return [];
  for (const coin of coins) ledger.take(coin);
  return coins;
}

const fee = 1_000_000_000_000n;
const isGold = ({ listed }: Coin) => listed === 10_000_000_000_000n;

function pay(
  till: Till,
  order: { kind: Kind; coins: Coin[]; size: number; amounts: readonly bigint[]; unlockTime?: bigint },
): Payment[] {
  const { ledger, height, random, version } = till;
  const { kind, coins, size, amounts, unlockTime = 0n } = order;
  if (coins.length === 0) return [];
  const inputs = coins.map((coin) => ({ coin, ring: ringOf(ledger, coin, { size, at: height }) }));
  const hasViewTags = version >= 15;
  const transaction = forgeTransaction(ledger, { kind, inputs, amounts, hasViewTags, unlockTime }, random);
  return [{ name: `kind ${kind}, ring of ${size}, at ${height}`, transaction }];
}

function firstPayments(till: Till, timestamp: (height: number) => number): Payment[] {
  const { height } = till;
  if (height === 70) {
    const all = [...rarities].flatMap(([amount, count]) => Array.from({ length: count }, () => amount));
    return pay(till, { kind: 0, coins: takeCoins(till, 3, isGold), size: 2, amounts: all });
  }
  if (height === 76) {
    return [
      ...payLocked(till, lockedToTime, BigInt(timestamp(timeLockHeight))),
      ...payLocked(till, lockedToHeight, heightLock),
    ];
  }
  if (height % 3 !== 0 || height > lastFirstPayment) return [];
  const size = [1, 2, 3, 5][(height / 3) % 4]!;
  const coins = takeCoins(till, 1, ({ listed }) => listed === 7_000_000_000_000n);
  return pay(till, { kind: 0, coins, size, amounts: [6_123_456_789_012n, 500_000_000_000n, 17n] });
}

function payLocked(till: Till, amount: bigint, unlockTime: bigint): Payment[] {
  const amounts = [amount, 9_000_000_000_000n];
  return pay(till, { kind: 0, coins: takeCoins(till, 1, isGold), size: 2, amounts, unlockTime });
}

function laterPayments(till: Till): Payment[] {
  const { kinds, ring } = erasKinds.findLast(({ from }) => from <= till.version)!;
  return kinds.flatMap((kind) => [...payVisible(till, kind, ring), ...payHidden(till, kind, ring)]);
}

function payVisible(till: Till, kind: Kind, size: number): Payment[] {
  const coins = takeCoins(till, kind === 1 ? 1 : 2, isGold);
  const total = coins.reduce((sum, { amount }) => sum + amount, 0n);
  if (kind === 0) {
    return pay(till, {
      kind,
      coins,
      size,
      amounts: [9_000_000_000_000n, 9_000_000_000_000n, 900_000_000_000n],
    });
  }
  const count = kind < 3 || till.height % 2 === 0 ? 2 : 9;
  const small = Array.from({ length: count - 1 }, (_, i) => 100_000_000_000n * BigInt(i + 1));
  const rest = total - fee - small.reduce((sum, amount) => sum + amount, 0n);
  return pay(till, { kind, coins, size, amounts: [...small, rest] });
}

function payHidden(till: Till, kind: Kind, size: number): Payment[] {
  const known = [...(till.ledger.outputs.get(0n) ?? [])].length;
  if (kind === 0 || known < 40) return [];
  const coins = takeCoins(till, kind === 1 ? 1 : 2, ({ listed, amount }) => listed === 0n && amount > fee);
  const total = coins.reduce((sum, { amount }) => sum + amount, 0n);
  return pay(till, { kind, coins, size, amounts: [(total - fee) / 3n, total - fee - (total - fee) / 3n] });
}

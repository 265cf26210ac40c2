import { type Bench, make } from "./bench.ts";
import { type Coin, isOldEnough, type Ledger, ringOf, spendable } from "./ledger.ts";
import { addOrders } from "./scalars.ts";
import type { Kind } from "./sign.ts";

/** Transactions with visible coins that no wallet makes, but that an era would take. */
export function oddVisible(bench: Bench, first: Coin, second: Coin): void {
  const single = { coins: [first], sizes: [16] };
  make(bench, "no outputs", { ...single, kind: 0, amounts: [] });
  make(bench, "ring of 30", { kind: 0, coins: [first], sizes: [30] });
  for (const kind of [0, 2, 4, 5, 6] as const) oddRings(bench, kind, first);
  for (const size of [3, 5, 7]) {
    const coins = [first, second];
    const rings = alignedRings(bench, coins, size);
    make(bench, `two inputs in rings of ${size}`, { kind: 1, coins, sizes: [size, size], rings });
  }
}

/** Transactions with hidden coins that no wallet makes, but that an era would take. */
export function oddHidden(bench: Bench, pair: readonly Coin[]): void {
  const { ledger, height } = bench;
  const single = (kind: Kind) => ({ kind, coins: pair.slice(0, 1), sizes: [bestSize(kind)] });
  const isShown = ({ listed }: Coin) => listed === 10n ** 13n;
  const shown = spendable(ledger, height).find(isShown)!;
  for (const size of [5, 7, 11]) {
    const rings = alignedRings(bench, pair, size);
    make(bench, `hidden, two inputs in rings of ${size}`, {
      kind: 1,
      coins: pair,
      sizes: [size, size],
      rings,
    });
  }
  for (const kind of [1, 2] as const) make(bench, "hidden, no outputs", { ...single(kind), amounts: [] });
  for (const kind of [2, 3, 4, 5, 6] as const) {
    const size = bestSize(kind);
    const coins = [pair[0]!, shown];
    make(bench, "one coin hidden, one not", { kind, coins, sizes: [size, size] });
    oddRings(bench, kind, pair[0]!);
  }
  ledger.take(shown);
  for (const orders of [1, 7, 15]) {
    make(bench, `hidden, range scalars ${orders} orders higher`, {
      ...single(2),
      editProofs: (proofs) => ({
        ...proofs,
        rangeSigs: proofs.rangeSigs.map((proof) => ({
          ...proof,
          s0: addOrders(proof.s0, orders),
          s1: addOrders(proof.s1, orders),
        })),
      }),
    });
  }
  version1WithHidden(bench, pair[0]!);
}

/** Smallest ring that the newest era of a kind takes. */
function bestSize(kind: Kind): number {
  return [16, 7, 7, 11, 11, 11, 16][kind]!;
}

function oddRings(bench: Bench, kind: Kind, coin: Coin): void {
  const { ledger, height } = bench;
  const ring = ringOf(ledger, coin, { size: bestSize(kind), at: height });
  const what = coin.listed === 0n ? "hidden, " : "";
  const descending = [...ring].reverse();
  const other = ring.find((index) => index !== coin.globalIndex)!;
  const repeated = [...ring.slice(0, -1), other, ...ring.slice(-1)].sort((a, b) => (a < b ? -1 : 1));
  const plan = { kind, coins: [coin], sizes: [ring.length] };
  make(bench, `${what}members descend`, { ...plan, rings: [descending] });
  make(bench, `${what}a member twice in a row`, { ...plan, rings: [repeated] });
  make(bench, `${what}a member twice, not in a row`, {
    ...plan,
    rings: [[...ring.slice(1), other, ring[0]!]],
  });
}

/** Hidden coins are worth nothing in version 1, beside a coin that may go alone. */
function version1WithHidden(bench: Bench, hidden: Coin): void {
  const rare = spendable(bench.ledger, bench.height).find(({ listed }) => listed === 400_000_000_000n);
  if (rare === undefined) return;
  const amounts = [100_000_000_000n, 90_000_000_000n];
  for (const size of [5, 7, 11]) {
    const coins = [rare, hidden];
    make(bench, `a rare coin and a hidden one in ${size}`, { kind: 0, coins, sizes: [size, size], amounts });
  }
}

/** Rings in which the coins stand at the same place, as one signature of all inputs wants it. */
function alignedRings({ ledger, height }: Bench, coins: readonly Coin[], size: number): bigint[][] {
  const sides = coins.map((coin) => sidesOf(ledger, coin, height));
  const place = Math.min(1, ...sides.map(({ below }) => below.length));
  return coins.map((coin, i) => {
    const { below, above } = sides[i]!;
    const ring = [...below.slice(0, place), coin.globalIndex, ...above.slice(0, size - place - 1)];
    if (ring.length !== size) throw new RangeError(`no ring of ${size} for ${coin.listed}`);
    return ring;
  });
}

function sidesOf(ledger: Ledger, { listed, globalIndex }: Coin, at: number) {
  const all = ledger.outputs.get(listed) ?? [];
  const usable = [...all.keys()].filter((i) => isOldEnough(all[i]!, at)).map(BigInt);
  return {
    below: usable.filter((index) => index < globalIndex),
    above: usable.filter((index) => index > globalIndex),
  };
}

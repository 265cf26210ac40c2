import { IDENTITY, publicKeyOf, type RandomSource, scFromUint64 } from "@anulo/crypto";
import type { TransactionPrefix, TxOutput } from "@anulo/protocol";
import type { Specimen } from "../fixture.ts";
import { smallOrder } from "../strange-points.ts";
import { lockedToHeight, lockedToTime, rarities } from "./amounts.ts";
import { type Bench, make, type Plan } from "./bench.ts";
import { type Coin, type Ledger, spendable } from "./ledger.ts";
import { oddHidden, oddVisible } from "./oddities.ts";
import type { Kind } from "./sign.ts";

const coinOfAll = 10_000_000_000_000n;
const secondCoinOfAll = 7_000_000_000_000n;
/** Transactions that spend coins everybody can see, each lawful in some era at most. */
export function visibleSpecimens(ledger: Ledger, height: number, random: RandomSource): Specimen[] {
  const bench: Bench = { ledger, height, random, specimens: [] };
  const of = (listed: bigint) => spendable(ledger, height).filter((coin) => coin.listed === listed);
  const [first, second] = [of(coinOfAll)[0]!, of(secondCoinOfAll)[0]!];
  const rare = [...rarities.keys()].map((listed) => of(listed)[0]!);
  version1Rings(bench, first, rare);
  version1Oddities(bench, first, second);
  oddVisible(bench, first, second);
  const locked = [of(lockedToTime)[0]!, of(lockedToHeight)[0]!];
  make(bench, "a coin locked to a time", { kind: 0, coins: locked.slice(0, 1), sizes: [1] });
  make(bench, "a coin locked to a height", { kind: 0, coins: locked.slice(1), sizes: [1] });
  const member = BigInt(ledger.outputs.get(coinOfAll)!.length - 1);
  make(bench, "a member just mined", { kind: 0, coins: [first], sizes: [15], member });
  make(bench, "a member just mined", { kind: 2, coins: [first], sizes: [6], member });
  for (const kind of [1, 2, 3, 4, 5, 6] as const) {
    const sizes = kind < 3 ? [3, 5, 7] : [7, 11, 16];
    for (const size of sizes) make(bench, `ring of ${size}`, { kind, coins: [first], sizes: [size] });
    if (kind === 1) continue;
    const size = [0, 3, 5, 11, 11, 11, 16][kind]!;
    const coins = [first, rare[0]!];
    make(bench, "one input in a ring of 1", { kind, coins, sizes: [size, 1] });
    if (kind > 2) make(bench, "rings of two sizes", { kind, coins: [first, second], sizes: [12, 16] });
  }
  for (const coin of [first, second, ...rare, ...locked]) ledger.take(coin);
  return bench.specimens;
}

/** Transactions with a hidden ring member of a few blocks ago. */
export function youngSpecimens(ledger: Ledger, height: number, random: RandomSource): Specimen[] {
  const bench: Bench = { ledger, height, random, specimens: [] };
  const coin = spendable(ledger, height).find(
    ({ listed, amount }) => listed === 0n && amount > 5n * 10n ** 12n,
  )!;
  const hidden = ledger.outputs.get(0n)!;
  const ages = new Set(hidden.filter(({ isMined }) => !isMined).map((output) => height - output.height));
  for (const age of [...ages].filter((blocks) => blocks < 30)) {
    const member = BigInt(hidden.findIndex((output) => !output.isMined && height - output.height === age));
    for (const kind of [4, 5] as const) {
      make(bench, `hidden, a member of ${age} blocks ago`, { kind, coins: [coin], sizes: [10], member });
    }
  }
  ledger.take(coin);
  return bench.specimens;
}

function version1Rings(bench: Bench, first: Coin, rare: readonly Coin[]): void {
  for (const size of [1, 2, 3, 4, 5, 6, 7, 10, 11, 15, 16, 17]) {
    make(bench, `ring of ${size}`, { kind: 0, coins: [first], sizes: [size] });
  }
  for (const coin of rare) {
    const count = rarities.get(coin.listed)!;
    make(bench, `ring of 1 for one of ${count}`, { kind: 0, coins: [coin], sizes: [1] });
    for (const size of [3, 16]) {
      const coins = [coin, first];
      make(bench, `one of ${count} alone, another in ${size}`, { kind: 0, coins, sizes: [1, size] });
    }
  }
  make(bench, "two rare ones alone", { kind: 0, coins: rare.slice(0, 2), sizes: [1, 1] });
  make(bench, "a rare one in a ring of 3", { kind: 0, coins: [rare[1]!], sizes: [3] });
}

function version1Oddities(bench: Bench, first: Coin, second: Coin): void {
  const ring = { kind: 0, coins: [first], sizes: [16] } as const;
  const pair = { kind: 0, coins: [first, second] } as const;
  make(bench, "two inputs", { ...pair, sizes: [16, 16] });
  make(bench, "rings of 3 and 16", { ...pair, sizes: [3, 16] });
  make(bench, "a rare one and two others", { ...pair, sizes: [3, 3] });
  make(bench, "inputs ascend", { ...pair, sizes: [16, 16], isAscending: true });
  make(bench, "compound output", { ...ring, amounts: [1_234_000_000_000n, 5_000_000_000_000n] });
  make(bench, "dust output", { ...ring, amounts: [37n, 9_000_000_000_000n] });
  make(bench, "output of a single unit", { ...ring, amounts: [1n, 9_000_000_000_000n] });
  make(bench, "output of nothing", { ...ring, amounts: [0n, 9_000_000_000_000n] });
  make(bench, "one output", { ...ring, amounts: [9_000_000_000_000n] });
  make(bench, "forty outputs", { ...ring, amounts: Array.from({ length: 40 }, () => 90_000_000_000n) });
  make(bench, "view tags", { ...ring, hasViewTags: true });
  make(bench, "no fee", { ...ring, amounts: [9_000_000_000_000n, 1_000_000_000_000n] });
  make(bench, "small fee", { ...ring, amounts: [9_000_000_000_000n, 999_000_000_000n] });
  make(bench, "pays more than it has", { ...ring, amounts: [9_000_000_000_000n, 2_000_000_000_000n] });
  commonOddities(bench, ring);
}

/** Oddities that every kind can have. */
function commonOddities(bench: Bench, plan: Plan & { kind: Kind }): void {
  const outputs = (edit: (output: TxOutput, i: number) => TxOutput) => ({
    edit: (prefix: TransactionPrefix) => ({ ...prefix, outputs: prefix.outputs.map(edit) }),
  });
  const noPoint = new Uint8Array(32).fill(2);
  const key = publicKeyOf(scFromUint64(99n));
  make(bench, "extra of 1060 bytes", { ...plan, extra: new Uint8Array(1060) });
  make(bench, "extra of 1061 bytes", { ...plan, extra: new Uint8Array(1061) });
  make(bench, "no extra", { ...plan, extra: new Uint8Array(0) });
  make(bench, "locked to a height", { ...plan, unlockTime: 10_000n });
  make(bench, "locked to the end of time", { ...plan, unlockTime: 2n ** 64n - 1n });
  for (const [what, point] of [
    ["the identity", IDENTITY],
    ["a point of small order", smallOrder],
  ] as const) {
    make(bench, `an output to ${what}`, {
      ...plan,
      ...outputs((output, i) => (i === 0 ? { ...output, target: { ...output.target, key: point } } : output)),
    });
  }
  make(bench, "an output to no point", {
    ...plan,
    ...outputs((output, i) => (i === 0 ? { ...output, target: { type: "key", key: noPoint } } : output)),
  });
  const other: TxOutput["target"] = plan.hasViewTags
    ? { type: "key", key }
    : { type: "taggedKey", key, viewTag: 1 };
  make(bench, "outputs of both kinds", {
    ...plan,
    ...outputs((output, i) => (i === 0 ? { ...output, target: other } : output)),
  });
  make(bench, "an output to a script hash", {
    ...plan,
    ...outputs((output, i) => (i === 0 ? { ...output, target: { type: "scriptHash", hash: key } } : output)),
  });
}

/** Transactions that spend coins nobody can see the amount of. */
export function hiddenSpecimens(ledger: Ledger, height: number, random: RandomSource): Specimen[] {
  const bench: Bench = { ledger, height, random, specimens: [] };
  const coins = spendable(ledger, height).filter(({ listed, amount }) => listed === 0n && amount > 5n ** 18n);
  const pair = coins.slice(0, 2);
  const shapes: [Kind, readonly number[]][] = [
    [1, [2, 5, 7]],
    [2, [3, 5, 7]],
    [3, [7, 10, 11, 12]],
    [4, [11, 16]],
    [5, [10, 11, 12, 16]],
    [6, [11, 15, 16, 17]],
  ];
  for (const [kind, sizes] of shapes) {
    const best = [0, 5, 5, 11, 11, 11, 16][kind]!;
    for (const size of sizes)
      make(bench, `hidden, ring of ${size}`, { kind, coins: pair.slice(0, 1), sizes: [size] });
    const total = pair[0]!.amount;
    const single = { kind, coins: pair.slice(0, 1), sizes: [best] };
    make(bench, "hidden, small fee", { ...single, amounts: [5n, total - 5n - 300_000n] });
    make(bench, "hidden, view tags", { ...single, hasViewTags: true });
    if (kind < 3) continue;
    make(bench, "hidden, two inputs", { kind, coins: pair, sizes: [best, best] });
    make(bench, "hidden, rings of two sizes", { kind, coins: pair, sizes: [best, best + 1] });
    make(bench, "hidden, inputs ascend", { kind, coins: pair, sizes: [best, best], isAscending: true });
    make(bench, "hidden, one output", { ...single, amounts: [total - 200_000_000_000n] });
    const many = Array.from({ length: 11 }, () => 1_000_000_000n);
    make(bench, "hidden, eleven outputs", { ...single, hasViewTags: kind === 6, amounts: many });
    if (kind > 4) commonOddities(bench, { ...single, hasViewTags: kind === 6 });
  }
  oddHidden(bench, pair);
  for (const coin of pair) ledger.take(coin);
  return bench.specimens;
}

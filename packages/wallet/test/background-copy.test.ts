/** What a background wallet is given of its main wallet, and what the main wallet believes of what comes back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import { backgroundCopy, foundFor } from "../src/file/background-copy.ts";
import { createAccount } from "../src/ledger/ledger.ts";
import type { ScannedOutput, ScannedTransaction, WalletState } from "../src/state.ts";
import { bytes, mine, newLedger, output, payment, transaction } from "./ledger-items.ts";

const settings = { refreshFromHeight: 3, accounts: 2, addresses: 5, skipsCoinbase: false };

/** A wallet that knows something of everything. */
function ownState(): WalletState {
  const ledger = newLedger();
  const { state } = ledger;
  mine(ledger, 1, transaction(1, 1, { received: [output({ key: 1, amount: 5n })] }));
  mine(ledger, 2, transaction(2, 2, { received: [output({ key: 2, amount: 6n })] }));
  state.outputs.freeze(1, true);
  state.outgoing.set(toHex(bytes(3)), payment(3));
  state.accounts.push(createAccount("shop"));
  state.accounts[1]!.tag = "tag";
  for (const { addresses } of state.accounts) addresses.push({ label: "till" });
  state.intents.push({} as never);
  state.txKeys.set(toHex(bytes(3)), [bytes(4)]);
  for (const name of ["accountTags", "notes", "attributes"] as const) state[name].set("a", "b");
  state.addressBook.push({} as never);
  state.coldKeyImages.set("a", bytes(1));
  state.rings.set("a", [] as never);
  state.frozenBefore.push("a" as never);
  state.takenOverCache = "ab";
  return state;
}

test("a background wallet has what a scan needs, and nothing that only the owner knows", () => {
  const own = ownState();
  const copy = backgroundCopy(own, settings);
  assert.deepEqual(copy.background, { fromHeight: 3, transactions: [], settings });
  const amounts = [...copy.outputs].map(({ amount, frozen }) => [amount, frozen]);
  assert.deepEqual(amounts, [
    [5n, false],
    [6n, false],
  ]);
  const [[id, paid]] = [...copy.outgoing] as [[string, ReturnType<typeof payment>]];
  assert.deepEqual([id, paid], [toHex(bytes(3)), { ...payment(3), blob: undefined, destinations: [] }]);
  assert.deepEqual(copy.accounts, [
    { tag: "", addresses: [{ label: "Primary account" }, { label: "" }] },
    { tag: "", addresses: [{ label: "Untitled account" }, { label: "" }] },
  ]);
  assert.deepEqual(
    [copy.intents, copy.addressBook, copy.frozenBefore, copy.takenOverCache],
    [[], [], [], ""],
  );
  const { txKeys, accountTags, notes, attributes, coldKeyImages, rings } = copy;
  const sizes = [txKeys, accountTags, notes, attributes, coldKeyImages, rings].map(({ size }) => size);
  assert.deepEqual(sizes, [0, 0, 0, 0, 0, 0]);
  assert.deepEqual(copy.recent.slice(), own.recent.slice());
  copy.recent.truncate(2);
  assert.equal(own.recent.length, 2);
  assert.deepEqual(
    [...own.outputs].map(({ frozen }) => frozen),
    [false, true],
  );
});

const received = output({ key: 9, amount: 7n });
const found: ScannedTransaction = {
  ...transaction(9, 4, { received: [received], spends: [1] }),
  ...{ timestamp: 0, unlockTime: 0n, publicAmountOut: 0n, txSize: 0, fee: 0n },
};

/** What a background wallet says that began at height 3 and has scanned to height 6. */
function told(change: (state: WalletState) => void = () => undefined, transactions = [found]): WalletState {
  const state = backgroundCopy(ownState(), settings);
  state.recent.append(Buffer.concat([bytes(3), bytes(4), bytes(5)]));
  state.height = 6;
  state.background!.transactions.push(...transactions);
  change(state);
  return state;
}

/** Whether a wallet of this height, with these newest ids, takes what is told. */
function isTaken(
  state: WalletState,
  { height = 3, ids = [bytes(1), bytes(2)], now = settings } = {},
): boolean {
  const wallet = newLedger().state;
  wallet.height = height;
  wallet.recent.append(Buffer.concat(ids));
  const taken = foundFor(wallet, now, state);
  if (taken !== undefined) assert.deepEqual(taken.background, state.background);
  return taken !== undefined;
}

test("what was found in the background is taken from the height on that the wallet has scanned itself", () => {
  const began = (fromHeight: number) => told((state) => (state.background!.fromHeight = fromHeight), []);
  assert.ok(isTaken(told()));
  assert.ok(isTaken(told(), { height: 4 }));
  assert.ok(isTaken(told(), { height: 6 }), "of another branch");
  assert.ok(!isTaken(told(), { height: 6, ids: [1, 2, 3, 4, 5].map(bytes) }), "it is nothing new");
  assert.ok(!isTaken(told(), { height: 7 }));
  assert.ok(isTaken(began(3)));
  assert.ok(!isTaken(began(4)), "nobody has scanned 3");
  assert.ok(!isTaken(told((state) => (state.background = undefined))));
  for (const other of [{ refreshFromHeight: 4 }, { accounts: 3 }, { addresses: 6 }, { skipsCoinbase: true }])
    assert.ok(!isTaken(told(), { now: { ...settings, ...other } }), Object.keys(other).join());
});

test("what was found is taken only if all of it is what a scan finds", () => {
  const heights = (...all: number[]) =>
    told(
      undefined,
      all.map((height) => ({ ...found, height })),
    );
  assert.ok(isTaken(heights(3, 3, 5)));
  for (const wrong of [heights(2), heights(6), heights(4, 3), heights(3.5), heights(-1)])
    assert.ok(!isTaken(wrong));
  assert.ok(!isTaken(told((state) => (state.height = 6.5))));
  assert.ok(!isTaken(told((state) => (state.height = 7))), "of which the ids are missing");
  assert.ok(!isTaken(told((state) => (state.background!.fromHeight = -1))));
  assert.ok(isTaken(told((state) => (state.lastBlockReward = 2n ** 64n - 1n))));
  for (const reward of [2n ** 64n, -1n, 1 as never])
    assert.ok(!isTaken(told((state) => (state.lastBlockReward = reward))), `${reward}`);
});

const wrongKeys = [bytes(1).subarray(1), [...bytes(1)], undefined];
const wrongAmounts = [-1n, 2n ** 64n, 1];
const wrongCounts = [-1, 0.5, 2 ** 53, 1n];

test("no field of a transaction that was found may be anything else", () => {
  const wrong: { readonly [name in keyof ScannedTransaction]?: readonly unknown[] } = {
    ...{ txHash: wrongKeys, paymentId: wrongKeys, timestamp: wrongCounts, txSize: wrongCounts },
    ...{ unlockTime: wrongAmounts, publicAmountOut: wrongAmounts, fee: wrongAmounts, coinbase: [0, "false"] },
    inputs: [
      ...wrongKeys.map((keyImage) => [{ keyImage, amount: 0n }]),
      ...wrongAmounts.map((amount) => [{ keyImage: bytes(1), amount }]),
      [{ keyImage: bytes(1), amount: 0n }, {}],
    ],
  };
  for (const [name, values] of Object.entries(wrong))
    for (const value of values) {
      const changed = { ...found, [name]: value } as ScannedTransaction;
      assert.ok(!isTaken(told(undefined, [changed])), `${name} ${value}`);
      assert.ok(!isTaken(told(undefined, [found, changed])), `${name} ${value}`);
    }
  for (const right of [
    { fee: undefined },
    { coinbase: true },
    { unlockTime: 2n ** 64n - 1n },
    { inputs: [] },
  ])
    assert.ok(isTaken(told(undefined, [{ ...found, ...right }])));
});

test("no field of an output that was found may be anything else", () => {
  const isOutputTaken = (change: object) =>
    isTaken(
      told(undefined, [{ ...found, received: [received, { ...received, ...change } as ScannedOutput] }]),
    );
  const wrong: readonly [string, readonly unknown[]][] = [
    ...["oneTimeKey", "txPublicKey", "mask"].map((name): [string, unknown[]] => [name, wrongKeys]),
    ["keyImage", wrongKeys.slice(0, 2)],
    ...["amount", "globalIndex"].map((name): [string, unknown[]] => [name, wrongAmounts]),
    ["outputIndex", wrongCounts],
    [
      "subaddress",
      wrongCounts.flatMap((count) => [
        { major: count, minor: 0 },
        { major: 0, minor: count },
      ]),
    ],
    ["rct", [0, undefined]],
  ];
  for (const [name, values] of wrong)
    for (const value of values) assert.ok(!isOutputTaken({ [name]: value }), `${name} ${value}`);
  for (const right of [{ keyImage: undefined }, { rct: false }, { amount: 0n }])
    assert.ok(isOutputTaken(right));
});

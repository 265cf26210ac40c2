import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import { listIncoming, listOutgoing, listUnconfirmed } from "../src/history/transfers.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { incomingFromPool, isPoolQuiet, outgoingFromPool, spendsFromPool } from "../src/ledger/apply-pool.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import { packedKeys } from "../src/scan/packed-lists.ts";
import type { ScannedTransaction } from "../src/state.ts";
import { described } from "./described.ts";
import { balance, bytes, mine, newLedger, now, output, payment, transaction } from "./ledger-items.ts";

test("money rests ten blocks before it can be spent", () => {
  const ledger = newLedger();
  mine(ledger, 5, transaction(1, 5, { received: [output({ key: 1, amount: 100n })] }));
  assert.deepEqual(balance(ledger, 14), { balance: 100n, unlocked: 0n });
  assert.deepEqual(balance(ledger, 15), { balance: 100n, unlocked: 100n });
});

test("of outputs with one key only the greatest counts, whichever comes first", () => {
  const ledger = newLedger();
  mine(ledger, 5, transaction(1, 5, { received: [output({ key: 1, amount: 10n })] }));
  mine(ledger, 6, transaction(2, 6, { received: [output({ key: 1, amount: 30n })] }));
  mine(ledger, 7, transaction(3, 7, { received: [output({ key: 1, amount: 20n })] }));
  assert.deepEqual(balance(ledger, 50), { balance: 30n, unlocked: 30n });
  assert.equal(ledger.state.outputs.count, 1);
  assert.deepEqual(
    Array.from(ledger.state.incoming, ({ amount }) => amount),
    [10n, 20n],
  );
  applyChange(ledger, {
    kind: "blocks",
    fromHeight: 6,
    count: 0,
    ids: [],
    lastBlockReward: 0n,
    transactions: [],
  });
  assert.deepEqual(
    balance(ledger, 50),
    { balance: 10n, unlocked: 10n },
    "the first one counts again once the second is undone",
  );
});

test("change is no income, and what comes to another account is", () => {
  const ledger = newLedger();
  mine(ledger, 5, transaction(1, 5, { received: [output({ key: 1, amount: 100n })] }));
  const received = [output({ key: 2, amount: 60n }), output({ key: 3, amount: 35n, major: 1, minor: 2 })];
  mine(ledger, 20, transaction(2, 20, { received, spends: [1], fee: 5n }));
  const context = { state: ledger.state, now: now(21) };
  assert.deepEqual(
    described(listIncoming, context).map(({ amount, subaddress }) => ({ amount, subaddress })),
    [
      { amount: 35n, subaddress: { major: 1, minor: 2 } },
      { amount: 100n, subaddress: { major: 0, minor: 0 } },
    ],
  );
  const [out] = described(listOutgoing, context);
  assert.deepEqual([out?.amount, out?.fee, out?.subaddresses], [35n, 5n, [{ major: 0, minor: 0 }]]);
  assert.equal(ledger.state.accounts.length, 2);
  assert.deepEqual(ledger.state.accounts[1]!.addresses.length, 3);
});

test("a payment to the account that makes it shows as a payment of nothing", () => {
  const ledger = newLedger();
  mine(ledger, 5, transaction(1, 5, { received: [output({ key: 1, amount: 100n })] }));
  mine(
    ledger,
    20,
    transaction(2, 20, { received: [output({ key: 2, amount: 95n, minor: 3 })], spends: [1], fee: 5n }),
  );
  assert.equal(described(listOutgoing, { state: ledger.state, now: now(21) })[0]!.amount, 0n);
});

test("a recorded payment holds its inputs, and frees them when the node refuses it", () => {
  const ledger = newLedger();
  mine(ledger, 5, transaction(1, 5, { received: [output({ key: 1, amount: 100n })] }));
  applyChange(ledger, { kind: "outgoing", payment: payment(9), txKeys: [bytes(1)] });
  assert.deepEqual(balance(ledger, 50), { balance: 60n, unlocked: 0n });
  assert.deepEqual(ledger.state.txKeys.get(toHex(bytes(9))), [bytes(1)]);
  applyChange(ledger, { kind: "discardOutgoing", txHash: toHex(bytes(9)) });
  assert.deepEqual(balance(ledger, 50), { balance: 100n, unlocked: 100n });
  assert.equal(ledger.state.txKeys.size, 1);
});

test("a payment that a reorganisation takes out of the chain waits again, with its destinations and keys", () => {
  const ledger = newLedger();
  mine(ledger, 5, transaction(1, 5, { received: [output({ key: 1, amount: 100n })] }));
  applyChange(ledger, { kind: "outgoing", payment: payment(9), txKeys: [bytes(1)] });
  mine(ledger, 20, transaction(9, 20, { received: [output({ key: 2, amount: 60n })], spends: [1], fee: 5n }));
  const context = () => ({ state: ledger.state, now: now(ledger.state.height) });
  assert.equal(described(listOutgoing, context())[0]!.destinations?.length, 1);
  mine(ledger, 20);
  assert.deepEqual(described(listOutgoing, context()), []);
  const [waiting] = described(listUnconfirmed, context());
  assert.deepEqual(
    [waiting?.kind, waiting?.amount, waiting?.destinations],
    ["pending", 35n, [{ address: "somebody", amount: 35n }]],
  );
  assert.deepEqual(
    [...ledger.state.outputs].map(({ pendingSpend }) => pendingSpend),
    [toHex(bytes(9))],
  );
  assert.equal(ledger.state.txKeys.size, 1);
});

test("a payment of another copy is given up once it has been missing for some minutes, one that can be sent again is not", () => {
  const ledger = newLedger();
  mine(ledger, 5, transaction(1, 5, { received: [output({ key: 1, amount: 100n })] }));
  const pending = payment(9, { state: "pending", createdAt: 1000, blob: undefined });
  applyChange(ledger, { kind: "outgoing", payment: pending, txKeys: [] });
  const look = (waiting: Uint8Array[], seconds: number) => {
    const picture = { ids: packedKeys(waiting), finds: [] };
    for (const change of outgoingFromPool(ledger, picture, seconds)) applyChange(ledger, change);
    return ledger.state.outgoing.get(toHex(bytes(9)))?.state;
  };
  assert.equal(look([bytes(9)], 1001), "pending");
  assert.equal(look([], 1100), "missing");
  assert.equal(look([], 1400), "missing");
  assert.equal(look([], 1501), "failed");
  assert.deepEqual(balance(ledger, 50), { balance: 100n, unlocked: 100n });
  assert.equal(look([bytes(9)], 1600), "pending");
  assert.deepEqual(balance(ledger, 50), { balance: 60n, unlocked: 0n });
  const ours = { ...ledger.state.outgoing.get(toHex(bytes(9)))!, blob: bytes(1) };
  ledger.state.outgoing.set(toHex(bytes(9)), ours);
  assert.equal(look([], 1700), "missing");
  assert.equal(look([], 2_000_000), "missing");
  assert.deepEqual(balance(ledger, 50), { balance: 60n, unlocked: 0n });
});

/** What the pool shows the ledger, as the wallet takes it. */
function lookAtPool(ledger: Ledger, waiting: readonly ScannedTransaction[], seconds = 2_000_000): void {
  const finds = waiting.map((each) => ({ transaction: each, doubleSpendSeen: false }));
  const picture = { ids: packedKeys(waiting.map(({ txHash }) => txHash)), finds };
  for (const change of spendsFromPool(ledger, picture, seconds)) applyChange(ledger, change);
  applyChange(ledger, { kind: "pool", payments: incomingFromPool(ledger, picture, seconds) });
  for (const change of outgoingFromPool(ledger, picture, seconds)) applyChange(ledger, change);
}

test("a look at the pool changes nothing only where no payment is in it, has been, or is on its way", () => {
  const empty = { ids: packedKeys([]), finds: [] };
  const ledger = newLedger();
  const strangers = { ids: packedKeys([bytes(7)]), finds: [] };
  assert.equal(isPoolQuiet(ledger, strangers), true);
  const receipt = transaction(9, 0, { received: [output({ key: 3, amount: 10n })] });
  assert.equal(
    isPoolQuiet(ledger, { ...strangers, finds: [{ transaction: receipt, doubleSpendSeen: false }] }),
    false,
  );
  lookAtPool(ledger, [receipt]);
  assert.equal(isPoolQuiet(ledger, empty), false, "it has left the pool");
  lookAtPool(ledger, []);
  assert.equal(isPoolQuiet(ledger, empty), true);
  applyChange(ledger, { kind: "outgoing", payment: payment(9, { state: "failed" }), txKeys: [] });
  assert.equal(isPoolQuiet(ledger, empty), false, "it may yet be seen in the pool");
});

test("what another copy of the seed spends is pending while it waits in the pool", () => {
  const ledger = newLedger();
  mine(ledger, 5, transaction(1, 5, { received: [output({ key: 1, amount: 100n })] }));
  const change = output({ key: 2, amount: 60n });
  const toOther = output({ key: 3, amount: 10n, major: 1 });
  const spend = transaction(9, 0, { spends: [1], received: [change, toOther], fee: 5n });
  lookAtPool(ledger, [spend]);
  const [seen] = ledger.state.outgoing.values();
  const { state, amountIn, amountOut, change: back, blob } = seen!;
  assert.deepEqual(
    { state, amountIn, amountOut, back, blob },
    { state: "pending", amountIn: 100n, amountOut: 95n, back: 60n, blob: undefined },
  );
  assert.deepEqual(balance(ledger, 50), { balance: 60n, unlocked: 0n });
  assert.deepEqual(
    ledger.state.pool.map(({ amount, subaddress }) => [amount, subaddress.major]),
    [[10n, 1]],
  );
  lookAtPool(ledger, [spend]);
  assert.equal(ledger.state.outgoing.size, 1);
  mine(ledger, 51, { ...spend, height: 51 });
  assert.equal(seen!.state, "pending", "what was seen is not changed in place");
  assert.equal([...ledger.state.outgoing.values()][0]!.state, "confirmed");
  lookAtPool(ledger, [transaction(10, 0, { spends: [1] })]);
  assert.equal(ledger.state.outgoing.size, 1, "what a block has spent is not spent again");
  mine(ledger, 51);
  assert.equal(ledger.state.outgoing.size, 0, "the chain is all that told of it");
  assert.deepEqual(balance(ledger, 60), { balance: 100n, unlocked: 100n });
  lookAtPool(ledger, [spend]);
  assert.deepEqual(balance(ledger, 60), { balance: 60n, unlocked: 0n });
  applyChange(ledger, { kind: "reset", hard: false });
  assert.equal(ledger.state.outgoing.size, 0, "it is seen again where it still waits");
});

test("a payment made here is not counted once more when it is seen in the pool", () => {
  const ledger = newLedger();
  mine(ledger, 5, transaction(1, 5, { received: [output({ key: 1, amount: 100n })] }));
  applyChange(ledger, { kind: "outgoing", payment: payment(9), txKeys: [bytes(1)] });
  lookAtPool(ledger, [
    transaction(9, 0, { spends: [1], received: [output({ key: 2, amount: 60n })], fee: 5n }),
  ]);
  const [own, ...others] = ledger.state.outgoing.values();
  assert.deepEqual(others, []);
  assert.deepEqual([own!.state, own!.destinations.length, own!.blob?.length], ["pending", 1, 3]);
  assert.deepEqual(balance(ledger, 50), { balance: 60n, unlocked: 0n });
  assert.deepEqual(ledger.state.pool, []);
});

test("of a payment whose inputs are not all known no amount is below zero", () => {
  const ledger = newLedger();
  mine(ledger, 5, transaction(1, 5, { received: [output({ key: 1, amount: 3n })] }));
  const spend = transaction(9, 0, {
    spends: [1, 77],
    received: [output({ key: 2, amount: 60n })],
    fee: 5n,
  });
  lookAtPool(ledger, [spend]);
  mine(ledger, 20, { ...spend, height: 20 });
  const [out] = described(listOutgoing, { state: ledger.state, now: now(21) });
  assert.deepEqual([out?.amount, out?.fee], [0n, 3n]);
});

test("what another copy of the seed spent is free again once it has left the pool", () => {
  const ledger = newLedger();
  mine(ledger, 5, transaction(1, 5, { received: [output({ key: 1, amount: 100n })] }));
  lookAtPool(ledger, [transaction(9, 0, { spends: [1], fee: 5n })], 1000);
  assert.deepEqual(balance(ledger, 50), { balance: 0n, unlocked: 0n });
  lookAtPool(ledger, [], 1100);
  lookAtPool(ledger, [], 1600);
  assert.deepEqual(balance(ledger, 50), { balance: 100n, unlocked: 100n });
});

test("of outputs of the pool with one key only the greatest counts", () => {
  const ledger = newLedger();
  const paying = (id: number, amount: bigint) =>
    transaction(id, 0, { received: [output({ key: 1, amount })] });
  lookAtPool(ledger, [paying(1, 40n), paying(2, 30n), paying(3, 50n)]);
  const total = () => ledger.state.pool.reduce((sum, { amount }) => sum + amount, 0n);
  assert.equal(total(), 50n);
  mine(ledger, 5, { ...paying(1, 40n), height: 5 });
  lookAtPool(ledger, [paying(2, 30n), paying(3, 50n)]);
  assert.equal(total(), 10n);
});

test("a soft reset keeps transaction keys, notes and what still waits; a hard one keeps neither keys nor notes", () => {
  const ledger = newLedger();
  mine(ledger, 5, transaction(1, 5, { received: [output({ key: 1, amount: 100n })] }));
  applyChange(ledger, { kind: "outgoing", payment: payment(9), txKeys: [bytes(1)] });
  applyChange(ledger, { kind: "note", txHash: "aa", note: "n" });
  applyChange(ledger, { kind: "reset", hard: false });
  assert.deepEqual([ledger.state.outputs.count, ledger.state.height, ledger.state.outgoing.size], [0, 1, 1]);
  mine(ledger, 5, transaction(1, 5, { received: [output({ key: 1, amount: 100n })] }));
  assert.deepEqual(balance(ledger, 50), { balance: 0n, unlocked: 0n }, "its input is still held");
  const context = { state: ledger.state, now: now(50) };
  assert.deepEqual(described(listUnconfirmed, context), []);
  lookAtPool(ledger, [transaction(9, 0, { spends: [1], fee: 5n })]);
  const [again, ...others] = described(listUnconfirmed, context);
  assert.deepEqual([again!.kind, again!.destinations, others], ["pending", [], []]);
  assert.deepEqual([ledger.state.txKeys.size, ledger.state.notes.size], [1, 1]);
  applyChange(ledger, { kind: "reset", hard: true });
  assert.deepEqual([ledger.state.txKeys.size, ledger.state.notes.size], [0, 0]);
  applyChange(ledger, { kind: "note", txHash: "aa", note: "n" });
  applyChange(ledger, { kind: "reset", hard: true, keepsNotes: true });
  assert.equal(ledger.state.notes.get("aa"), "n");
});

test("a tag lives as long as an account carries it", () => {
  const ledger = newLedger();
  applyChange(ledger, { kind: "newAccount", label: "second" });
  applyChange(ledger, { kind: "tag", accounts: [0, 1], tag: "shop" });
  applyChange(ledger, { kind: "tagDescription", tag: "shop", description: "takings" });
  applyChange(ledger, { kind: "tag", accounts: [0], tag: "" });
  assert.equal(ledger.state.accountTags.get("shop"), "takings");
  applyChange(ledger, { kind: "tag", accounts: [1], tag: "other" });
  assert.deepEqual([...ledger.state.accountTags.keys()], ["other"]);
});

test("a refused payment leaves its inputs with the payment under way that spends them too", () => {
  const ledger = newLedger();
  mine(ledger, 5, transaction(1, 5, { received: [output({ key: 1, amount: 100n })] }));
  const first = payment(2, { state: "pending" });
  applyChange(ledger, { kind: "outgoing", payment: first, txKeys: [] });
  applyChange(ledger, { kind: "outgoing", payment: payment(3), txKeys: [] });
  applyChange(ledger, { kind: "discardOutgoing", txHash: toHex(bytes(3)) });
  assert.equal(ledger.state.outputs.at(0)!.pendingSpend, toHex(bytes(2)));
  applyChange(ledger, { kind: "outgoingState", txHash: toHex(bytes(2)), state: "failed" });
  assert.equal(ledger.state.outputs.at(0)!.pendingSpend, undefined);
});

test("a frozen output found again after a reorganisation is still frozen", () => {
  const ledger = newLedger();
  const received = transaction(1, 5, { received: [output({ key: 1, amount: 100n })] });
  mine(ledger, 5, received);
  applyChange(ledger, { kind: "frozen", keyImage: toHex(bytes(101)), frozen: true });
  mine(ledger, 5);
  assert.equal(ledger.state.outputs.count, 0);
  mine(ledger, 6, { ...received, height: 6 });
  assert.equal(ledger.state.outputs.at(0)!.frozen, true);
  applyChange(ledger, { kind: "frozen", keyImage: toHex(bytes(101)), frozen: false });
  mine(ledger, 6);
  mine(ledger, 7, { ...received, height: 7 });
  assert.equal(ledger.state.outputs.at(0)!.frozen, false);
});

test("no transaction handed in to be relayed costs the keys of one made here, nor does a refusal", () => {
  const ledger = newLedger();
  const id = toHex(bytes(2));
  applyChange(ledger, { kind: "outgoing", payment: payment(2), txKeys: [bytes(7)] });
  applyChange(ledger, { kind: "discardOutgoing", txHash: id });
  assert.equal(ledger.state.outgoing.size, 0);
  applyChange(ledger, { kind: "outgoing", payment: payment(2), txKeys: [bytes(8)] });
  applyChange(ledger, { kind: "discardOutgoing", txHash: id });
  assert.deepEqual(ledger.state.txKeys.get(id), [bytes(7)]);
});

test("blocks above 300,000 payments are undone", () => {
  const ledger = newLedger();
  mine(ledger, 1, transaction(1, 1, { received: [output({ key: 1, amount: 1n })] }));
  const [payment] = ledger.state.incoming;
  for (let i = 1; i < 300_000; i++) ledger.state.incoming.push({ ...payment!, height: 1 + (i % 2) });
  mine(ledger, 2);
  mine(ledger, 2);
  assert.equal(ledger.state.incoming.length, 150_000);
});

test("of the ids of recent blocks the newest 20,000 are kept once there are more than 40,000", () => {
  const ledger = newLedger();
  const { recent } = ledger.state;
  const blocks = { kind: "blocks", lastBlockReward: 600n, transactions: [] } as const;
  const ids = Array.from({ length: 20_000 }, (_, height) => bytes(height));
  for (const fromHeight of [1, 20_001])
    applyChange(ledger, { ...blocks, fromHeight, count: ids.length, ids });
  assert.deepEqual([recent.offset, recent.length], [1, 40_000]);
  mine(ledger, 40_001);
  assert.deepEqual([recent.offset, recent.end, recent.length], [20_002, 40_002, 20_000]);
});

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { CallFailed, type Devnet, startDevnet } from "../src/index.ts";

const COIN = 10n ** 12n;
let net: Devnet<"payer" | "shop">;
let start: number;

before(async () => {
  net = await startDevnet({ wallets: { payer: [COIN, COIN], shop: [] } });
  start = await net.snapshot();
});
beforeEach(async () => {
  net.faults.endAll();
  await net.revert(start);
});
after(() => net.stop());

test("while the node is away wallets answer that they cannot reach it, and go on once it is back", async () => {
  const { payer, shop } = net.wallets;
  const fault = net.faults.begin({ at: "node", kind: "away" });
  await net.mine(1);
  await assert.rejects(payer.pay(shop.address, 5n), CallFailed);
  assert.ok(fault.count > 0 || fault.isOver === false);
  fault.end();
  await payer.pay(shop.address, 5n);
  await net.mine(1);
  assert.equal((await shop.balance()).balance, 5n);
});

test("a node that refuses, and one that is slow, are told apart by what the wallet says", async () => {
  const { payer, shop } = net.wallets;
  const refusing = net.faults.begin({ at: "node", kind: "refusing", calls: ["sendrawtransaction"] });
  await assert.rejects(payer.pay(shop.address, 5n), CallFailed);
  assert.equal(refusing.count, 1);
  refusing.end();
  const slow = net.faults.begin({ at: "node", kind: "slow", delayMs: 30, times: 2 });
  await payer.pay(shop.address, 6n);
  assert.equal(slow.count, 2);
  assert.equal(slow.isOver, true);
});

test("a payment whose answer from the node is lost arrives once", async () => {
  const { payer, shop } = net.wallets;
  const fault = net.faults.begin({
    at: "node",
    kind: "lost-answers",
    calls: ["sendrawtransaction"],
    times: 1,
  });
  await payer.pay(shop.address, 5n).catch((error) => assert.ok(error instanceof CallFailed));
  assert.equal(fault.count, 1);
  await payer.balance();
  await net.mine(1);
  await payer.balance();
  await net.mine(1);
  assert.equal((await shop.balance()).balance, 5n);
});

test("a caller whose answer is lost pays once if the call has a key", async () => {
  const { payer, shop } = net.wallets;
  await payer.balance();
  const params = { destinations: [{ address: shop.address, amount: 5n }], idempotency_key: "order-1" };
  const fault = net.faults.begin({ at: "wallet", kind: "lost-answers", calls: ["transfer"], times: 1 });
  await assert.rejects(payer.call("transfer", params), (error) => !(error instanceof CallFailed));
  assert.equal(fault.isOver, true);
  const { tx_hash } = await payer.call("transfer", params);
  await net.mine(1);
  assert.equal((await shop.balance()).balance, 5n);
  await shop.call("get_transfer_by_txid", { txid: tx_hash ?? "" });
});

test("a fault at one wallet leaves the others alone, and all ends all", async () => {
  const { payer, shop } = net.wallets;
  net.faults.begin({ at: "wallet", kind: "away", wallet: "shop" });
  await assert.rejects(shop.balance());
  await payer.balance();
  net.faults.begin({ at: "wallet", kind: "refusing" });
  await assert.rejects(payer.balance(), /503/);
  assert.equal(net.faults.active.length, 2);
  net.faults.endAll();
  assert.equal(net.faults.active.length, 0);
  await Promise.all([shop.balance(), payer.balance()]);
});

test("faults that make no sense are refused", () => {
  for (const options of [
    { at: "node", kind: "away", times: 0 },
    { at: "node", kind: "away", wallet: "shop" },
    { at: "node", kind: "slow", delayMs: -1 },
    { at: "wallet", kind: "away", calls: [] },
  ] as const)
    assert.throws(() => net.faults.begin(options), RangeError);
});

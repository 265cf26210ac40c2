import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startDevnet } from "../src/index.ts";

const COIN = 10n ** 12n;
const sum = (amounts: readonly bigint[]) => amounts.reduce((a, b) => a + b, 0n);

test("each wallet can spend outputs of the chosen sizes from the start", async () => {
  const shop = [3n * COIN, 1n, 20n * COIN, 34n * COIN];
  const net = await startDevnet({ wallets: { shop, payer: [2n * COIN], idle: [] } });
  try {
    const { wallets } = net;
    const { transfers = [] } = await wallets.shop.call("incoming_transfers", { transfer_type: "available" });
    const amounts = (transfers as { amount: number }[]).map(({ amount }) => BigInt(amount));
    assert.deepEqual(amounts, shop);
    assert.deepEqual(await wallets.shop.balance(), { balance: sum(shop), unlocked: sum(shop) });
    assert.deepEqual(await wallets.idle.balance(), { balance: 0n, unlocked: 0n });
    await wallets.payer.pay(wallets.idle.address, COIN);
    await net.mine(10);
    assert.deepEqual(await wallets.idle.balance(), { balance: COIN, unlocked: COIN });
    assert.deepEqual(await wallets.shop.balance(), { balance: sum(shop), unlocked: sum(shop) });
  } finally {
    await net.stop();
  }
});

test("more outputs can be funded at any time, for wallets and for addresses", async () => {
  const net = await startDevnet({ wallets: ["one", "two"], outputs: [COIN] });
  try {
    const { one, two } = net.wallets;
    const many = Array.from({ length: 600 }, (_, i) => BigInt(i + 1));
    await net.fund({ one: many, [two.address]: [7n] });
    assert.equal((await one.balance()).unlocked, COIN + sum(many));
    assert.equal((await two.balance()).unlocked, COIN + 7n);
    await assert.rejects(net.fund({ one: [36n * COIN] }), /more than a block can pay/);
    await assert.rejects(net.fund({ one: [0n] }), RangeError);
    const { integrated_address } = await one.call("make_integrated_address");
    await assert.rejects(net.fund({ [String(integrated_address)]: [1n] }), /integrated address/);
  } finally {
    await net.stop();
  }
});

test("subaddresses are funded beside standard addresses, and can spend what they got", async () => {
  const net = await startDevnet({ wallets: ["one", "two"], outputs: [COIN] });
  try {
    const { one, two } = net.wallets;
    const { address } = await one.call("create_address", { account_index: 0, count: 2 });
    const { addresses } = await one.call("get_address", { account_index: 0, address_index: [2] });
    const [second] = (addresses as { address: string }[]).map((each) => each.address);
    await net.fund({ [String(address)]: [2n * COIN, 5n], one: [7n], [second!]: [9n], two: [11n] });
    assert.equal((await one.balance()).unlocked, 3n * COIN + 5n + 7n + 9n);
    const { per_subaddress } = await one.call("get_balance", { account_index: 0 });
    const perAddress = (per_subaddress as { address_index: number; unlocked_balance: unknown }[]).map(
      (each) => [each.address_index, BigInt(String(each.unlocked_balance))],
    );
    const expected = [
      [0, COIN + 7n],
      [1, 2n * COIN + 5n],
      [2, 9n],
    ];
    assert.deepEqual(perAddress, expected);
    assert.equal((await two.balance()).unlocked, COIN + 11n);
    await one.call("transfer", {
      destinations: [{ address: two.address, amount: COIN }],
      subaddr_indices: [1],
    });
    await net.mine(1);
    assert.equal((await two.balance()).balance, 2n * COIN + 11n);
  } finally {
    await net.stop();
  }
});

test("devnets of one seed make the same blocks, and others make others", async () => {
  const idsOf = async (seed: number) => {
    const net = await startDevnet({ seed, wallets: ["a", "b", "c"], funded: true });
    try {
      await net.mine(3);
      net.advanceTime(500);
      await net.reorg(2);
      await net.fund({ a: [5n] });
      const { headers } = await call(net.nodeUrl, "get_block_headers_range", {
        start_height: 1,
        end_height: (await net.mine(1)) - 1,
      });
      return (headers as { hash: string }[]).map(({ hash }) => hash);
    } finally {
      await net.stop();
    }
  };
  const [first, same, other] = await Promise.all([idsOf(5), idsOf(5), idsOf(6)]);
  assert.deepEqual(first, same);
  assert.notEqual(first[0], other[0]);
});

test("names that no wallet can have are refused", async () => {
  for (const name of ["", "node", "a b", "../a", "x".repeat(65)])
    await assert.rejects(startDevnet({ wallets: [name] }), RangeError, name);
  await assert.rejects(startDevnet({ wallets: ["a", "a"] }), RangeError);
});

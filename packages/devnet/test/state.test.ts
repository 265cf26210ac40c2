import assert from "node:assert/strict";
import { test } from "node:test";
import { CallFailed, call, type Devnet, type DevnetWallet, startDevnet } from "../src/index.ts";

const COIN = 10n ** 12n;

/** What a test can see of chain, pool and wallets. */
async function seen(net: Devnet<string>) {
  const { height, top_block_hash, tx_pool_size } = await call(net.nodeUrl, "get_info");
  const wallets = await Promise.all(
    Object.values<DevnetWallet>(net.wallets).map(async ({ call: ask }) => [
      await ask("get_balance", { account_index: 0 }),
      await ask("get_height"),
      await ask("get_transfers", { in: true, out: true, pending: true, pool: true, failed: true }),
      await ask("get_address", { account_index: 0 }),
      await ask("get_attribute", { key: "note" }).catch((error: CallFailed) => error.code),
      await ask("list_wallets"),
    ]),
  );
  return { height, top_block_hash, tx_pool_size, time: net.time(), wallets };
}

test("a revert restores chain, pool, time and all wallets with their files, as often as wanted", async () => {
  const net = await startDevnet({ wallets: ["a", "b"], outputs: [COIN, COIN, COIN] });
  try {
    const { a, b } = net.wallets;
    await a.pay(b.address, 5n);
    await b.balance();
    await a.call("set_attribute", { key: "note", value: "before" });
    const id = await net.snapshot();
    const before = await seen(net);
    for (let round = 0; round < 3; round++) {
      const txid = await b.pay(a.address, 7n);
      await net.mine(3);
      await net.reorg(2);
      net.advanceTime(1000);
      await Promise.all([a.balance(), b.balance()]);
      await a.call("set_attribute", { key: "note", value: "after" });
      await a.call("create_address", { account_index: 0 });
      await b.call("create_wallet", { filename: "other", language: "English" });
      assert.notDeepEqual(await seen(net), before);
      await net.revert(id);
      assert.deepEqual(await seen(net), before);
      await assert.rejects(b.call("get_transfer_by_txid", { txid }), CallFailed);
    }
    await net.mine(1);
    assert.equal((await b.balance()).balance, 3n * COIN + 5n, "the payment that waited is mined");
    await net.dropSnapshot(id);
    await assert.rejects(net.revert(id), RangeError);
  } finally {
    await net.stop();
  }
});

test("after a revert the same calls make the same blocks, and older snapshots still stand", async () => {
  const net = await startDevnet({ wallets: [] });
  try {
    const top = async () => (await call(net.nodeUrl, "get_info")).top_block_hash;
    const first = await net.snapshot();
    await net.mine(5);
    const second = await net.snapshot();
    const atSecond = await top();
    await net.mine(7);
    const last = await top();
    await net.revert(second);
    assert.equal(await top(), atSecond);
    await net.mine(7);
    assert.equal(await top(), last);
    await net.revert(first);
    await net.revert(second);
    assert.equal(await top(), atSecond, "blocks that had left the chain are back");
  } finally {
    await net.stop();
  }
});

test("a reorganisation returns payments to the pool, or mines them again", async () => {
  const net = await startDevnet({ wallets: { payer: [COIN, COIN], shop: [] } });
  try {
    const { payer, shop } = net.wallets;
    const txid = await payer.pay(shop.address, 5n);
    const height = await net.mine(3);
    assert.equal((await shop.balance()).balance, 5n);
    assert.equal(await net.reorg(3), height + 1);
    const typeOf = async () => {
      await shop.balance();
      const { transfer } = await shop.call("get_transfer_by_txid", { txid });
      return (transfer as { type: string }).type;
    };
    assert.equal(await typeOf(), "pool");
    await net.mine(1);
    assert.equal(await typeOf(), "in");
    assert.equal(await net.reorg(2, { payments: "mined" }), height + 3);
    assert.equal(await typeOf(), "in");
    await assert.rejects(net.reorg(1_000_000), RangeError);
    await assert.rejects(net.reorg(0), RangeError);
  } finally {
    await net.stop();
  }
});

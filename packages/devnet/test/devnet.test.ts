import assert from "node:assert/strict";
import { test } from "node:test";
import { call, type Devnet, startDevnet } from "../src/index.ts";

const topHash = async ({ nodeUrl }: Devnet) => (await call(nodeUrl, "get_info")).top_block_hash;

test("both wallets of a funded devnet can pay at once", async () => {
  const net = await startDevnet({ funded: true });
  try {
    const { alice, bob } = net.wallets;
    await alice.pay(bob.address, 5n);
    await bob.pay(alice.address, 7n);
  } finally {
    await net.stop();
  }
});

test("a reorganisation replaces the newest blocks, and a payment in them is mined again", async () => {
  const net = await startDevnet({ funded: true });
  try {
    const { alice, bob } = net.wallets;
    const before = (await bob.balance()).balance;
    const hash = await alice.pay(bob.address, 5n);
    const height = await net.mine(3);
    assert.equal((await bob.balance()).balance, before + 5n);
    const replaced = await topHash(net);
    const kept = await call(net.nodeUrl, "on_get_block_hash", [height - 4]).catch(() => undefined);
    assert.equal(await net.reorganise(3), height + 1);
    assert.notEqual(await topHash(net), replaced);
    assert.deepEqual(await call(net.nodeUrl, "on_get_block_hash", [height - 4]).catch(() => undefined), kept);
    assert.equal((await bob.balance()).balance, before + 5n);
    const { transfer } = await bob.call("get_transfer_by_txid", { txid: hash });
    assert.equal((transfer as { height: number }).height, height - 3);
    await assert.rejects(net.reorganise(1_000_000), RangeError);
  } finally {
    await net.stop();
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startDevnet } from "../src/index.ts";

test("blocks move the time, which else moves on request alone, and not back", async () => {
  const net = await startDevnet({ startTime: 1_700_000_000, secondsPerBlock: 60 });
  try {
    const topTime = async () => {
      const { block_header } = await call(net.nodeUrl, "get_last_block_header");
      return (block_header as { timestamp: number }).timestamp;
    };
    assert.equal(net.time(), 1_700_000_000);
    await net.mine(10);
    assert.equal(net.time(), 1_700_000_600);
    net.advanceTime(86_400);
    await net.mine(1);
    assert.equal(await topTime(), 1_700_000_600 + 86_400);
    net.setTime(1_800_000_000);
    await net.mine(1);
    assert.equal(await topTime(), 1_800_000_000);
    assert.throws(() => net.setTime(1_799_999_999), RangeError);
    assert.throws(() => net.advanceTime(-1), RangeError);
    assert.throws(() => net.advanceTime(0.5), RangeError);
  } finally {
    await net.stop();
  }
});

test("the wallets' clocks are the devnet's", async () => {
  const net = await startDevnet({ startTime: 1_700_000_000, funded: true });
  try {
    const { alice, bob } = net.wallets;
    net.setTime(1_900_000_000);
    const txid = await alice.pay(bob.address, 5n);
    const { transfer } = await alice.call("get_transfer_by_txid", { txid });
    assert.equal((transfer as { timestamp: number }).timestamp, 1_900_000_000);
  } finally {
    await net.stop();
  }
});

test("the system's clock can be asked for", async () => {
  const net = await startDevnet({ startTime: "system", wallets: [] });
  try {
    const before = Math.floor(Date.now() / 1000);
    assert.ok(net.time() >= before);
    net.advanceTime(1000);
    assert.ok(net.time() >= before + 1000);
  } finally {
    await net.stop();
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { call, NotSupported, startDevnet } from "../src/index.ts";
import { originalPrograms, originalsMissing } from "./original-programs.ts";

const COIN = 10n ** 12n;

test("the original programs refuse what they cannot do", { skip: originalsMissing() }, async () => {
  await assert.rejects(startDevnet({ programs: originalPrograms, startTime: 5 }), RangeError);
  const net = await startDevnet({ programs: originalPrograms, wallets: { payer: [COIN], shop: [] } });
  try {
    assert.throws(() => net.setTime(2_000_000_000), NotSupported);
    assert.throws(() => net.advanceTime(1), NotSupported);
    assert.throws(() => net.node, NotSupported);
    const before = Math.floor(Date.now() / 1000);
    const time = net.time();
    assert.ok(before <= time && time <= Math.ceil(Date.now() / 1000));
    const start = await net.snapshot();
    await net.wallets.payer.pay(net.wallets.shop.address, 5n);
    const height = await net.mine(2);
    assert.equal((await net.wallets.shop.balance()).balance, 5n);
    await net.revert(start);
    assert.equal((await call(net.nodeUrl, "get_info")).height, height - 2);
    assert.equal((await net.wallets.shop.balance()).balance, 0n);
    net.autoMine("payment");
    await net.wallets.payer.pay(net.wallets.shop.address, 5n);
    while (Number((await call(net.nodeUrl, "get_info")).height) < height - 1)
      await new Promise((resolve) => setTimeout(resolve, 50));
  } finally {
    await net.stop();
  }
});

test("a folder without the programs is refused by name", async () => {
  await assert.rejects(startDevnet({ programs: { folder: "/nowhere" } }), /monerod is not in \/nowhere/);
});

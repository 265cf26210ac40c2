import assert from "node:assert/strict";
import { test } from "node:test";
import { call, type Devnet, startDevnet } from "../src/index.ts";

const COIN = 10n ** 12n;

/** Resolves once the chain has this many blocks; the test's timeout ends what never comes. */
async function untilHeight({ node, nodeUrl }: Devnet<string>, wanted: number): Promise<void> {
  const isThere = async () => Number((await call(nodeUrl, "get_info")).height) >= wanted;
  while (!(await isThere())) {
    await new Promise<void>((resolve) => {
      const end = node.events.listen(() => {
        end();
        resolve();
      });
      isThere().then((there) => {
        if (there) resolve();
      });
    });
  }
}

test("a block is mined for every payment, until mining is manual again", async () => {
  const net = await startDevnet({ wallets: { payer: [COIN, COIN], shop: [] }, mining: "payment" });
  try {
    const { payer, shop } = net.wallets;
    const { height } = await call(net.nodeUrl, "get_info");
    await payer.pay(shop.address, 5n);
    await untilHeight(net, Number(height) + 1);
    assert.deepEqual((await shop.balance()).balance, 5n);
    net.autoMine("manual");
    await payer.pay(shop.address, 7n);
    assert.equal((await call(net.nodeUrl, "get_info")).tx_pool_size, 1);
    net.autoMine("payment");
    await untilHeight(net, Number(height) + 2);
    assert.deepEqual((await shop.balance()).balance, 12n);
  } finally {
    await net.stop();
  }
});

test("blocks are mined at intervals", async () => {
  const net = await startDevnet({ wallets: [], mining: { everyMs: 5 } });
  try {
    await untilHeight(net, 4);
    assert.throws(() => net.autoMine({ everyMs: 0 }), RangeError);
  } finally {
    await net.stop();
  }
});

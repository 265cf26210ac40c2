import assert from "node:assert/strict";
import { test } from "node:test";
import { useDevnet } from "../src/node-test.ts";

const COIN = 10n ** 12n;
const devnet = useDevnet({ wallets: { payer: [COIN], shop: [] } });
const heights: unknown[] = [];

for (const round of [1, 2]) {
  test(`each test finds what the first did, and none of what another has left: ${round}`, async () => {
    const { wallets, mine, nodeUrl, faults, time } = devnet();
    heights.push([nodeUrl, time()]);
    assert.deepEqual((await wallets.payer.balance()).unlocked, COIN);
    await wallets.payer.pay(wallets.shop.address, 5n);
    await mine(round);
    assert.equal((await wallets.shop.balance()).balance, 5n);
    faults.begin({ at: "wallet", kind: "away" });
    assert.deepEqual(heights.at(-1), heights[0]);
  });
}

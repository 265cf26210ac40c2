import { test } from "node:test";
import { startDevnet } from "../src/index.ts";

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

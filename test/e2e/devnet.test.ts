import assert from "node:assert/strict";
import { test } from "node:test";
import { type Devnet, startDevnet } from "@anulo/testkit";

const coin = 10n ** 12n;

/** Mines until alice can spend, pays bob, and checks that he can spend it too. */
async function payBob({ mine, wallets: { alice, bob } }: Devnet): Promise<void> {
  await mine(80);
  await alice.balance();
  await alice.pay(bob.address, coin);
  await mine(10);
  assert.deepEqual(await bob.balance(), { balance: coin, unlocked: coin });
}

test("twenty devnets live side by side, each with its payment", { timeout: 300_000 }, async () => {
  const nets = await Promise.all(Array.from({ length: 20 }, (_, seed) => startDevnet({ seed })));
  try {
    const addresses = new Set(nets.map(({ wallets }) => wallets.alice.address));
    assert.equal(addresses.size, 20);
    await Promise.all(nets.map(payBob));
  } finally {
    await Promise.all(nets.map(({ stop }) => stop()));
  }
});

test("a seed always gives the same wallets", async () => {
  const nets = [await startDevnet({ seed: 1 }), await startDevnet({ seed: 1 })];
  const addresses = nets.map(({ wallets: { alice, bob } }) => [alice.address, bob.address]);
  await Promise.all(nets.map(({ stop }) => stop()));
  assert.deepEqual(addresses[0], addresses[1]);
  // The tour in README.md pays to this wallet's address.
  assert.equal(
    addresses[0]?.[0],
    "47H2BuhV8ZVM11XfjFgMvUPWQyFZcyFzyVCerDvxikes7K8uL3VTA5SM7beYmFt91SPo9jHPZkdiU5Wt5m2PMBvWAe9EJRb",
  );
});

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { call, startDevnet } from "@anulo/testkit";

const payment = 10n ** 12n;
const atOnce = 50;

/** Devnets keep their files below the folder for temporary files: here, one of our own. */
const scratch = mkdtempSync(join(tmpdir(), "devnets-"));
process.env.TMPDIR = scratch;
after(() => rmSync(scratch, { recursive: true, force: true }));

test(`${atOnce} devnets at once each see their own payment arrive and leave nothing behind`, async (t) => {
  const started = performance.now();
  const nets = await Promise.all(Array.from({ length: atOnce }, (_, seed) => startDevnet({ seed })));
  try {
    const urls = nets.flatMap(({ nodeUrl, wallets: { alice, bob } }) => [nodeUrl, alice.url, bob.url]);
    assert.equal(new Set(urls).size, 3 * atOnce, "every service has a port of its own");
    assert.equal(new Set(nets.map(({ wallets }) => wallets.alice.address)).size, atOnce);
    const received = await Promise.all(
      nets.map(async ({ mine, wallets: { alice, bob } }) => {
        await mine(80);
        await alice.pay(bob.address, payment);
        assert.equal(await mine(10), 91);
        return bob.balance();
      }),
    );
    for (const balance of received) assert.deepEqual(balance, { balance: payment, unlocked: payment });
  } finally {
    await Promise.all(nets.map((net) => net.stop()));
  }
  const tookMs = Math.round(performance.now() - started);
  t.diagnostic(`${tookMs} ms for all`);
  assert.deepEqual(readdirSync(scratch), []);
});

test("a devnet's keys follow from its seed, and nothing of it answers once it has stopped", async () => {
  const [first, second] = [await startDevnet({ seed: 7 }), await startDevnet({ seed: 7 })];
  assert.equal(first.wallets.bob.mnemonic, second.wallets.bob.mnemonic);
  assert.equal(readdirSync(scratch).length > 0, true);
  const urls = [first.nodeUrl, first.wallets.alice.url];
  for (const url of urls) assert.ok(await call(url, "get_version"));
  await Promise.all([first.stop(), second.stop()]);
  await first.stop();
  for (const url of urls) await assert.rejects(call(url, "get_version"));
  assert.deepEqual(readdirSync(scratch), []);
});

test("a devnet stopped in the middle of its work leaves nothing behind", async () => {
  const { mine, stop, wallets } = await startDevnet({ seed: 3 });
  const work = [mine(500), wallets.alice.balance(), mine(500), wallets.bob.balance()];
  const outcomes = Promise.allSettled(work);
  await wallets.alice.call("get_version");
  await stop();
  await outcomes;
  assert.deepEqual(readdirSync(scratch), []);
});

test("the wallets of the README's tour are those of the default seed", async () => {
  const { stop, wallets } = await startDevnet();
  await stop();
  const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8");
  assert.ok([wallets.alice, wallets.bob].some(({ address }) => readme.includes(address)));
});

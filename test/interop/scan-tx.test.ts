import assert from "node:assert/strict";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { accountOf } from "../account.ts";
import { bigintOf, listOf, mine, needsRealPrograms, onStage, type WalletActor } from "../actors.ts";
import { words } from "./words.ts";

/** What has come in, with its confirmations. */
async function shown(wallet: WalletActor) {
  const transfers = listOf((await wallet.call("get_transfers", { in: true })).in);
  return transfers
    .map(({ txid, amount, height, confirmations }) => ({ txid, amount, height, confirmations }))
    .sort((a, b) => (String(a.txid) < String(b.txid) ? -1 : 1));
}

test(
  "a transaction above what is scanned is told as today's wallet tells it, and none is lost",
  needsRealPrograms,
  () =>
    onStage(async (stage) => {
      const daemon = await stage.daemon("ours", "upstream");
      const payer = await stage.wallet("ours", { mnemonic: words.alice, daemonPort: daemon.port });
      await mine(daemon, 80, payer.address);
      await payer.refresh();
      const bob = { mnemonic: words.bob, daemonPort: daemon.port };
      const ours = await stage.wallet("ours", bob);
      const real = await stage.wallet("real", bob);
      for (const wallet of [ours, real]) await wallet.refresh();
      const txid = await payer.pay([{ address: ours.address, amount: coin }]);
      await mine(daemon, 1, payer.address);
      for (const wallet of [ours, real]) await wallet.call("scan_tx", { txids: [txid] });
      assert.equal((await shown(ours)).length, 1);
      assert.deepEqual(await shown(ours), await shown(real));

      // The original skips what it was not asked for.
      const passedOver = await payer.pay([{ address: ours.address, amount: 2n * coin }]);
      await mine(daemon, 1, payer.address);
      const asked = await payer.pay([{ address: ours.address, amount: 3n * coin }]);
      await mine(daemon, 1, payer.address);
      for (const wallet of [ours, real]) await wallet.call("scan_tx", { txids: [asked] });
      const seen = await shown(ours);
      assert.deepEqual(
        seen.filter((each) => each.txid !== passedOver),
        await shown(real),
      );
      assert.equal(
        seen.reduce((sum, { amount }) => sum + bigintOf(amount), 0n),
        6n * coin,
      );
      await real.call("rescan_blockchain");
      assert.deepEqual(await accountOf(ours), await accountOf(real));
    }),
);

import assert from "node:assert/strict";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { call } from "@anulo/testkit";
import { listOf, mine, needsReleases, onStage, type WalletActor } from "../actors.ts";

/** What a wallet says of its money and of what it has under way. */
async function told(wallet: WalletActor) {
  await wallet.refresh();
  const { total, unlocked } = await wallet.balance();
  const { pending } = await wallet.call("get_transfers", { pending: true });
  const shown = listOf(pending).map(({ txid, amount, fee, type, subaddr_indices, destinations }) => {
    return { txid, amount, fee, type, subaddr_indices, destinations };
  });
  return { total, unlocked, shown };
}

test("another copy's payment in the pool is pending, as in today's wallet", needsReleases("today"), () =>
  onStage(async (stage) => {
    const daemon = await stage.daemon("ours", "upstream");
    const maker = await stage.service("ours", daemon.port);
    await call(maker.url, "create_wallet", { filename: "maker", password: "", language: "English" });
    const mnemonic = String((await call(maker.url, "query_key", { key_type: "mnemonic" })).key);
    const { address } = await call(maker.url, "get_address");
    const stranger = await stage.service("ours", daemon.port);
    await call(stranger.url, "create_wallet", { filename: "other", password: "", language: "English" });
    const other = String((await call(stranger.url, "get_address")).address);
    await mine(daemon, 20, String(address));
    await mine(daemon, 80, other);
    const copies = {
      ours: await stage.wallet("ours", { mnemonic, daemonPort: daemon.port }),
      real: await stage.wallet("real", { mnemonic, daemonPort: daemon.port }),
    };
    await told(copies.ours);
    await told(copies.real);
    await call(maker.url, "refresh");
    await call(maker.url, "transfer", { destinations: [{ address: other, amount: coin }] });
    const [ours, real] = [await told(copies.ours), await told(copies.real)];
    assert.equal(real.shown.length, 1);
    assert.deepEqual(ours, real);
    await mine(daemon, 1, other);
    const mined = await told(copies.ours);
    assert.deepEqual(mined, await told(copies.real));
    assert.deepEqual(mined.shown, []);
  }, "today"),
);

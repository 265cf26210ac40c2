import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { listOf, mine, needsRealPrograms, onStage } from "../actors.ts";
import { type Ask, asking, makeHistory } from "./wallet-history.ts";
import { words } from "./words.ts";

/** Outgoing transfers without what depends on how far the wallet has scanned. */
async function outgoing(ask: Ask): Promise<unknown[]> {
  const { out = [] } = await ask("get_transfers", { out: true, all_accounts: true });
  return listOf(out)
    .map(({ txid, address, amount, destinations, fee, height, note, payment_id, subaddr_index }) => {
      const paid = listOf(destinations).map((to) => `${to.address} ${to.amount}`);
      return { txid, address, amount, paid, fee, height, note, payment_id, subaddr_index };
    })
    .toSorted((a, b) => (String(a.txid) < String(b.txid) ? -1 : 1));
}

/** All that is not in the chain. */
async function untold(ask: Ask, txids: readonly string[]): Promise<unknown> {
  const keys: unknown[] = [];
  for (const txid of txids) keys.push((await ask("get_tx_key", { txid })).tx_key);
  const accounts: unknown[] = [];
  for (const account_index of [0, 1]) {
    const { addresses } = await ask("get_address", { account_index });
    accounts.push(listOf(addresses).map(({ address, label }) => [address, label]));
  }
  return {
    keys,
    accounts,
    outgoing: await outgoing(ask),
    notes: (await ask("get_tx_notes", { txids: [...txids] })).notes,
    // Ours returns the payment id, too: see DIFFERENCES.md.
    book: listOf((await ask("get_address_book")).entries).map(({ address, description }) => [
      address,
      description,
    ]),
    tags: (await ask("get_account_tags")).account_tags,
    attribute: await ask("get_attribute", { key: "a key" }),
  };
}

test(
  "what stands only in the cache of the original program is taken over, and its file stays as it was",
  needsRealPrograms,
  async (t) => {
    await onStage(async (stage) => {
      const daemon = await stage.daemon("ours", "upstream");
      const real = await stage.service("real", daemon.port);
      const ours = await stage.service("ours", daemon.port);
      const bob = await stage.wallet("ours", { mnemonic: words.bob, daemonPort: daemon.port });
      const [then, now] = [asking(real.url), asking(ours.url)];
      const names = { filename: "kept", password: "pässword" };
      const restored = await then("restore_deterministic_wallet", {
        ...names,
        seed: words.alice,
        restore_height: 0,
      });
      const address = String(restored.address);
      await mine(daemon, 90, address);
      await then("refresh");

      const { txids, key_image, waiting, pay } = await makeHistory(then, bob, daemon);
      const known = await untold(then, txids);
      await then("close_wallet");

      const copy = (from: string, to: string) => {
        for (const ending of ["", ".keys"]) cpSync(join(from, `kept${ending}`), join(to, `kept${ending}`));
      };
      copy(real.walletDir, ours.walletDir);
      const cache = () => readFileSync(join(ours.walletDir, "kept"));
      const before = cache();
      await now("open_wallet", names);
      assert.deepEqual(await untold(now, txids), known, "at once");
      await now("refresh");
      assert.deepEqual(await untold(now, txids), known, "after the scan");
      assert.equal((await now("frozen", { key_image })).frozen, true);
      const { pending } = await now("get_transfers", { pending: true });
      assert.deepEqual(
        listOf(pending).map(({ txid }) => txid),
        [waiting],
      );
      assert.equal(typeof (await now("get_tx_key", { txid: waiting })).tx_key, "string");
      assert.deepEqual(cache(), before, "the cache stays as it was");

      // A new password is one for both files: the original still opens them, and has kept what it knew.
      await now("change_wallet_password", { old_password: names.password, new_password: "new" });
      await now("close_wallet");
      copy(ours.walletDir, real.walletDir);
      await then("open_wallet", { filename: "kept", password: "new" });
      assert.deepEqual(await untold(then, txids), known, "in the original again");
      await then("refresh");
      await then("set_tx_notes", { txids: [txids[2]!], notes: ["later"] });
      const later = await pay(bob.address);
      await then("close_wallet");

      // What the original has kept since is taken over with the next opening; what both know stays ours.
      await then("stop_wallet").catch(() => undefined);
      cpSync(join(real.walletDir, "kept"), join(ours.walletDir, "kept"));
      await now("open_wallet", { filename: "kept", password: "new" });
      assert.equal(typeof (await now("get_tx_key", { txid: later })).tx_key, "string");
      assert.deepEqual((await now("get_tx_notes", { txids: [txids[2]!] })).notes, ["later"]);
      await now("close_wallet");
      assert.ok(existsSync(join(ours.walletDir, "kept")));
      t.diagnostic(`${txids.length + 2} transaction keys, ${before.length} bytes of cache`);
    });
  },
);

test("a view-only wallet of the original keeps the key images it was told", needsRealPrograms, async () => {
  await onStage(async (stage) => {
    const daemon = await stage.daemon("ours", "upstream");
    const full = await stage.wallet("ours", { mnemonic: words.alice, daemonPort: daemon.port });
    const real = await stage.service("real", daemon.port);
    const ours = await stage.service("ours", daemon.port);
    const [then, now] = [asking(real.url), asking(ours.url)];
    await mine(daemon, 75, full.address);
    await full.refresh();
    await full.pay([{ address: full.address, amount: coin }]);
    await mine(daemon, 12, full.address);
    await full.refresh();
    const { key } = await full.call("query_key", { key_type: "view_key" });
    const names = { filename: "view", password: "" };
    await then("generate_from_keys", { ...names, address: full.address, viewkey: key!, restore_height: 0 });
    await then("refresh");
    const told = await full.call("export_key_images", { all: true });
    await then("import_key_images", { signed_key_images: told.signed_key_images! });
    const balance = await then("get_balance");
    await then("close_wallet");
    for (const name of ["view", "view.keys"]) cpSync(join(real.walletDir, name), join(ours.walletDir, name));
    await now("open_wallet", names);
    await now("refresh");
    assert.equal((await now("get_balance")).balance, balance.balance);
    assert.equal((await full.call("get_balance")).balance, balance.balance);
  });
});

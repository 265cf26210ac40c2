import assert from "node:assert/strict";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { call } from "@anulo/testkit";
import { accountOf } from "../account.ts";
import { mine, needsRealPrograms, onStage, type WalletActor } from "../actors.ts";
import { words } from "./words.ts";

test(
  "a view-only wallet that is told key images late knows what a full wallet of the original knows",
  needsRealPrograms,
  async () => {
    await onStage(async (stage) => {
      const daemon = await stage.daemon("ours", "upstream");
      const open = { daemonPort: daemon.port };
      const alice = await stage.wallet("ours", { ...open, mnemonic: words.alice });
      const bob = await stage.wallet("ours", { ...open, mnemonic: words.bob });
      await alice.call("create_account", { label: "" });
      await alice.call("create_account", { label: "" });
      const { address } = await alice.call("create_address", { account_index: 1 });
      await mine(daemon, 75, alice.address);
      const paid = async (...amounts: readonly [string, bigint][]) => {
        await alice.refresh();
        await alice.pay(amounts.map(([to, amount]) => ({ address: to, amount })));
        await mine(daemon, 12, bob.address);
      };
      // To somebody and to another account of one's own; then with change that was change before.
      await paid([bob.address, coin], [String(address), 2n * coin]);
      await paid([bob.address, coin / 3n]);
      await alice.refresh();
      await alice.pay([{ address: bob.address, amount: coin / 7n }], { account_index: 1 });
      await mine(daemon, 12, bob.address);
      await alice.refresh();

      const { key } = await alice.call("query_key", { key_type: "view_key" });
      const { signed_key_images } = await alice.call("export_key_images", { all: true });
      const { url, walletDir } = await stage.service("ours", daemon.port);
      const ask: WalletActor["call"] = (method, params = {}) => call(url, method, params);
      const late = { ...alice, call: ask, walletDir, refresh: async () => void (await ask("refresh")) };
      const names = { filename: "view", password: "", restore_height: 0 };
      await late.call("generate_from_keys", { ...names, address: alice.address, viewkey: key! });
      await late.refresh();
      await late.call("import_key_images", { signed_key_images: signed_key_images! });
      const full = await stage.wallet("real", { ...open, mnemonic: words.alice });
      assert.deepEqual(await accountOf(late), await accountOf(full));
    });
  },
);

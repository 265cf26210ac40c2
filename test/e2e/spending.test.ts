import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { call, type Exact, type ExactObject, startDaemon, startWallet } from "@anulo/testkit";
import { bigintOf, listOf, mine } from "../actors.ts";
import { featuresOf } from "../recognition/features.ts";

const ours = { kind: "ours" } as const;

type Ask = (method: string, params?: Exact) => Promise<ExactObject>;

/** A wallet with money on a private chain; `reopen` stops its service and starts another on the same files. */
async function onPrivateChain(
  play: (actor: {
    ask: Ask;
    address: string;
    reopen: () => Promise<Ask>;
    mineOne: () => Promise<void>;
  }) => Promise<void>,
): Promise<void> {
  const walletDir = mkdtempSync(join(tmpdir(), "anulo-spending-"));
  const daemon = await startDaemon(ours);
  const open = () => startWallet(ours, { daemonPort: daemon.port, walletDir });
  let wallet = await open();
  const ask: Ask = (method, params = {}) => call(wallet.url, method, params);
  try {
    await ask("create_wallet", { filename: "wallet", password: "", language: "English" });
    const address = String((await ask("get_address")).address);
    await mine(daemon, 150, address);
    await ask("refresh");
    await play({
      ask,
      address,
      reopen: async () => {
        await wallet.stop();
        wallet = await open();
        await ask("open_wallet", { filename: "wallet", password: "" });
        return ask;
      },
      mineOne: () => mine(daemon, 1, address),
    });
  } finally {
    await wallet.stop();
    await daemon.stop();
    rmSync(walletDir, { recursive: true, force: true });
  }
}

function ringsOf(made: ExactObject): Map<string, string> {
  const { rings } = featuresOf(String(made.tx_blob));
  return new Map(rings.map(({ keyImage, members }) => [keyImage, members.join()]));
}

test("spending: shown rings outlive the service, and destinations may pay the fee", async (t) => {
  await onPrivateChain(async ({ ask, address, reopen, mineOne }) => {
    await t.test("an output that was shown and not sent is shown in the same ring again", async () => {
      const shown = { destinations: [{ address, amount: coin }], do_not_relay: true, get_tx_hex: true };
      const first = ringsOf(await ask("transfer", shown));
      await reopen();
      const again = ringsOf(await ask("transfer", { ...shown, do_not_relay: false }));
      const common = [...first.keys()].filter((keyImage) => again.has(keyImage));
      assert.ok(common.length > 0);
      for (const keyImage of common) assert.equal(again.get(keyImage), first.get(keyImage));
    });

    await t.test("the fee is taken from the destinations that were named", async () => {
      const amounts = [3n * coin, 2n * coin, coin];
      const { addresses } = await ask("create_address", { account_index: 0, count: 3 });
      const destinations = amounts.map((amount, i) => ({
        address: String((addresses as Exact[])[i]),
        amount,
      }));
      const asked = { destinations, subtract_fee_from_outputs: [0, 2] };
      const made = await ask("transfer", asked);
      const fee = bigintOf(made.fee);
      const told = ((made.amounts_by_dest as ExactObject).amounts as Exact[]).map(bigintOf);
      assert.equal(told[1], amounts[1]);
      assert.equal(told[0]! + told[2]! + fee, 4n * coin);
      assert.ok(amounts[0]! - told[0]! - (amounts[2]! - told[2]!) <= 1n);
      await mineOne();
      await ask("refresh");
      const { transfers } = await ask("incoming_transfers", { transfer_type: "all" });
      const received = listOf(transfers)
        .filter(({ tx_hash }) => tx_hash === made.tx_hash)
        .map(({ amount }) => bigintOf(amount));
      for (const amount of told) assert.ok(received.includes(amount));
      await assert.rejects(ask("transfer", { ...asked, subtract_fee_from_outputs: [3] }), /bad index: 3 /);
    });

    await t.test("the priority of a transfer that names none is told", async () => {
      const shown = { destinations: [{ address, amount: coin }], do_not_relay: true };
      const { priority } = await ask("get_default_fee_priority");
      const [byDefault, named] = [
        await ask("transfer", shown),
        await ask("transfer", { ...shown, priority: priority! }),
      ];
      assert.equal(byDefault.fee, named.fee);
    });
  });
});

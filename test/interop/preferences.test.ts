/** What a keys file says its owner prefers is obeyed by both programs alike. */
import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { ATOMIC_UNITS_PER_COIN as coin, fromHex, readTransaction } from "@anulo/protocol";
import type { Json } from "@anulo/rpc";
import { CallFailed, type ExactObject, type RunningDaemon, type RunningWallet } from "@anulo/testkit";
import {
  bigintOf,
  listOf,
  mine,
  needsRealPrograms,
  onStage,
  type Side,
  type Stage,
  type WalletActor,
} from "../actors.ts";
import { type Ask, asking, changeSettings, sides, withServices } from "./two-services.ts";
import { words } from "./words.ts";

/** What the holder is paid, far enough apart that nothing links two of them. */
const paid = [3n * coin, 2n * coin, coin, 5n * coin, 1000n];
const BLOCKS_APART = 12;
const REWARDS = 2;
/** The original takes a second to make the usual one. */
const SMALL_TABLE = { subaddress_lookahead_major: 1, subaddress_lookahead_minor: 2 };
const KEPT = { do_not_relay: true, get_tx_hex: true };

/** A chain on which the holder has got payments and rewards. */
async function payHolder(stage: Stage): Promise<Omit<Scene, "services">> {
  const daemon = await stage.daemon("ours", "upstream");
  const payer = await stage.wallet("ours", { mnemonic: words.alice, daemonPort: daemon.port });
  const holder = await stage.wallet("ours", { mnemonic: words.bob, daemonPort: daemon.port });
  await mine(daemon, REWARDS, holder.address);
  await mine(daemon, 80, payer.address);
  for (const amount of paid) {
    await payer.refresh();
    await payer.pay([{ address: holder.address, amount }]);
    await mine(daemon, BLOCKS_APART, payer.address);
  }
  return { daemon, holder, address: payer.address };
}

/** Which outputs a transfer spends, and how many it makes; a refusal by its code. */
async function shapeOf(asked: Promise<ExactObject>): Promise<unknown> {
  try {
    const { spent_key_images, tx_blob, fee, weight } = await asked;
    const { outputs } = readTransaction(fromHex(String(tx_blob))).prefix;
    const { key_images } = spent_key_images as { key_images: string[] };
    // Weights differ by the bytes of rings' offsets.
    return {
      spent: [...key_images].sort(),
      outputs: outputs.length,
      feePerByte: bigintOf(fee) / bigintOf(weight),
    };
  } catch (error) {
    if (error instanceof CallFailed) return error.code;
    throw error;
  }
}

/** What is asked of a wallet, whatever its settings. */
const questions: Record<string, (ask: Ask, address: string) => Promise<unknown>> = {
  payment: (ask, address) =>
    shapeOf(ask("transfer", { ...KEPT, destinations: [{ address, amount: (3n * coin) / 2n }] })),
  twoPayments: (ask, address) => {
    const one = { address, amount: coin / 10n };
    return shapeOf(ask("transfer", { ...KEPT, destinations: [one, one] }));
  },
  sweep: async (ask, address) => {
    const { spent_key_images_list } = await ask("sweep_all", { ...KEPT, address });
    return listOf(spent_key_images_list).map(({ key_images }) => [...(key_images as string[])].sort());
  },
  balance: async (ask) => bigintOf((await ask("get_balance")).balance),
};

type Question = string;
type Case = {
  readonly settings: Record<string, Json>;
  readonly changes: readonly Question[];
  readonly leaves?: readonly Question[];
};

const cases: Record<string, Case> = {
  "the usual": { settings: {}, changes: [], leaves: Object.keys(questions) },
  "no output above": {
    settings: { ignore_outputs_above: 4n * coin },
    changes: ["payment"],
    leaves: ["sweep"],
  },
  "no output below": {
    settings: { ignore_outputs_below: 1n * coin + 1n },
    changes: ["payment"],
  },
  "no output at all": {
    settings: { ignore_outputs_below: 1000n * coin },
    changes: ["payment"],
  },
  "outputs less worth than their fee": {
    settings: { ignore_fractional_outputs: 0 },
    changes: ["payment", "sweep"],
  },
  "many outputs to be kept": {
    settings: { min_output_count: 100, min_output_value: coin / 2n },
    changes: ["payment"],
  },
  "payments to one address merged": {
    settings: { merge_destinations: 1 },
    changes: ["twoPayments"],
    leaves: ["payment"],
  },
  "no rewards": { settings: { refresh_type: 2 }, changes: ["payment", "sweep", "balance"] },
  // Only programs for people ask for it; a service pays the least by default.
  "a priority": { settings: { default_priority: 4, auto_low_priority: 0 }, changes: [], leaves: ["payment"] },
};

type Scene = {
  readonly services: Record<Side, RunningWallet>;
  readonly daemon: RunningDaemon;
  readonly holder: WalletActor;
  /** Of somebody else. */
  readonly address: string;
};

/** Opens the holder's wallet with other settings. */
async function openWith(
  { holder }: Scene,
  service: RunningWallet,
  { filename, settings }: { readonly filename: string; readonly settings: Record<string, Json> },
): Promise<Ask> {
  copyFileSync(join(holder.walletDir, "wallet.keys"), join(service.walletDir, `${filename}.keys`));
  await changeSettings(service, filename, { ...SMALL_TABLE, ...settings });
  const ask = asking(service);
  await ask("open_wallet", { filename, password: "" });
  await ask("refresh");
  return ask;
}

async function compareAnswers(scene: Scene): Promise<void> {
  const usual: Record<Question, unknown> = {};
  for (const [filename, { settings, changes, leaves = [] }] of Object.entries(cases)) {
    const real = await openWith(scene, scene.services.real, { filename, settings });
    const ours = await openWith(scene, scene.services.ours, { filename, settings });
    for (const question of [...changes, ...leaves]) {
      const answer = await questions[question]!(real, scene.address);
      assert.deepEqual(await questions[question]!(ours, scene.address), answer, `${filename}: ${question}`);
      usual[question] ??= answer;
      const isSame = isDeepStrictEqual(answer, usual[question]);
      assert.equal(isSame, leaves.includes(question), `${filename}: ${question}`);
    }
  }
}

/** A wallet that is to store nothing of its transactions returns no key and no destination of them. */
async function playForgetful(scene: Scene, side: Side): Promise<void> {
  const { services, holder, daemon } = scene;
  const settings = { store_tx_info: 0 };
  const ask = await openWith(scene, services[side], { filename: "forgetful", settings });
  const destinations = [{ address: holder.address, amount: coin }];
  const txid = String((await ask("transfer", { destinations })).tx_hash);
  await assert.rejects(ask("get_tx_key", { txid }), { code: -24 }, side);
  for (const type of ["pending", "out"]) {
    const { transfer } = await ask("get_transfer_by_txid", { txid });
    assert.equal((transfer as ExactObject).type, type, side);
    assert.deepEqual(listOf((transfer as ExactObject).destinations), [], side);
    await mine(daemon, BLOCKS_APART, holder.address);
    await ask("refresh");
  }
}

test("settings of a keys file mean the same to both programs", needsRealPrograms, async () => {
  await onStage(async (stage) => {
    const { daemon, holder, address } = await payHolder(stage);
    await withServices({ daemonPort: daemon.port }, async (services) => {
      const scene = { services, daemon, holder, address };
      await compareAnswers(scene);
      for (const side of sides) await playForgetful(scene, side);
    });
  });
});

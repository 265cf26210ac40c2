/** Debian's wallet of 2017, on a testnet nobody reaches: what both programs make of it. */
import assert from "node:assert/strict";
import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CallFailed, type ExactObject } from "@anulo/testkit";
import { needsRealPrograms } from "../actors.ts";
import { type Ask, asking, sides, withServices } from "./two-services.ts";

const folder = "/usr/share/monero/testdata";
const name = "wallet_9svHk1";
const isMissing =
  !existsSync(folder) && !process.env.CI && "the Debian package monero-tests is not installed";
const hex = (file: string) => readFileSync(join(folder, file)).toString("hex");

async function orRefusal(asked: Promise<ExactObject>): Promise<unknown> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof CallFailed) return { code: error.code, reason: error.reason };
    throw error;
  }
}

/** What such files were good for; both refuse those of an older version alike. */
async function answersOf(ask: Ask): Promise<unknown> {
  await ask("open_wallet", { filename: name, password: "test" });
  const { address } = await ask("get_address", { account_index: 0 });
  const keys = [];
  for (const key_type of ["mnemonic", "view_key", "spend_key"])
    keys.push((await ask("query_key", { key_type })).key);
  const refusals = [];
  for (const [method, params] of [
    ["import_outputs", { outputs_data_hex: hex("outputs") }],
    ["describe_transfer", { unsigned_txset: hex("unsigned_monero_tx") }],
    ["sign_transfer", { unsigned_txset: hex("unsigned_monero_tx") }],
    ["submit_transfer", { tx_data_hex: hex("signed_monero_tx") }],
  ] as const)
    refusals.push(await orRefusal(ask(method, params)));
  return { address, keys, refusals };
}

test("an old wallet of Debian's opens in both programs, its old sets in neither", {
  skip: needsRealPrograms.skip || isMissing,
}, async () => {
  await withServices({ extra: ["--testnet"] }, async (services) => {
    const answers: Partial<Record<(typeof sides)[number], unknown>> = {};
    for (const side of sides) {
      for (const file of [name, `${name}.keys`])
        copyFileSync(join(folder, file), join(services[side].walletDir, file));
      answers[side] = await answersOf(asking(services[side]));
    }
    assert.deepEqual(answers.ours, answers.real);
    // The original writes its cache anew where it can.
    assert.deepEqual(
      readFileSync(join(services.ours.walletDir, name)),
      readFileSync(join(folder, name)),
      "what ours cannot read it leaves alone",
    );
  });
});

import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CallFailed, call, type ExactObject, loadChain, type RunningWallet } from "@anulo/testkit";
import { needsRealPrograms, onStage, otherSide, type Side } from "../actors.ts";

const { alice, bob } = loadChain().wallets;

/** How a wallet is made, by its file's name; other languages and passwords: keys-file-settings.test.ts. */
const makings: { readonly [filename: string]: { readonly method: string; readonly params: ExactObject } } = {
  english: { method: "create_wallet", params: { language: "English", password: "" } },
  japanese: { method: "create_wallet", params: { language: "Japanese", password: "パスワード" } },
  restored: {
    method: "restore_deterministic_wallet",
    params: { seed: alice.mnemonic, password: "p", restore_height: 5 },
  },
  offset: {
    method: "restore_deterministic_wallet",
    params: { seed: alice.mnemonic, seed_offset: "salt", password: "p", language: "English" },
  },
  spending: {
    method: "generate_from_keys",
    params: { address: bob.address, viewkey: bob.view_key, spendkey: bob.spend_key, password: "p" },
  },
  viewing: {
    method: "generate_from_keys",
    params: { address: bob.address, viewkey: bob.view_key, password: "p" },
  },
};

/** All a service can say about the keys of the wallet it has open; the error's code where it refuses. */
async function keysOf(url: string): Promise<ExactObject> {
  const key = async (key_type: string) => {
    const answer = await call(url, "query_key", { key_type }).catch((error) => {
      if (error instanceof CallFailed) return { refused: error.code };
      throw error;
    });
    return answer;
  };
  return {
    address: await call(url, "get_address", { account_index: 0 }),
    mnemonic: await key("mnemonic"),
    view: await key("view_key"),
    spend: await key("spend_key"),
  };
}

async function makeAndClose({ url }: RunningWallet, filename: string): Promise<ExactObject> {
  const { method, params } = makings[filename]!;
  await call(url, method, { filename, ...params });
  const keys = await keysOf(url);
  await call(url, "close_wallet", {});
  return keys;
}

const namesOfSides = { ours: "our", real: "the real" } as const satisfies Record<Side, string>;

for (const maker of ["ours", "real"] as const satisfies Side[]) {
  const opener = otherSide[maker];
  test(
    `keys files of ${namesOfSides[maker]} program open in ${namesOfSides[opener]} one`,
    needsRealPrograms,
    async (t) => {
      await onStage(async (stage) => {
        const from = await stage.service(maker);
        const to = await stage.service(opener);
        for (const [filename, { params }] of Object.entries(makings)) {
          const made = await makeAndClose(from, filename);
          copyFileSync(join(from.walletDir, `${filename}.keys`), join(to.walletDir, `${filename}.keys`));
          await call(to.url, "open_wallet", { filename, password: params.password! });
          assert.deepEqual(await keysOf(to.url), made, filename);
          await call(to.url, "close_wallet", {});
        }
        const wrong = call(to.url, "open_wallet", { filename: "english", password: "not it" });
        await assert.rejects(wrong, CallFailed);
        t.diagnostic(`${Object.keys(makings).length} files: ${Object.keys(makings).join(", ")}`);
      });
    },
  );
}

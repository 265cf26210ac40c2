import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import { readWalletJson } from "../src/keys/wallet-json.ts";
import { recorded } from "./recorded-node.ts";

const { mnemonic: seed, address } = Object.values(recorded.wallets)[0]!;
const read = (fields: object) =>
  readWalletJson(JSON.stringify({ version: 1, filename: "w", ...fields }), "regtest");
const whole = read({ seed }).newWallet.keys;
const spendkey = toHex(whole.spendSecret!);
const viewkey = toHex(whole.viewSecret);

test("a wallet is described by its seed, its spend key, both keys, or its view key and address", () => {
  for (const fields of [{ seed }, { spendkey }, { spendkey, viewkey }, { spendkey, viewkey, address }]) {
    assert.deepEqual(read(fields).newWallet.keys, whole);
  }
  assert.deepEqual(read({ viewkey, address }).newWallet.keys, { ...whole, spendSecret: undefined });
  assert.notDeepEqual(read({ seed, seed_passphrase: "salt" }).newWallet.keys, whole);
  const { file, newWallet } = read({ seed, password: "p", scan_from_height: 7, create_address_file: 1 });
  const { password, refreshFromHeight, seedLanguage, addressFile } = newWallet;
  assert.deepEqual(
    { file, password, refreshFromHeight, seedLanguage, addressFile },
    { file: "w", password: "p", refreshFromHeight: 7, seedLanguage: "English", addressFile: true },
  );
});

test("a description that is wrong is refused, without a word of what stands in it", () => {
  const other = `${"11".repeat(31)}01`;
  const long = seed.split(" ").slice(0, 24).join(" ");
  for (const [fields, message] of [
    [{ version: 2, seed }, "Version 2 too new, we can only grok up to 1"],
    [{ version: "1", seed }, "Field version found in JSON, but not Uint"],
    [{ filename: undefined, seed }, "Field filename not found in JSON"],
    [{ seed: 5 }, "Field seed found in JSON, but not String"],
    [{}, /^At least one of either/],
    [{ seed, viewkey }, "Both Electrum-style word list and private key(s) specified"],
    [{ seed: "nothing of the kind" }, "Electrum-style word list failed verification"],
    [{ seed: long }, "Cannot generate deprecated wallets from JSON"],
    [{ viewkey: "00".repeat(32) }, "view secret key may not be all zeroes"],
    [{ spendkey: "ff".repeat(32) }, "failed to verify spend key secret key"],
    [{ spendkey: "secret" }, "failed to parse spend key secret key"],
    [{ viewkey }, "Address must be specified in order to create watch-only wallet"],
    [{ viewkey, address: "nonsense" }, "invalid address"],
    [{ viewkey: other, address }, "view key does not match standard address"],
    [{ spendkey: other, address }, "spend key does not match standard address"],
  ] as const) {
    assert.throws(() => read(fields), { name: "WalletRefusal", message });
  }
  assert.throws(() => readWalletJson(`{"seed": "${seed}`, "regtest"), { message: "Failed to parse JSON" });
});

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { chacha20 } from "@anulo/crypto";
import { decode, encode, toHex } from "@anulo/protocol";
import { encryptedFile } from "../src/file/encrypted-file.ts";
import {
  newSettings,
  readBackgroundKeysFile,
  readKeysFile,
  sealUnder,
  WrongPassword,
  writeKeysFile,
} from "../src/file/keys-file.ts";
import { createKeys, isDeterministic } from "../src/keys/wallet-keys.ts";
import { createRuntime } from "../src/runtime.ts";

const runtime = createRuntime();

const original = readFileSync(new URL("../../test/fixtures/alice.keys", import.meta.url));

test("reads the file the original program wrote", async () => {
  const { keys, settings } = await readKeysFile(original, { ...runtime, password: "" });
  assert.equal(toHex(keys.spendSecret!), "c4e86001680ee6c34cdb78a83a86b9980b16424b768256129fcf8d4460838f0f");
  assert.equal(toHex(keys.viewSecret), "665306676a76046e858f188d06a4e4df6f8966b05a65246f5e0469a42ec9a801");
  assert.ok(isDeterministic(keys));
  assert.equal(settings.get("seed_language"), "English");
  assert.equal(settings.get("ignore_outputs_above"), 0xffff_ffff_ffff_ffffn);
});

/** Settings that today's wallet writes and 0.18.0.0, which made the file, did not know. */
const later = ["skip_to_height", "background_sync_type"];

test("new wallets get the settings, and their order, that the original writes", async () => {
  const { settings } = await readKeysFile(original, { ...runtime, password: "" });
  const ours = newSettings({ network: "regtest", seedLanguage: "English", refreshHeight: 1 });
  assert.deepEqual(
    [...ours].filter(([name]) => !later.includes(name)),
    [...settings],
  );
  for (const name of later) assert.equal(ours.get(name), 0);
});

test("a network has the number that the original gives it, and a private chain that of the main one", () => {
  for (const [network, number] of [
    ["mainnet", 0],
    ["testnet", 1],
    ["stagenet", 2],
    ["regtest", 0],
  ] as const) {
    const settings = newSettings({ network, seedLanguage: "English", refreshHeight: 1 });
    assert.equal(settings.get("nettype"), number);
  }
});

test("writes what it reads, under any password", async () => {
  const { cacheKey: _, ...file } = await readKeysFile(original, { ...runtime, password: "" });
  for (const password of ["", "p", "päss wörd €"]) {
    const image = await writeKeysFile(file, { ...runtime, password });
    const { cacheKey: __, ...again } = await readKeysFile(image, { ...runtime, password });
    assert.deepEqual(again, file);
    await assert.rejects(readKeysFile(image, { ...runtime, password: `${password}x` }), WrongPassword);
  }
});

test("a view-only wallet keeps no spend secret", async () => {
  const keys = { ...createKeys(), spendSecret: undefined };
  const settings = newSettings({ network: "mainnet", seedLanguage: "", refreshHeight: 0 });
  const image = await writeKeysFile({ keys, createdAt: 1n, settings }, { ...runtime, password: "p" });
  const read = await readKeysFile(image, { ...runtime, password: "p" });
  assert.equal(read.keys.spendSecret, undefined);
  assert.equal(read.settings.get("watch_only"), 1);
  assert.deepEqual(read.keys.viewSecret, keys.viewSecret);
});

test("a background wallet has no spend secret either, but is no view-only wallet", async () => {
  const keys = { ...createKeys(), spendSecret: undefined };
  const settings = newSettings({ network: "mainnet", seedLanguage: "", refreshHeight: 0 });
  const key = new Uint8Array(32).fill(7);
  for (const isBackground of [true, false]) {
    const image = await sealUnder(key, { keys, createdAt: 1n, settings, isBackground }, runtime);
    // A vector of 8 bytes, and the rest with its length before it.
    const text = chacha20(image.subarray(10), key, image.subarray(0, 8));
    assert.match(Buffer.from(text).toString("latin1"), isBackground ? /"watch_only":0/ : /"watch_only":1/);
  }
});

test("a file of the first years, without a vector for the secrets, is read with one of zeros", async () => {
  const keys = createKeys();
  const settings = newSettings({ network: "mainnet", seedLanguage: "", refreshHeight: 0 });
  const key = new Uint8Array(32).fill(7);
  const sealing = { ...runtime, random: (size: number) => new Uint8Array(size) };
  const image = await sealUnder(key, { keys, createdAt: 1n, settings, isBackground: true }, sealing);
  const { iv, encrypted } = decode(encryptedFile, image);
  const text = Buffer.from(chacha20(encrypted, key, iv)).toString("latin1");
  // The name of the field, its type, its size and its 8 bytes; and one field less in the record.
  const field = `\x0fm_encryption_iv\x0a\x20${"\0".repeat(8)}`;
  const former = text.replace(/"key_data":("(?:[^"\\]|\\.)*")/, (_, value: string) => {
    const data: string = JSON.parse(value);
    assert.ok(data.includes(field));
    const record = data.replace(field, "").replace("\x06m_keys\x0c\x10", "\x06m_keys\x0c\x0c");
    return `"key_data":${JSON.stringify(record)}`;
  });
  const sealed = encode(encryptedFile, { iv, encrypted: chacha20(Buffer.from(former, "latin1"), key, iv) });
  const read = await readBackgroundKeysFile(sealed, key, runtime.threads);
  assert.deepEqual(read.keys.viewSecret, keys.viewSecret);
});

test("no change of a byte opens, whatever it hits", async () => {
  for (const at of [0, 7, 8, 9, 10, 11, 40, 200, 400, original.length - 1]) {
    const changed = Uint8Array.from(original);
    changed[at]! ^= 0x55;
    // A change beyond the keys can leave them readable; it must still never crash.
    await readKeysFile(changed, { ...runtime, password: "" }).catch((error) =>
      assert.ok(error instanceof WrongPassword, String(error)),
    );
  }
  await assert.rejects(readKeysFile(new Uint8Array(0), { ...runtime, password: "" }), WrongPassword);
});

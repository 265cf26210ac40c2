import assert from "node:assert/strict";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { call, loadGoldenState, type Maker } from "@anulo/testkit";
import { interop, ours, real, wallet } from "./programs.ts";

const { a: alice } = loadGoldenState().wallets;
const password = "a password, ü";

/** One maker's program writes a keys file, the other's opens it and knows the same wallet. */
async function handOver(from: Maker, to: Maker): Promise<void> {
  const writer = await wallet(from);
  await call(writer.url, "restore_deterministic_wallet", {
    filename: "handed-over",
    password,
    seed: alice.mnemonic,
    language: "English",
  });
  await call(writer.url, "close_wallet");
  const reader = await wallet(to);
  copyFileSync(join(writer.walletDir, "handed-over.keys"), join(reader.walletDir, "handed-over.keys"));
  await assert.rejects(call(reader.url, "open_wallet", { filename: "handed-over", password: "wrong" }), {
    code: -1,
  });
  await call(reader.url, "open_wallet", { filename: "handed-over", password });
  assert.equal((await call(reader.url, "get_address")).address, alice.address);
  const key = async (key_type: string) => (await call(reader.url, "query_key", { key_type })).key;
  assert.equal(await key("mnemonic"), alice.mnemonic);
  assert.equal(await key("view_key"), alice.view_key);
  assert.equal(await key("spend_key"), alice.spend_key);
}

interop("monero-wallet-rpc opens a keys file written by our wallet", () => handOver(ours, real));

interop("our wallet opens a keys file written by monero-wallet-rpc", () => handOver(real, ours));

interop("a view-only keys file opens in both programs", async () => {
  for (const [from, to] of [
    [ours, real],
    [real, ours],
  ] as const) {
    const writer = await wallet(from);
    await call(writer.url, "generate_from_keys", {
      filename: "watch",
      password,
      address: alice.address,
      viewkey: alice.view_key,
    });
    await call(writer.url, "close_wallet");
    const reader = await wallet(to);
    copyFileSync(join(writer.walletDir, "watch.keys"), join(reader.walletDir, "watch.keys"));
    await call(reader.url, "open_wallet", { filename: "watch", password });
    assert.equal((await call(reader.url, "get_address")).address, alice.address);
    await assert.rejects(call(reader.url, "query_key", { key_type: "mnemonic" }));
  }
});

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { decode, decodeMnemonic, encode, equalBytes, fromHex, toHex } from "@anulo/protocol";
import { applyChange } from "../src/apply-change.ts";
import { exportedOutputs, exportOutputs, importOutput } from "../src/cold-signing/exported-outputs.ts";
import { checkKeyImage, signKeyImage } from "../src/cold-signing/key-images.ts";
import { magicOf, seal, unseal } from "../src/cold-signing/sealed.ts";
import { keysOfSeed } from "../src/keys/wallet-keys.ts";
import { createLedger } from "../src/ledger.ts";
import { WalletRefusal } from "../src/refusal.ts";
import type { OwnedOutput } from "../src/state.ts";
import { recorded, recordedSteps } from "./recorded-node.ts";

const magic = magicOf("Monero output export", 4);
const keysOf = (name: string) => ({ ...keysOfSeed(decodeMnemonic(recorded.wallets[name]!.mnemonic).key) });

function answerOf(id: string): { outputs_data_hex: string } {
  const { json } = recordedSteps("wallet_read").find((step) => step.id === id)!.answer;
  return (json as { result: { outputs_data_hex: string } }).result;
}

async function recordedOutputs() {
  const sealed = fromHex(answerOf("export_outputs:all").outputs_data_hex);
  const plain = (await unseal(magic, sealed, { ...keysOf("b"), kdfRounds: undefined }))!;
  return { plain, exported: decode(exportedOutputs, plain.subarray(64)) };
}

/** The wallet's primary address receives some outputs; which addresses there are is none of this test's business. */
const finder = {
  keys: keysOf("b"),
  indexOfSpendKey: (spendPublic: Uint8Array) =>
    equalBytes(spendPublic, keysOf("b").spendPublic) ? { major: 0, minor: 0 } : undefined,
};

async function ownOutputs(): Promise<OwnedOutput[]> {
  const { exported } = await recordedOutputs();
  return exported.outputs.flatMap((each) => {
    try {
      return [importOutput(each, finder)];
    } catch (error) {
      if (error instanceof WalletRefusal) return [];
      throw error;
    }
  });
}

test("outputs the original exported are read and written byte for byte, and are ours", async () => {
  const { plain, exported } = await recordedOutputs();
  assert.equal(exported.outputs.length, 22);
  assert.deepEqual(encode(exportedOutputs, exported), plain.subarray(64));
  const owned = await ownOutputs();
  assert.ok(owned.length >= 5);
  const again = exportOutputs(owned, { offset: 0, requestedFrom: owned.length });
  for (const [i, each] of again.outputs.entries())
    assert.deepEqual(importOutput(each, finder).keyImage, owned[i]!.keyImage);
});

test("an output in a place no chain has is not imported: nothing that lists outputs could tell it", async () => {
  const [output] = exportOutputs(await ownOutputs(), { offset: 0, requestedFrom: 0 }).outputs;
  const importAt = (globalIndex: bigint) => importOutput({ ...output!, globalIndex }, finder).globalIndex;
  assert.equal(importAt(2n ** 53n - 1n), 2n ** 53n - 1n);
  assert.throws(() => importAt(2n ** 53n), /impossible index/);
});

test("what is sealed opens with the same view key only, and not once a byte has changed", async () => {
  const keys = { ...keysOf("a"), kdfRounds: 1 };
  const sealed = await seal(magic, Uint8Array.of(1, 2, 3), { keys, random: randomBytes });
  assert.deepEqual(await unseal(magic, sealed, keys), Uint8Array.of(1, 2, 3));
  assert.equal(await unseal(magic, sealed, { ...keysOf("b"), kdfRounds: 1 }), undefined);
  for (let at = 0; at < sealed.length; at++) {
    const changed = sealed.slice();
    changed[at]! ^= 1;
    assert.equal(await unseal(magic, changed, keys), undefined, `byte ${at}`);
  }
  for (const length of [0, 20, magic.length + 71, sealed.length - 1])
    assert.equal(await unseal(magic, sealed.subarray(0, length), keys), undefined);
});

test("a signed key image is taken for its output alone", async () => {
  const keys = keysOf("b");
  const [output, other] = (await ownOutputs()).map((each) => ({ ...each, keyImage: undefined }));
  const signed = signKeyImage(output!, { keys });
  checkKeyImage(signed, output!, "0/1");
  const refused = (image: typeof signed, of = output!) =>
    assert.throws(() => checkKeyImage(image, of, "0/1"), WalletRefusal);
  refused(signed, other);
  refused({ ...signed, keyImage: signKeyImage(other!, { keys }).keyImage });
  refused({ ...signed, keyImage: new Uint8Array(32) });
  for (const at of [0, 31, 32, 63]) {
    const signature = signed.signature.slice();
    signature[at]! ^= 1;
    refused({ ...signed, signature });
  }
});

test("key images told to a view-only wallet spend what they say, and come back after a rescan", async () => {
  const outputs = (await ownOutputs()).slice(0, 3);
  const ledger = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
  const images = outputs.map(({ keyImage }) => keyImage!);
  for (const output of outputs)
    ledger.state.outputs.push({ ...output, height: 5, spentHeight: undefined, keyImage: undefined });
  const spent = ["unspent", "chain", "pool"] as const;
  applyChange(ledger, { kind: "keyImages", offset: 0, keyImages: images, spent, transactions: [] });
  const { state, byKeyImage } = ledger;
  assert.deepEqual(
    state.outputs.map(({ spentHeight, pendingSpend }) => [spentHeight, pendingSpend]),
    [
      [undefined, undefined],
      [0, undefined],
      [undefined, ""],
    ],
  );
  assert.equal(state.requestedFrom, 3);
  assert.equal(byKeyImage.get(toHex(images[1]!)), state.outputs[1]);
  applyChange(ledger, { kind: "spent", status: [[toHex(images[2]!), "unspent"]] });
  assert.equal(state.outputs[2]!.pendingSpend, undefined);
  applyChange(ledger, { kind: "reset", hard: true });
  assert.equal(state.outputs.length, 0);
  assert.equal(state.requestedFrom, 0);
  assert.deepEqual(state.coldKeyImages.get(toHex(outputs[0]!.oneTimeKey)), images[0]);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { concatBytes, decode, decodeMnemonic, encode, equalBytes, fromHex, toHex } from "@anulo/protocol";
import { importSealedOutputs } from "../src/actions/cold-exchange.ts";
import {
  type ExportedPart,
  exportedOutputs,
  importOutput,
  piecesOfExport,
} from "../src/cold-signing/exported-outputs.ts";
import { checkKeyImage, signKeyImage } from "../src/cold-signing/key-images.ts";
import { magicOf, seal, unseal, unsealFailure } from "../src/cold-signing/sealed.ts";
import { keysOfSeed } from "../src/keys/wallet-keys.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { OutputBook } from "../src/outputs/output-book.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { createRuntime } from "../src/runtime.ts";
import type { SpendKeys } from "../src/state.ts";
import type { Wallet } from "../src/wallet.ts";
import { recorded, recordedSteps, recordedWallets } from "./recorded-node.ts";

const runtime = createRuntime();

const magic = magicOf("Monero output export", 4);
const keysOf = (name: string) => ({ ...keysOfSeed(decodeMnemonic(recorded.wallets[name]!.mnemonic).key) });

function answerOf(id: string, release?: "0.18.5"): { outputs_data_hex: string } {
  const { json } = recordedSteps("wallet_read", release).find((step) => step.id === id)!.answer;
  return (json as { result: { outputs_data_hex: string } }).result;
}

async function recordedOutputs(keys: SpendKeys = keysOf("b"), release?: "0.18.5") {
  const sealed = fromHex(answerOf("export_outputs:all", release).outputs_data_hex);
  const plain = (await unseal(magic, sealed, { keys, runtime }))!;
  return { plain: plain.subarray(64), exported: decode(exportedOutputs, plain.subarray(64)) };
}

const exportBytes = (outputs: OutputBook, part: ExportedPart) =>
  concatBytes(...piecesOfExport(outputs, part));
const exportOutputs = (outputs: OutputBook, part: ExportedPart) =>
  decode(exportedOutputs, exportBytes(outputs, part));

/** The wallet's primary address receives some outputs; which addresses there are is none of this test's business. */
const finderOf = (keys: SpendKeys) => ({
  keys,
  indexOfSpendKey: (spendPublic: Uint8Array) =>
    equalBytes(spendPublic, keys.spendPublic) ? { major: 0, minor: 0 } : undefined,
});
const finder = finderOf(keysOf("b"));

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

test("outputs that today's program exported are read and written byte for byte, and are ours", async () => {
  const { mnemonic } = recordedWallets("0.18.5").b!;
  const keys = keysOfSeed(decodeMnemonic(mnemonic).key);
  const { plain, exported } = await recordedOutputs(keys, "0.18.5");
  assert.deepEqual([exported.offset, exported.total, exported.outputs.length], [0, 22, 22]);
  assert.deepEqual(encode(exportedOutputs, exported), plain);
  const [first] = exported.outputs.filter(({ account, address }) => account === 0 && address === 0);
  const imported = importOutput(first!, finderOf(keys));
  assert.deepEqual(imported.oneTimeKey, first!.oneTimeKey);
  // Of what is not told it knows nothing.
  const { height, timestamp, unlockTime, txSize, coinbase, txHash } = imported;
  assert.deepEqual([height, timestamp, unlockTime, txSize, coinbase], [0, 0, 0n, 0, false]);
  assert.deepEqual(txHash, new Uint8Array(32));
});

test("outputs that 0.18.0 exported are read, and are ours", async () => {
  const { exported } = await recordedOutputs();
  assert.deepEqual([exported.offset, exported.total, exported.outputs.length], [0, 22, 22]);
  const owned = await ownOutputs();
  assert.ok(owned.length >= 5);
  const again = exportOutputs(OutputBook.of(owned), {
    offset: 0,
    count: Infinity,
    requestedFrom: owned.length,
  });
  const part = { offset: 0, count: Infinity, requestedFrom: owned.length };
  assert.deepEqual(encode(exportedOutputs, again), exportBytes(OutputBook.of(owned), part));
  for (const [i, each] of again.outputs.entries())
    assert.deepEqual(importOutput(each, finder).keyImage, owned[i]!.keyImage);
});

test("a part of the outputs says where it begins and how many there are", async () => {
  const owned = await ownOutputs();
  const part = (offset: number, count: number) => {
    const { total, outputs, ...rest } = exportOutputs(OutputBook.of(owned), {
      offset,
      count,
      requestedFrom: 2,
    });
    return { ...rest, total, keys: outputs.map(({ oneTimeKey }) => oneTimeKey) };
  };
  const keys = owned.map(({ oneTimeKey }) => oneTimeKey);
  const total = owned.length;
  assert.deepEqual(part(1, 2), { offset: 1, total, keys: keys.slice(1, 3) });
  assert.deepEqual(part(total - 1, 9), { offset: total - 1, total, keys: keys.slice(-1) });
  assert.deepEqual(part(total + 5, 9), { offset: total + 5, total, keys: [] });
});

test("parts come one after the other, and what goes beyond the total is forgotten", async () => {
  const ledger = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
  const { state } = ledger;
  const owned = await ownOutputs();
  const told = (offset: number, count: number, total?: number) => {
    const outputs = owned.slice(offset, offset + count);
    applyChange(ledger, { kind: "importedOutputs", offset, outputs, ...(total !== undefined && { total }) });
    return [state.outputs.count, state.requestedFrom];
  };
  assert.deepEqual(told(0, 2, 5), [2, 0]);
  assert.deepEqual(told(2, 3, 5), [5, 0], "the key images of both parts are wanted");
  assert.deepEqual(told(1, 2, 5), [5, 0], "others stay");
  assert.deepEqual(told(0, 3, 4), [4, 0]);
  assert.deepEqual(told(0, 3), [3, 0], "a journal of before, whose parts were the last");
  assert.deepEqual(
    owned.slice(0, 4).map(({ oneTimeKey }) => state.outputs.placeOfKey(oneTimeKey)),
    [0, 1, 2, undefined],
  );
});

test("an output in a place no chain has is not imported: nothing that lists outputs could tell it", async () => {
  const [output] = exportOutputs(OutputBook.of(await ownOutputs()), {
    offset: 0,
    count: 1,
    requestedFrom: 0,
  }).outputs;
  const importAt = (globalIndex: bigint) => importOutput({ ...output!, globalIndex }, finder).globalIndex;
  assert.equal(importAt(2n ** 53n - 1n), 2n ** 53n - 1n);
  assert.throws(() => importAt(2n ** 53n), /impossible index/);
});

test("what is sealed opens with the same view key only, and not once a byte has changed", async () => {
  const sealer = { keys: keysOf("a"), runtime };
  const sealed = await seal(magic, Uint8Array.of(1, 2, 3), sealer);
  assert.deepEqual(await unseal(magic, sealed, sealer), Uint8Array.of(1, 2, 3));
  assert.equal(await unseal(magic, sealed, { keys: keysOf("b"), runtime }), undefined);
  for (let at = 0; at < sealed.length; at++) {
    const changed = sealed.slice();
    changed[at]! ^= 1;
    assert.equal(await unseal(magic, changed, sealer), undefined, `byte ${at}`);
  }
  for (const length of [0, 20, magic.length + 71, sealed.length - 1])
    assert.equal(await unseal(magic, sealed.subarray(0, length), sealer), undefined);
  assert.match(unsealFailure(magic, sealed.subarray(0, magic.length + 71)), /size/);
  assert.match(unsealFailure(magic, sealed.subarray(0, magic.length + 72)), /authenticate/);
});

test("outputs that can't be decrypted are refused for their length, or for not being this wallet's", async () => {
  const wallet = { keys: keysOf("a"), runtime } as unknown as Wallet;
  const sealed = await seal(magic, new Uint8Array(64), { keys: keysOf("b"), runtime });
  const start = "Failed to decrypt outputs: ";
  for (const [bytes, reason] of [
    [sealed.subarray(0, magic.length + 71), "Unexpected ciphertext size"],
    [sealed, "Failed to authenticate ciphertext"],
  ] as const)
    await assert.rejects(importSealedOutputs(wallet, bytes), { message: start + reason });
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
  const { state } = ledger;
  assert.deepEqual(
    [...state.outputs].map(({ spentHeight, pendingSpend }) => [spentHeight, pendingSpend]),
    [
      [undefined, undefined],
      [0, undefined],
      [undefined, ""],
    ],
  );
  assert.equal(state.requestedFrom, 3);
  assert.equal(state.outputs.placeOfImage(images[1]!), 1);
  applyChange(ledger, { kind: "spent", status: [[toHex(images[2]!), "unspent"]] });
  assert.equal(state.outputs.at(2)!.pendingSpend, undefined);
  applyChange(ledger, { kind: "reset", hard: true });
  assert.equal(state.outputs.count, 0);
  assert.equal(state.requestedFrom, 0);
  assert.deepEqual(state.coldKeyImages.get(toHex(outputs[0]!.oneTimeKey)), images[0]);
});

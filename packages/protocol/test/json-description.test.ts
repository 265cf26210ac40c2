import assert from "node:assert/strict";
import { test } from "node:test";
import {
  describeBlock,
  describeTransaction,
  fromHex,
  readBlock,
  readTransaction,
  toHex,
} from "../src/index.ts";
import { eraVectors, recordedChain } from "./fixtures.ts";

test("transactions are described as the real program described them, to the last space", () => {
  assert.ok(recordedChain.describedTransactions.length > 0);
  for (const { hex, json, pruned } of recordedChain.describedTransactions) {
    assert.equal(describeTransaction(readTransaction(fromHex(hex), { pruned: pruned ?? false })), json);
  }
});

test("blocks are described as the real program described them", () => {
  assert.ok(recordedChain.describedBlocks.length > 1);
  for (const { hex, json } of recordedChain.describedBlocks)
    assert.equal(describeBlock(readBlock(fromHex(hex))), json);
});

/** What the JSON text says about the proofs, by RingCT type. */
const proofsOfType: Record<number, { proof: string; signature: string }> = {
  1: { proof: "rangeSigs", signature: "MGs" },
  2: { proof: "rangeSigs", signature: "MGs" },
  3: { proof: "bp", signature: "MGs" },
  4: { proof: "bp", signature: "MGs" },
  5: { proof: "bp", signature: "CLSAGs" },
  6: { proof: "bpp", signature: "CLSAGs" },
};

test("transactions of every era are described in JSON that holds all their bytes", (t) => {
  const vectors = eraVectors()?.filter(({ kind }) => kind === "tx");
  if (vectors === undefined) return t.skip("no shared/vectors beside the project");
  for (const { hex, expect } of vectors) {
    const tx = readTransaction(fromHex(hex));
    const text = describeTransaction(tx);
    const parsed = JSON.parse(text.replace(/\[ ]/g, "[]"));
    assert.equal(parsed.vin.length, expect.inputs);
    assert.equal(parsed.vout.length, expect.outputs);
    assert.equal(toHex(Uint8Array.from(parsed.extra)), toHex(tx.prefix.extra));
    const names = proofsOfType[expect.rct_type as number];
    if (names === undefined) continue;
    assert.equal(parsed.rct_signatures.txnFee, expect.fee);
    assert.ok(parsed.rctsig_prunable[names.proof].length > 0);
    assert.ok(parsed.rctsig_prunable[names.signature].length > 0);
    const strings = [...text.matchAll(/"([0-9a-f]{64,})"/g)].map(([, found]) => found!);
    for (const found of strings) for (const key of found.match(/.{64}/g)!) assert.ok(hex.includes(key));
  }
});

test("version 1 signatures of an input run together", (t) => {
  const vector = eraVectors()?.find(({ name }) => name.startsWith("v1_tx"));
  if (vector === undefined) return t.skip("no shared/vectors beside the project");
  const tx = readTransaction(fromHex(vector.hex));
  const { signatures } = JSON.parse(describeTransaction(tx));
  assert.deepEqual(
    signatures,
    tx.signatures.map((row) => row.map(toHex).join("")),
  );
});

test("a miner transaction of version 1 has no signatures to show", () => {
  assert.match(describeTransaction(readTransaction(fromHex(`013c01ff000000`))), /"signatures": \[ ]\n}$/);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ConfidentialRingCt,
  describeBlock,
  describeTransaction,
  fromHex,
  readBlock,
  readTransaction,
  type Transaction,
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

/** A transaction of a RingCT type that no recorded chain has, of bytes that tell its parts apart. */
function ofType(type: 1 | 2 | 3 | 4 | 5): Transaction {
  let next = 1;
  const element = () => new Uint8Array(32).fill(next++);
  const key = element();
  const halves = { L: [element()], R: [element()] };
  const first = { A: element(), S: element(), T1: element(), T2: element(), taux: element(), mu: element() };
  const bulletproof = { ...first, ...halves, a: element(), b: element(), t: element() };
  const long = () => new Uint8Array(64 * 32).fill(next++);
  const isOld = type < 3;
  return {
    prefix: {
      ...{ version: 2, unlockTime: 0n, extra: new Uint8Array() },
      inputs: [{ type: "key", amount: 0n, keyOffsets: [1n], keyImage: key }],
      outputs: [{ amount: 0n, target: { type: "key", key } }],
    },
    signatures: [],
    ringct: {
      ...{ type, fee: 7n, pseudoOuts: [element()], outputCommitments: [element()] },
      ecdhInfo: [
        type < 4 ? { mask: element(), amount: element() } : { amount: new Uint8Array(8).fill(next++) },
      ],
      prunable: {
        rangeSigs: isOld ? [{ s0: long(), s1: long(), ee: element(), Ci: long() }] : [],
        bulletproofs: isOld ? [] : [bulletproof],
        bulletproofsPlus: [],
        mgs: type < 5 ? [{ ss: [[element(), element()]], cc: element() }] : [],
        clsags: type < 5 ? [] : [{ s: [element()], c1: element(), D: element() }],
      },
    },
  } as unknown as Transaction;
}

test("each type of RingCT shows its own proofs, by the names of the original", () => {
  const proofOf = (type: 1 | 2 | 3 | 4 | 5) => {
    const { rct_signatures: base, rctsig_prunable: prunable } = JSON.parse(describeTransaction(ofType(type)));
    const { ["nbp"]: count, pseudoOuts: late, ...proofs } = prunable;
    const names = Object.entries(proofs as Record<string, object[]>).map(
      ([name, [first]]) => `${name}: ${Object.keys(first!).join(" ")}`,
    );
    const amounts = Object.keys(base.ecdhInfo[0]).join(" ");
    return [...names, amounts, base.pseudoOuts && "early", late && "late", count].filter(
      (it) => it !== undefined,
    );
  };
  const old = ["rangeSigs: asig Ci", "MGs: ss cc", "mask amount"];
  const proofs = "bp: A S T1 T2 taux mu L R a b t";
  // Source: serialization of rctTypes.h `rctSigBase`, `rctSigPrunable`.
  assert.deepEqual(proofOf(1), old);
  assert.deepEqual(proofOf(2), [...old, "early"]);
  assert.deepEqual(proofOf(3), [proofs, "MGs: ss cc", "mask amount", "late", 1]);
  assert.deepEqual(proofOf(4), [proofs, "MGs: ss cc", "amount", "late", 1]);
  assert.deepEqual(proofOf(5), [proofs, "CLSAGs: s c1 D", "amount", "late", 1]);
});

test("what a transaction proves is in its description, byte for byte", () => {
  for (const type of [1, 2, 3, 4, 5] as const) {
    const text = describeTransaction(ofType(type));
    const { rangeSigs, bulletproofs, mgs, clsags } = (ofType(type).ringct as ConfidentialRingCt).prunable!;
    const parts = [...rangeSigs, ...bulletproofs, ...mgs, ...clsags].flatMap((proof) => Object.values(proof));
    const bytes = parts.flat(2).filter((part) => part instanceof Uint8Array);
    assert.ok(bytes.length > 3);
    for (const part of bytes) assert.ok(text.includes(toHex(part)), `type ${type}`);
  }
});

/** Which proofs are known to hold: those of exactly the claim that was checked. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Obligation } from "@anulo/consensus";
import { proofsCost } from "../src/chain/proof-costs.ts";
import { createProofs } from "../src/chain/proofs.ts";

const bytes = (fill: number, length = 32) => new Uint8Array(length).fill(fill);
const member = (key: number, commitment: number) => ({ key: bytes(key), commitment: bytes(commitment) });
const transactionId = bytes(1);

/** Each kind, with other claims of the kind that a check of the first says nothing of. */
const claims: Record<string, readonly object[]> = {
  powHash: [
    { blob: bytes(1), height: 5, majorVersion: 12, seedId: bytes(2), difficulty: 3n },
    { blob: bytes(9), height: 5, majorVersion: 12, seedId: bytes(2), difficulty: 3n },
    { blob: bytes(1), height: 6, majorVersion: 12, seedId: bytes(2), difficulty: 3n },
    { blob: bytes(1), height: 5, majorVersion: 13, seedId: bytes(2), difficulty: 3n },
    { blob: bytes(1), height: 5, majorVersion: 12, seedId: bytes(3), difficulty: 3n },
    { blob: bytes(1), height: 5, majorVersion: 12, seedId: undefined, difficulty: 3n },
    { blob: bytes(1), height: 5, majorVersion: 12, seedId: bytes(2), difficulty: 4n },
  ],
  clsag: [
    { transactionId, input: 0, keys: bytes(2, 64), commitments: bytes(3, 64) },
    { transactionId: bytes(9), input: 0, keys: bytes(2, 64), commitments: bytes(3, 64) },
    { transactionId, input: 1, keys: bytes(2, 64), commitments: bytes(3, 64) },
    { transactionId, input: 0, keys: bytes(9, 64), commitments: bytes(3, 64) },
    { transactionId, input: 0, keys: bytes(2, 64), commitments: bytes(9, 64) },
  ],
  mlsag: [
    { transactionId, input: 0, ring: [member(2, 3), member(4, 5)] },
    { transactionId: bytes(9), input: 0, ring: [member(2, 3), member(4, 5)] },
    { transactionId, input: 1, ring: [member(2, 3), member(4, 5)] },
    { transactionId, input: 0, ring: [member(9, 3), member(4, 5)] },
    { transactionId, input: 0, ring: [member(2, 9), member(4, 5)] },
    { transactionId, input: 0, ring: [member(4, 5), member(2, 3)] },
  ],
  fullMlsag: [
    { transactionId, rings: [[member(2, 3)], [member(4, 5)]] },
    { transactionId: bytes(9), rings: [[member(2, 3)], [member(4, 5)]] },
    { transactionId, rings: [[member(2, 3)], [member(4, 9)]] },
    { transactionId, rings: [[member(2, 3)], [member(9, 5)]] },
  ],
  ringSignature: [
    { transactionId, input: 0, keys: [bytes(2), bytes(3)] },
    { transactionId: bytes(9), input: 0, keys: [bytes(2), bytes(3)] },
    { transactionId, input: 1, keys: [bytes(2), bytes(3)] },
    { transactionId, input: 0, keys: [bytes(2), bytes(9)] },
  ],
  borromean: [
    { transactionId, output: 0 },
    { transactionId: bytes(9), output: 0 },
    { transactionId, output: 1 },
  ],
  rangeProof: [{ transactionId }, { transactionId: bytes(9) }],
  balance: [{ transactionId }, { transactionId: bytes(9) }],
  keyImages: [{ transactionId }, { transactionId: bytes(9) }],
};

const obligation = (kind: string, claim: object) => ({ kind, ...claim }) as unknown as Obligation;

const nothing = async () => undefined;

describe("what was checked", () => {
  for (const [kind, [first, ...others]] of Object.entries(claims)) {
    test(`${kind}: is known again, and no other claim with it`, () => {
      const proofs = createProofs(nothing);
      const asked = others.map((claim) => obligation(kind, claim));
      proofs.markProven([obligation(kind, first!)]);
      assert.deepEqual(proofs.unproven([obligation(kind, structuredClone(first!))]), []);
      assert.deepEqual(proofs.unproven(asked), asked);
    });
  }

  test("of one kind says nothing of another", () => {
    const proofs = createProofs(nothing);
    proofs.markProven([obligation("rangeProof", { transactionId })]);
    for (const kind of ["balance", "keyImages", "bulletproof"])
      assert.equal(proofs.unproven([obligation(kind, { transactionId })]).length, 1, kind);
  });
});

const numbered = (number: number) => obligation("balance", { transactionId: bytes(number) });

test("an attempt is repeated until all it requires is proven, and asks for each proof once", async () => {
  const asked: (readonly Obligation[])[] = [];
  const charged: number[] = [];
  const attempts: number[] = [];
  const proofs = createProofs(async (obligations) => void asked.push(obligations));
  const attempt = () => {
    attempts.push(asked.length);
    proofs.requireProven([numbered(1), numbered(2)]);
    proofs.requireProven([numbered(2), numbered(3)]);
    return "done";
  };
  const inTurns = proofs.chargedTo((ms) => charged.push(ms));
  assert.equal(await inTurns.runProvenInTurns(async () => attempt()), "done");
  assert.deepEqual(attempts, [0, 1, 2]);
  assert.deepEqual(asked, [[numbered(1), numbered(2)], [numbered(3)]]);
  assert.deepEqual(charged, [proofsCost(asked[0]!), proofsCost(asked[1]!)]);
  assert.equal(await proofs.runProven(attempt), "done");
  assert.deepEqual([attempts.length, asked.length], [4, 2]);
});

test("what is proven on its own is not remembered, and neither is what does not hold", async () => {
  let isTrue = true;
  const proofs = createProofs(async () => {
    if (!isTrue) throw new Error("it does not hold");
  });
  await proofs.prove([numbered(1)]);
  isTrue = false;
  const attempt = () => proofs.requireProven([numbered(1)]);
  await assert.rejects(proofs.runProven(attempt), /it does not hold/);
  await assert.rejects(proofs.runProven(attempt), /it does not hold/);
  isTrue = true;
  await proofs.runProven(attempt);
  isTrue = false;
  await proofs.runProven(attempt);
});

test("a chain that changes in each of a thousand attempts is given up", async () => {
  let asked = 0;
  const proofs = createProofs(async () => void asked++);
  const attempt = () => proofs.requireProven([obligation("powHash", { blob: bytes(1), height: asked })]);
  await assert.rejects(proofs.runProven(attempt), /changed 1000 times/);
  assert.equal(asked, 1000);
});

test("of more proofs than have room the oldest is forgotten", () => {
  const proofs = createProofs(nothing, { capacity: 2 });
  const open = () => proofs.unproven([numbered(1), numbered(2), numbered(3)]).length;
  proofs.markProven([numbered(1), numbered(2)]);
  assert.equal(open(), 1);
  proofs.markProven([numbered(2), numbered(3)]);
  assert.deepEqual(proofs.unproven([numbered(1), numbered(2), numbered(3)]), [numbered(1)]);
});

test("attempts are made when they may write, and others go on with what fails in them", async () => {
  const proofs = createProofs(nothing, {
    whenWritable: async (attempt) => await Promise.resolve().then(attempt),
  });
  let isMade = false;
  const made = proofs.runProven(() => {
    isMade = true;
  });
  assert.ok(!isMade);
  await made;
  assert.ok(isMade);
  await assert.rejects(
    proofs.runProven(() => {
      throw new RangeError("a bug");
    }),
    /a bug/,
  );
});

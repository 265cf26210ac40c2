import assert from "node:assert/strict";
import { test } from "node:test";
import { commit, randomScalar, verifyBorromean, verifyBulletproofs } from "@anulo/crypto";
import { proveBorromean } from "./forge/borromean-prover.ts";
import { proveBulletproof } from "./forge/bulletproof-prover.ts";
import { seededRandom } from "./forge/scalars.ts";

const random = seededRandom("provers");

test("Borromean proofs of the forge hold, of other amounts they do not", () => {
  const mask = randomScalar(random);
  const amount = 12_345_678_901_234n;
  const proof = proveBorromean(amount, mask, random);
  assert.ok(verifyBorromean(commit(mask, amount), proof));
  assert.ok(!verifyBorromean(commit(mask, amount + 1n), proof));
});

test("Bulletproofs of the forge hold, of other amounts they do not", () => {
  const amounts = [5n, 2n ** 64n - 1n, 0n];
  const masks = amounts.map(() => randomScalar(random));
  const proof = proveBulletproof(amounts, masks, random);
  const commitments = amounts.map((amount, i) => commit(masks[i]!, amount));
  assert.ok(verifyBulletproofs([{ proof, commitments }]));
  assert.ok(!verifyBulletproofs([{ proof, commitments: [...commitments].reverse() }]));
});

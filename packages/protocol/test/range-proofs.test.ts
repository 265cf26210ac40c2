import assert from "node:assert/strict";
import { test } from "node:test";
import {
  scAdd,
  scFromUint64,
  verifyBorromean,
  verifyBulletproofs,
  verifyBulletproofsPlus,
} from "@anulo/crypto";
import { type ConfidentialRingCt, fromHex, readTransaction } from "../src/index.ts";
import { eraVectors } from "./fixtures.ts";

/** A transaction's RingCT part with every range proof, one check per proof. */
function rangeProofChecks(
  ringct: ConfidentialRingCt,
): { holds: () => boolean; spoiltHolds: () => boolean }[] {
  const { rangeSigs, bulletproofs, bulletproofsPlus } = ringct.prunable!;
  const commitments = ringct.outputCommitments;
  const raise = (scalar: Uint8Array) => scAdd(scalar, scFromUint64(1n));
  return [
    ...rangeSigs.map((proof, i) => ({
      holds: () => verifyBorromean(commitments[i]!, proof),
      spoiltHolds: () => verifyBorromean(commitments[i]!, { ...proof, ee: raise(proof.ee) }),
    })),
    ...bulletproofs.map((proof) => ({
      holds: () => verifyBulletproofs([{ proof, commitments }]),
      spoiltHolds: () => verifyBulletproofs([{ proof: { ...proof, t: raise(proof.t) }, commitments }]),
    })),
    ...bulletproofsPlus.map((proof) => ({
      holds: () => verifyBulletproofsPlus([{ proof, commitments }]),
      spoiltHolds: () => verifyBulletproofsPlus([{ proof: { ...proof, d1: raise(proof.d1) }, commitments }]),
    })),
  ];
}

test("range proofs of mainnet transactions of every era hold, and not with a scalar changed", (t) => {
  const vectors = eraVectors();
  if (vectors === undefined) return t.skip("no shared/vectors beside the project");
  const typesSeen = new Set<number>();
  for (const { name, kind, hex } of vectors) {
    const ringct = kind === "tx" ? readTransaction(fromHex(hex)).ringct : undefined;
    if (ringct === undefined || ringct.type === 0) continue;
    typesSeen.add(ringct.type);
    const checks = rangeProofChecks(ringct);
    assert.ok(checks.length > 0, name);
    for (const { holds, spoiltHolds } of checks) {
      assert.equal(holds(), true, name);
      assert.equal(spoiltHolds(), false, name);
    }
  }
  assert.deepEqual([...typesSeen].sort(), [1, 2, 3, 4, 5, 6]);
});

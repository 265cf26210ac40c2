import {
  checkRingSignature,
  commitmentsBalance,
  isInMainSubgroup,
  isPoint,
  verifyBulletproofsPlus,
  verifyClsag,
} from "@anulo/crypto";
import type { Obligation, RangeProofObligation } from "./obligations.ts";
import type { Violation } from "./violations.ts";

/** The obligation that failed, and what that means. */
export interface Failure {
  /** Index in the list given to `discharge`. */
  index: number;
  /** Of the transaction at fault (32 bytes); undefined where the block is. */
  transactionId: Uint8Array | undefined;
  violation: Violation;
}

/**
 * Checks proofs and names the first that fails, undefined when all hold. All range proofs share one
 * multi-exponentiation; only when that fails is the culprit looked for.
 * Heavy (about a millisecond an input): made for workers. Throws `TypeError` when given
 * proof of work: a hash takes its own process and memory, and is the caller's.
 */
export function discharge(obligations: readonly Obligation[]): Failure | undefined {
  const failed = obligations.findIndex((obligation) => checkOne(obligation) !== undefined);
  const before = failed === -1 ? obligations : obligations.slice(0, failed);
  const proofs = [...before.entries()].filter(isRangeProof);
  const culprit = firstBadProof(proofs);
  if (culprit !== undefined) return failure(culprit[0], culprit[1], { code: "RANGE_PROOF" });
  if (failed === -1) return undefined;
  const obligation = obligations[failed]!;
  return failure(failed, obligation, checkOne(obligation)!);
}

function failure(index: number, obligation: Obligation, violation: Violation): Failure {
  const transactionId = obligation.kind === "powHash" ? undefined : obligation.transactionId;
  return { index, transactionId, violation };
}

type NumberedProof = [index: number, obligation: RangeProofObligation];

function isRangeProof(entry: [number, Obligation]): entry is NumberedProof {
  return entry[1].kind === "rangeProof";
}

/** The first proof that does not hold; halves a failing batch, so n proofs cost some log₂ n batches. */
function firstBadProof(proofs: readonly NumberedProof[]): NumberedProof | undefined {
  if (proofs.length === 0 || verifyBulletproofsPlus(proofs.map(([, proof]) => proof))) return undefined;
  if (proofs.length === 1) return proofs[0];
  const middle = proofs.length >> 1;
  return firstBadProof(proofs.slice(0, middle)) ?? firstBadProof(proofs.slice(middle));
}

/** The violation an obligation other than a range proof shows; undefined when it holds. */
function checkOne(obligation: Obligation): Violation | undefined {
  switch (obligation.kind) {
    case "powHash":
      throw new TypeError("proof of work is not discharged here: hash the blob and ask meetsDifficulty");
    case "outputKeys": {
      const output = obligation.keys.findIndex((key) => !isPoint(key));
      return output === -1 ? undefined : { code: "OUTPUT_KEY", output };
    }
    case "keyImages": {
      const input = obligation.keyImages.findIndex((keyImage) => !isInMainSubgroup(keyImage));
      return input === -1 ? undefined : { code: "KEY_IMAGE_DOMAIN", input };
    }
    case "balance": {
      const { pseudoOuts, outputCommitments, fee } = obligation;
      return commitmentsBalance(pseudoOuts, outputCommitments, fee) ? undefined : { code: "BALANCE" };
    }
    case "rangeProof":
      return undefined;
    case "clsag":
      return verifyClsag(obligation) ? undefined : { code: "CLSAG", input: obligation.input };
    case "ringSignature": {
      const { message: prefixHash, keyImage, keys: publicKeys, signatures, input } = obligation;
      const holds = checkRingSignature({ prefixHash, keyImage, publicKeys }, signatures);
      return holds ? undefined : { code: "RING_SIGNATURE", input };
    }
  }
}

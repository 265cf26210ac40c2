import {
  areInMainSubgroup,
  checkRingSignature,
  commitmentsBalance,
  isPoint,
  verifyBorromean,
  verifyBulletproofs,
  verifyBulletproofsPlus,
  verifyClsagRing,
  verifyMlsagFull,
  verifyMlsagSimple,
} from "@anulo/crypto";
import type { Obligation } from "./obligations.ts";
import type { Violation } from "./violations.ts";

/** The obligation that failed, and what that means. */
export interface Failure {
  /** Index in the list given to `discharge`. */
  index: number;
  /** Of the transaction at fault (32 bytes); undefined where the block is. */
  transactionId: Uint8Array | undefined;
  violation: Violation;
}

type ObligationOf<K extends Obligation["kind"]> = Extract<Obligation, { kind: K }>;
type BatchKind = "bulletproof" | "rangeProof";
type SingleKind = Exclude<Obligation["kind"], BatchKind | "powHash">;

/**
 * Checks proofs and names the first that fails, undefined when all hold. Range proofs of a kind share one
 * multi-exponentiation; only when that fails is the culprit looked for.
 * Heavy (about a millisecond an input): made for workers. Throws `TypeError` when given
 * proof of work: a hash takes its own process and memory, and is the caller's.
 */
export function discharge(obligations: readonly Obligation[]): Failure | undefined {
  const single = firstBadSingle(obligations);
  const before = single === undefined ? obligations : obligations.slice(0, single.index);
  const batched = [
    firstBad(numbered(before, "bulletproof"), verifyBulletproofs),
    firstBad(numbered(before, "rangeProof"), verifyBulletproofsPlus),
  ].filter((index) => index !== undefined);
  if (batched.length === 0) return single;
  const index = Math.min(...batched);
  return failure(index, obligations[index]!, { code: "RANGE_PROOF" });
}

function failure(index: number, obligation: Obligation, violation: Violation): Failure {
  const transactionId = obligation.kind === "powHash" ? undefined : obligation.transactionId;
  return { index, transactionId, violation };
}

/** The first that fails of those checked one by one. */
function firstBadSingle(obligations: readonly Obligation[]): Failure | undefined {
  for (const [index, obligation] of obligations.entries()) {
    const violation = checkOne(obligation);
    if (violation !== undefined) return failure(index, obligation, violation);
  }
  return undefined;
}

type Numbered<T> = [index: number, obligation: T];

function numbered<K extends BatchKind>(obligations: readonly Obligation[], kind: K) {
  return [...obligations.entries()].filter(
    (entry): entry is Numbered<ObligationOf<K>> => entry[1].kind === kind,
  );
}

/** Index of the first proof that does not hold; halves a failing batch: n proofs cost some log₂ n batches. */
function firstBad<T>(
  proofs: readonly Numbered<T>[],
  verify: (batch: readonly T[]) => boolean,
): number | undefined {
  if (proofs.length === 0 || verify(proofs.map(([, proof]) => proof))) return undefined;
  if (proofs.length === 1) return proofs[0]![0];
  const middle = proofs.length >> 1;
  return firstBad(proofs.slice(0, middle), verify) ?? firstBad(proofs.slice(middle), verify);
}

function indexOfFirst<T>(items: readonly T[], isBad: (item: T) => boolean): number | undefined {
  const index = items.findIndex(isBad);
  return index === -1 ? undefined : index;
}

/**
 * The violation each kind shows when it does not hold.
 * Source: cryptonote_format_utils.cpp `check_outs_valid`; cryptonote_core.cpp `check_tx_inputs_keyimages_domain`;
 * rctSigs.cpp `verRctSemanticsSimple`, `verRct`, `verRctNonSemanticsSimple`; blockchain.cpp `check_ring_signature`.
 */
const checks: { readonly [K in SingleKind]: (obligation: ObligationOf<K>) => Violation | undefined } = {
  outputKeys: ({ keys }) => {
    const output = indexOfFirst(keys, (key) => !isPoint(key));
    return output === undefined ? undefined : { code: "OUTPUT_KEY", output };
  },
  keyImages: ({ keyImages }) => {
    const input = areInMainSubgroup(keyImages).indexOf(false);
    return input === -1 ? undefined : { code: "KEY_IMAGE_DOMAIN", input };
  },
  balance: ({ pseudoOuts, outputCommitments, fee }) =>
    commitmentsBalance(pseudoOuts, outputCommitments, fee) ? undefined : { code: "BALANCE" },
  borromean: ({ commitment, proof }) =>
    verifyBorromean(commitment, proof) ? undefined : { code: "RANGE_PROOF" },
  clsag: (obligation) =>
    verifyClsagRing(obligation) ? undefined : { code: "CLSAG", input: obligation.input },
  mlsag: (obligation) =>
    verifyMlsagSimple(obligation) ? undefined : { code: "MLSAG", input: obligation.input },
  fullMlsag: (obligation) => (verifyMlsagFull(obligation) ? undefined : { code: "FULL_MLSAG" }),
  ringSignature: ({ message: prefixHash, keyImage, keys: publicKeys, signatures, input }) => {
    const holds = checkRingSignature({ prefixHash, keyImage, publicKeys }, signatures);
    return holds ? undefined : { code: "RING_SIGNATURE", input };
  },
};

/** The violation an obligation shows; undefined when it holds, or is checked in a batch. */
function checkOne(obligation: Obligation): Violation | undefined {
  if (obligation.kind === "powHash")
    throw new TypeError("proof of work is not discharged here: hash the blob and ask meetsDifficulty");
  if (obligation.kind === "bulletproof" || obligation.kind === "rangeProof") return undefined;
  const check = checks[obligation.kind] as (obligation: Obligation) => Violation | undefined;
  return check(obligation);
}

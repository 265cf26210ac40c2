import { type ConfidentialRingCt, ringCtTypes, type Transaction } from "@anulo/protocol";
import { MAX_PROVEN_OUTPUTS } from "../constants.ts";
import type {
  BalanceObligation,
  BorromeanObligation,
  BulletproofObligation,
  RangeProofObligation,
} from "../obligations.ts";
import { RuleViolation } from "../violations.ts";
import type { TransactionCandidate } from "./candidate.ts";

type AmountObligation =
  | BalanceObligation
  | BorromeanObligation
  | BulletproofObligation
  | RangeProofObligation;

/**
 * A version 2 transaction must hide its amounts and prove them: these are the rules that need no chain, whether or not
 * the fork accepts its type, which `checkOutputs` judges. Source: cryptonote_core.cpp
 * `handle_incoming_tx_accumulated_batch`, rctSigs.cpp `verRct`, `verRctSemanticsSimple`.
 */
export function checkRingCt({ transaction, id }: TransactionCandidate): AmountObligation[] {
  const { ringct } = transaction;
  if (ringct === undefined) return [];
  if (ringct.type === ringCtTypes.none) throw new RuleViolation({ code: "RINGCT_MISSING" });
  checkShape(ringct, transaction);
  const proofs = rangeProofs(ringct, id);
  return ringct.type === ringCtTypes.full ? proofs : [balance(ringct, id), ...proofs];
}

/** There must be as many output commitments as outputs. Source: cryptonote_core.cpp `check_tx_semantic`. */
export function checkCommitmentCount({ prefix, ringct }: Transaction): void {
  if (prefix.version === 1) return;
  const outputs = prefix.outputs.length;
  const commitments =
    ringct === undefined || ringct.type === ringCtTypes.none ? 0 : ringct.outputCommitments.length;
  if (outputs !== commitments) throw new RuleViolation({ code: "COMMITMENT_COUNT", outputs, commitments });
}

/** The required number of proofs and signatures of a type. */
function expectedCounts(type: ConfidentialRingCt["type"], inputs: number, outputs: number) {
  const isBorromean = type < ringCtTypes.bulletproof;
  const hasClsags = type >= ringCtTypes.clsag;
  const isFull = type === ringCtTypes.full;
  const isPlus = type === ringCtTypes.bulletproofPlus;
  return {
    rangeSigs: isBorromean ? outputs : 0,
    bulletproofs: isBorromean || isPlus ? 0 : 1,
    bulletproofsPlus: isPlus ? 1 : 0,
    clsags: hasClsags ? inputs : 0,
    mgs: hasClsags ? 0 : isFull ? 1 : inputs,
    pseudoOuts: isFull ? 0 : inputs,
    ecdhInfo: outputs,
  };
}

/** Every part must have its count: signatures for the inputs, range proofs that cover exactly the outputs. */
function checkShape(ringct: ConfidentialRingCt, { prefix }: Transaction): void {
  const { prunable, pseudoOuts, ecdhInfo } = ringct;
  if (prunable === undefined) throw new RangeError("a pruned transaction cannot be verified");
  const outputs = ringct.outputCommitments.length;
  const parts = { ...prunable, pseudoOuts, ecdhInfo };
  for (const [part, count] of Object.entries(expectedCounts(ringct.type, prefix.inputs.length, outputs))) {
    if (parts[part as keyof typeof parts].length !== count)
      throw new RuleViolation({ code: "RINGCT_SHAPE", part });
  }
  for (const proof of [...prunable.bulletproofs, ...prunable.bulletproofsPlus]) {
    if (!coversExactly(proof, outputs)) throw new RuleViolation({ code: "RINGCT_SHAPE", part: "rounds" });
  }
}

/** A proof must be for 1 to 16 outputs, and for the smallest power of two that covers them. */
function coversExactly({ L, R }: { L: unknown[]; R: unknown[] }, outputs: number): boolean {
  if (outputs < 1 || outputs > MAX_PROVEN_OUTPUTS) return false;
  return L.length === R.length && L.length === 6 + Math.ceil(Math.log2(outputs));
}

function balance(ringct: ConfidentialRingCt, transactionId: Uint8Array): BalanceObligation {
  const { pseudoOuts, outputCommitments, fee } = ringct;
  return { kind: "balance", transactionId, pseudoOuts, outputCommitments, fee };
}

function rangeProofs(ringct: ConfidentialRingCt, transactionId: Uint8Array): AmountObligation[] {
  const { outputCommitments: commitments } = ringct;
  const { rangeSigs, bulletproofs, bulletproofsPlus } = ringct.prunable!;
  return [
    ...rangeSigs.map((proof, output): BorromeanObligation => {
      return { kind: "borromean", transactionId, output, commitment: commitments[output]!, proof };
    }),
    ...bulletproofs.map((proof): BulletproofObligation => {
      return { kind: "bulletproof", transactionId, proof, commitments };
    }),
    ...bulletproofsPlus.map((proof): RangeProofObligation => {
      return { kind: "rangeProof", transactionId, proof, commitments };
    }),
  ];
}

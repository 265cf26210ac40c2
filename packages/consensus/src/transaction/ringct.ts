import type { ConfidentialRingCt, Transaction } from "@anulo/protocol";
import { MAX_PROVEN_OUTPUTS } from "../constants.ts";
import type { BalanceObligation, RangeProofObligation } from "../obligations.ts";
import { RuleViolation, UnsupportedEra } from "../violations.ts";
import type { TransactionCandidate } from "./candidate.ts";
import { isRingCtTypeAllowed } from "./outputs.ts";

const BULLETPROOF_PLUS = 6;

/**
 * A version 2 transaction hides its amounts and proves them: what must hold without knowing the chain.
 * A type the fork forbids is left to `checkOutputs`, which refuses it.
 * Throws `UnsupportedEra` for a type of an earlier fork while that fork is in force.
 * Source: cryptonote_core.cpp `handle_incoming_tx_accumulated_batch`, rctSigs.cpp `verRctSemanticsSimple`.
 */
export function checkRingCt(
  { transaction, id }: TransactionCandidate,
  version: number,
): (BalanceObligation | RangeProofObligation)[] {
  const { ringct } = transaction;
  if (ringct === undefined) return [];
  if (ringct.type === 0) throw new RuleViolation({ code: "RINGCT_MISSING" });
  if (!isRingCtTypeAllowed(ringct.type, version, id)) return [];
  if (ringct.type !== BULLETPROOF_PLUS) throw new UnsupportedEra(`proofs of RingCT type ${ringct.type}`);
  checkShape(ringct, transaction);
  return [balance(ringct, id), rangeProof(ringct, id)];
}

/** As many output commitments as outputs. Source: cryptonote_core.cpp `check_tx_semantic`. */
export function checkCommitmentCount({ prefix, ringct }: Transaction): void {
  if (prefix.version === 1) return;
  const outputs = prefix.outputs.length;
  const commitments = ringct === undefined || ringct.type === 0 ? 0 : ringct.outputCommitments.length;
  if (outputs !== commitments) throw new RuleViolation({ code: "COMMITMENT_COUNT", outputs, commitments });
}

/** Every part has its count: one proof that covers the outputs and no more, one CLSAG an input. */
function checkShape(ringct: ConfidentialRingCt, { prefix }: Transaction): void {
  const { prunable } = ringct;
  const require = (holds: boolean, part: string) => {
    if (!holds) throw new RuleViolation({ code: "RINGCT_SHAPE", part });
  };
  if (prunable === undefined) throw new RangeError("a pruned transaction cannot be verified");
  const outputs = ringct.outputCommitments.length;
  const proof = prunable.bulletproofsPlus[0];
  require(outputs >= 1 && outputs <= MAX_PROVEN_OUTPUTS, "outputs");
  require(prunable.bulletproofsPlus.length === 1 && proof !== undefined, "range proofs");
  require(proof!.L.length === proof!.R.length &&
    proof!.L.length === 6 + roundsOf(outputs), "range proof rounds");
  require(ringct.ecdhInfo.length === outputs, "encrypted amounts");
  require(prunable.clsags.length === prefix.inputs.length, "CLSAGs");
  require(ringct.pseudoOuts.length === prefix.inputs.length, "pseudo outputs");
}

/** Halvings from the smallest power of two that holds this many outputs. */
function roundsOf(outputs: number): number {
  return Math.ceil(Math.log2(outputs));
}

function balance(ringct: ConfidentialRingCt, transactionId: Uint8Array): BalanceObligation {
  const { pseudoOuts, outputCommitments, fee } = ringct;
  return { kind: "balance", transactionId, pseudoOuts, outputCommitments, fee };
}

function rangeProof(ringct: ConfidentialRingCt, transactionId: Uint8Array): RangeProofObligation {
  const proof = ringct.prunable!.bulletproofsPlus[0]!;
  return { kind: "rangeProof", transactionId, proof, commitments: ringct.outputCommitments };
}

import {
  type ConfidentialRingCt,
  concatBytes,
  type KeyInput,
  ringCtMessage,
  ringCtTypes,
  transactionPrefixHash,
} from "@anulo/protocol";
import type { ChainOutput } from "../chain-view.ts";
import type {
  ClsagObligation,
  FullMlsagObligation,
  MlsagObligation,
  RingMember,
  RingSignatureObligation,
} from "../obligations.ts";
import { RuleViolation } from "../violations.ts";
import type { TransactionCandidate } from "./candidate.ts";

/** An input with its ring resolved. */
export interface ResolvedInput {
  input: KeyInput;
  ring: readonly ChainOutput[];
}

type SignatureObligation = ClsagObligation | MlsagObligation | FullMlsagObligation | RingSignatureObligation;

/**
 * The signature obligations of every input, over the outputs of its ring. Source: blockchain.cpp `check_tx_inputs`,
 * `expand_transaction_2`, rctSigs.cpp `verRctNonSemanticsSimple`.
 */
export function signaturesToVerify(
  candidate: TransactionCandidate,
  inputs: readonly ResolvedInput[],
): SignatureObligation[] {
  const { ringct } = candidate.transaction;
  if (ringct === undefined) return ringSignatures(candidate, inputs);
  if (ringct.type === ringCtTypes.none) throw new RuleViolation({ code: "RINGCT_MISSING" });
  if (ringct.type === ringCtTypes.full) return [fullMlsag(candidate, ringct, inputs)];
  checkCount(ringct.pseudoOuts.length, inputs.length);
  return ringct.type >= ringCtTypes.clsag
    ? clsags(candidate, ringct, inputs)
    : mlsags(candidate, ringct, inputs);
}

/** The statement of every RingCT signature of one input. */
function statements({ transaction, id }: TransactionCandidate, inputs: readonly ResolvedInput[]) {
  const message = ringCtMessage(transaction);
  const { pseudoOuts } = transaction.ringct as ConfidentialRingCt;
  return inputs.map(({ input: { keyImage } }, input) => ({
    transactionId: id,
    input,
    message,
    pseudoOut: pseudoOuts[input]!,
    keyImage,
  }));
}

function clsags(
  candidate: TransactionCandidate,
  ringct: ConfidentialRingCt,
  inputs: readonly ResolvedInput[],
): ClsagObligation[] {
  const proofs = ringct.prunable?.clsags ?? [];
  checkCount(proofs.length, inputs.length);
  return statements(candidate, inputs).map((statement) => {
    const { s, c1, D } = proofs[statement.input]!;
    const { ring } = inputs[statement.input]!;
    checkCount(s.length, ring.length);
    const keys = concatBytes(...ring.map(({ key }) => key));
    const commitments = concatBytes(...ring.map(({ commitment }) => commitment));
    return { kind: "clsag", ...statement, keys, commitments, s: concatBytes(...s), c1, D };
  });
}

function mlsags(
  candidate: TransactionCandidate,
  ringct: ConfidentialRingCt,
  inputs: readonly ResolvedInput[],
): MlsagObligation[] {
  const proofs = ringct.prunable?.mgs ?? [];
  checkCount(proofs.length, inputs.length);
  return statements(candidate, inputs).map((statement) => {
    const proof = proofs[statement.input]!;
    const ring = inputs[statement.input]!.ring.map(memberOf);
    checkCount(proof.ss.length, ring.length);
    return { kind: "mlsag", ...statement, ring, proof };
  });
}

/** The rings are the columns of one signature, so all must have the same size, in every fork. */
function fullMlsag(
  { transaction, id }: TransactionCandidate,
  { prunable, outputCommitments, fee }: ConfidentialRingCt,
  inputs: readonly ResolvedInput[],
): FullMlsagObligation {
  const proof = prunable?.mgs[0];
  if (proof === undefined) throw new RuleViolation({ code: "SIGNATURE_COUNT", signatures: 0, required: 1 });
  for (const { ring } of inputs) checkCount(proof.ss.length, ring.length);
  return {
    kind: "fullMlsag",
    transactionId: id,
    message: ringCtMessage(transaction),
    rings: inputs.map(({ ring }) => ring.map(memberOf)),
    outputCommitments,
    fee,
    keyImages: inputs.map(({ input }) => input.keyImage),
    proof,
  };
}

function ringSignatures(
  { transaction, id }: Pick<TransactionCandidate, "transaction" | "id">,
  inputs: readonly ResolvedInput[],
): RingSignatureObligation[] {
  checkCount(transaction.signatures.length, inputs.length);
  const message = transactionPrefixHash(transaction);
  return inputs.map(({ input, ring }, index) => {
    const signatures = transaction.signatures[index]!;
    checkCount(signatures.length, ring.length);
    const keys = ring.map(({ key }) => key);
    return {
      kind: "ringSignature",
      transactionId: id,
      input: index,
      message,
      keys,
      keyImage: input.keyImage,
      signatures,
    };
  });
}

function memberOf({ key, commitment }: ChainOutput): RingMember {
  return { key, commitment };
}

function checkCount(signatures: number, required: number): void {
  if (signatures !== required) throw new RuleViolation({ code: "SIGNATURE_COUNT", signatures, required });
}

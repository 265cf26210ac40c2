import { type KeyInput, ringCtMessage, transactionPrefixHash } from "@anulo/protocol";
import type { ChainOutput } from "../chain-view.ts";
import type { ClsagObligation, RingSignatureObligation } from "../obligations.ts";
import { RuleViolation, UnsupportedEra } from "../violations.ts";
import type { TransactionCandidate } from "./candidate.ts";

/** An input with its ring resolved. */
export interface ResolvedInput {
  input: KeyInput;
  ring: readonly ChainOutput[];
}

/**
 * The signatures of every input, over the outputs its ring names. Throws `UnsupportedEra` for MLSAGs.
 * Source: blockchain.cpp `check_tx_inputs`, rctSigs.cpp `verRctNonSemanticsSimple`.
 */
export function signaturesToVerify(
  { transaction, id }: TransactionCandidate,
  inputs: readonly ResolvedInput[],
): (ClsagObligation | RingSignatureObligation)[] {
  const { ringct } = transaction;
  if (ringct === undefined) return ringSignatures({ transaction, id }, inputs);
  if (ringct.type === 0) throw new RuleViolation({ code: "RINGCT_MISSING" });
  if (ringct.type < 5) throw new UnsupportedEra(`signatures of RingCT type ${ringct.type}`);
  const clsags = ringct.prunable?.clsags ?? [];
  checkCount(clsags.length, inputs.length);
  checkCount(ringct.pseudoOuts.length, inputs.length);
  const message = ringCtMessage(transaction);
  return inputs.map(({ input, ring }, index) => {
    const proof = clsags[index]!;
    checkCount(proof.s.length, ring.length);
    return {
      kind: "clsag",
      transactionId: id,
      input: index,
      message,
      ring: ring.map(({ key, commitment }) => ({ key, commitment })),
      pseudoOut: ringct.pseudoOuts[index]!,
      keyImage: input.keyImage,
      proof,
    };
  });
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

function checkCount(signatures: number, required: number): void {
  if (signatures !== required) throw new RuleViolation({ code: "SIGNATURE_COUNT", signatures, required });
}

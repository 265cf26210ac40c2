import { absoluteOffsets, type KeyInput, keyInputs, type Transaction } from "@anulo/protocol";
import type { RandomRows } from "@anulo/storage";

/** What judging transactions reads of the chain: their key images and, where proofs are checked, their rings. */
export function rowsOfInputs(
  transactions: readonly Transaction[],
  { withRings }: { readonly withRings: boolean },
): RandomRows {
  const inputs = transactions.flatMap(({ prefix }) => keyInputs(prefix));
  const ringOf = ({ amount, keyOffsets }: KeyInput) =>
    absoluteOffsets(keyOffsets).map((index) => ({ amount, index }));
  return {
    keyImages: inputs.map(({ keyImage }) => keyImage),
    ...(withRings && { outputs: inputs.flatMap(ringOf) }),
  };
}

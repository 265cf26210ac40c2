import { absoluteOffsets, type KeyInput, keyInputs } from "@anulo/protocol";
import type { RandomRows } from "@anulo/storage";
import type { IncomingBlock } from "./incoming-block.ts";

/** What judging a block reads of its transactions: their key images and, where proofs are checked, their rings. */
export function rowsToJudge(
  { transactions = new Map() }: IncomingBlock,
  { withRings }: { readonly withRings: boolean },
): RandomRows {
  const inputs = [...transactions.values()].flatMap(({ transaction }) => keyInputs(transaction.prefix));
  const ringOf = ({ amount, keyOffsets }: KeyInput) =>
    absoluteOffsets(keyOffsets).map((index) => ({ amount, index }));
  return {
    keyImages: inputs.map(({ keyImage }) => keyImage),
    ...(withRings && { outputs: inputs.flatMap(ringOf) }),
  };
}

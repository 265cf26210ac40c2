import type { RandomRows } from "@anulo/storage";
import { rowsOfInputs } from "../pool/rows-of-inputs.ts";
import type { IncomingBlock } from "./incoming-block.ts";

/** What judging a block reads of the chain, beside what every block needs. */
export function rowsToJudge(
  { transactions = new Map() }: IncomingBlock,
  options: { readonly withRings: boolean },
): RandomRows {
  return rowsOfInputs(
    [...transactions.values()].map(({ transaction }) => transaction),
    options,
  );
}

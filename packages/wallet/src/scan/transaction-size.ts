/** Sizes of whole transactions, which a pruned transaction no longer contains. */
import { ringCtTypes, type Transaction } from "@anulo/protocol";

/** Size (bytes) of the whole transaction, from that of its pruned form; 0 for kinds for which it is not known. */
export function fullTransactionSize({ prefix, ringct }: Transaction, prunedSize: number): number {
  if (ringct === undefined) return 0;
  if (ringct.type === ringCtTypes.none) return prunedSize;
  const first = prefix.inputs[0];
  const ringSize = first?.type === "key" ? first.keyOffsets.length : 1;
  // One Schnorr-like signature of a ring: s for each member, c1, D; then the pseudo output.
  const clsags = prefix.inputs.length * (32 * ringSize + 64 + 32);
  const halves = 2 * (1 + 32 * (6 + Math.ceil(Math.log2(prefix.outputs.length))));
  if (ringct.type === ringCtTypes.bulletproofPlus) return prunedSize + 1 + 6 * 32 + halves + clsags;
  if (ringct.type === ringCtTypes.clsag) return prunedSize + 1 + 9 * 32 + halves + clsags;
  return 0;
}

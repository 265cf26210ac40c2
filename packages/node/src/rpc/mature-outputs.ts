import { SPENDABLE_AGE } from "@anulo/consensus";
import type { ChainReader } from "@anulo/storage";

/**
 * How many outputs of an amount are in blocks at least ten deep: they are in chain order, so the first that
 * is too young ends them. Source: blockchain.cpp `get_num_mature_outputs`.
 */
export function matureOutputs(read: ChainReader, amount: bigint): number {
  const oldEnough = read.height() - SPENDABLE_AGE;
  return firstIndex(read.outputCount(amount), (index) => read.output(amount, index)!.height > oldEnough);
}

/** The first of the indices 0 to `count` - 1 that satisfies an ascending condition, `count` when none does. */
export function firstIndex(count: number, isPast: (index: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isPast(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

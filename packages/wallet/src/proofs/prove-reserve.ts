/**
 * Chooses the outputs of a proof of funds, and creates it; many outputs are proven in threads. Source: wallet2.cpp
 * `get_reserve_proof`.
 */

import type { OwnedOutput, SubaddressIndex } from "../outputs/owned-output.ts";
import type { Runtime } from "../runtime.ts";
import type { SpendKeys } from "../state.ts";
import { inBulk } from "../transfer/random.ts";
import { mapPatiently } from "../turns.ts";
import { formatReserveProof, prefixHashOf, proveOutputs, proveSpendKey } from "./reserve-proof.ts";

/** Proving up to this many outputs takes less time than sending them to a thread. */
const FEW = 16;

/** The primary address is always included, since it identifies the wallet. */
function addressesOf(outputs: readonly OwnedOutput[]): SubaddressIndex[] {
  const primary = { major: 0, minor: 0 };
  const indices = [primary, ...outputs.map(({ subaddress }) => subaddress)];
  return [...new Map(indices.map((index) => [`${index.major}/${index.minor}`, index])).values()];
}

/** Proof text for outputs with known key images. */
export async function proveReserve(
  outputs: readonly OwnedOutput[],
  {
    keys,
    message,
    runtime,
  }: { keys: SpendKeys; message: Uint8Array; runtime: Pick<Runtime, "threads" | "random"> },
): Promise<string> {
  const images = outputs.map(({ keyImage }) => ({ keyImage: keyImage! }));
  const proving = { keys, prefixHash: prefixHashOf(message, keys, images) };
  const addresses = addressesOf(outputs);
  const random = inBulk(runtime.random, 32 * (2 * Math.min(outputs.length, FEW) + addresses.length));
  const entries =
    outputs.length <= FEW
      ? proveOutputs(outputs, proving, random)
      : await runtime.threads.map("proveReserve", outputs, proving);
  const spendKeys = await mapPatiently(addresses, (index) => proveSpendKey(index, proving, random));
  return formatReserveProof({ entries, spendKeys });
}

/**
 * The smallest output that alone reaches the amount (atomic units), otherwise the fewest of the largest outputs that
 * together do.
 */
export function chooseReserve(outputs: readonly OwnedOutput[], amount: bigint): OwnedOutput[] {
  let enough: OwnedOutput | undefined;
  /** The chosen outputs so far, from the largest down, and their sum. */
  const selection: OwnedOutput[] = [];
  let total = 0n;
  for (const output of outputs) {
    if (output.amount >= amount) {
      if (enough === undefined || output.amount <= enough.amount) enough = output;
      continue;
    }
    if (total >= amount && output.amount <= selection.at(-1)!.amount) continue;
    selection.splice(placeOf(output, selection), 0, output);
    total += output.amount;
    while (total - selection.at(-1)!.amount >= amount) total -= selection.pop()!.amount;
  }
  return enough === undefined ? selection : [enough];
}

/** Index after all outputs with an amount at least as large. */
function placeOf({ amount }: OwnedOutput, descending: readonly OwnedOutput[]): number {
  let low = 0;
  for (let high = descending.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (descending[middle]!.amount >= amount) low = middle + 1;
    else high = middle;
  }
  return low;
}

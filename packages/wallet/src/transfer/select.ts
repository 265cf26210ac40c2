/**
 * Which outputs to spend. Source for the privacy rules: wallet2.cpp `pick_preferred_rct_inputs`, `pop_best_value_from`.
 */
import type { RandomSource } from "@anulo/crypto";
import { equalBytes } from "@anulo/protocol";
import type { OwnedOutput } from "../state.ts";
import { randomIndex } from "./random.ts";

/** How much spending two outputs together reveals about their owner: from 0 (nothing) to 1 (everything). */
export function relatedness(a: OwnedOutput, b: OwnedOutput): number {
  const blocksApart = Math.abs(a.height - b.height);
  if (blocksApart === 0) return equalBytes(a.txHash, b.txHash) ? 1 : 0.9;
  if (blocksApart === 1) return 0.8;
  return blocksApart < 10 ? 0.2 : 0;
}

const isSameAddress = (a: OwnedOutput, b: OwnedOutput): boolean =>
  a.subaddress.major === b.subaddress.major && a.subaddress.minor === b.subaddress.minor;

/**
 * One output that is enough alone, otherwise the least related pair of one address that is enough, otherwise nothing.
 */
export function pickPreferredInputs(spendable: readonly OwnedOutput[], needed: bigint): OwnedOutput[] {
  const alone = spendable.find((output) => output.amount >= needed);
  if (alone !== undefined) return [alone];
  let best: { pair: OwnedOutput[]; relatedness: number } = { pair: [], relatedness: 1 };
  for (const [i, first] of spendable.entries()) {
    for (const second of spendable.slice(i + 1)) {
      if (first.amount + second.amount < needed || !isSameAddress(first, second)) continue;
      const related = relatedness(first, second);
      if (related < best.relatedness) best = { pair: [first, second], relatedness: related };
      if (best.relatedness === 0) return best.pair;
    }
  }
  return best.pair;
}

/** The greatest relatedness of an output to the first `count` items of a list that only grows. */
type Known = { readonly count: number; readonly related: number };

/**
 * Inputs chosen for one transaction, a list that only grows, and the relatedness of other outputs to them, cached:
 * computing it again for each new input would take quadratic time.
 */
export type Chosen = {
  readonly inputs: readonly OwnedOutput[];
  readonly relatedness: Map<OwnedOutput, Known>;
};

function greatestRelatedness(output: OwnedOutput, { inputs, relatedness: known }: Chosen): number {
  let { count, related } = known.get(output) ?? { count: 0, related: 0 };
  for (; count < inputs.length; count++) related = Math.max(related, relatedness(output, inputs[count]!));
  known.set(output, { count, related });
  return related;
}

/** The outputs that are least related to those already chosen. */
function leastRelated(unused: readonly OwnedOutput[], chosen: Chosen): OwnedOutput[] {
  let best = 1;
  let candidates: OwnedOutput[] = [];
  for (const output of unused) {
    const related = greatestRelatedness(output, chosen);
    if (related < best) {
      best = related;
      candidates = [];
    }
    if (related === best) candidates.push(output);
  }
  return candidates;
}

/** A random one of the outputs least related to those already chosen. `unused` must not be empty. */
export function pickRandomInput(
  unused: readonly OwnedOutput[],
  chosen: Chosen,
  random: RandomSource,
): OwnedOutput {
  const candidates = leastRelated(unused, chosen);
  return candidates[randomIndex(random, candidates.length)]!;
}

/** The smallest of the outputs least related to those already chosen. `unused` must not be empty. */
export function pickSmallestInput(unused: readonly OwnedOutput[], chosen: Chosen): OwnedOutput {
  return leastRelated(unused, chosen).reduce((least, output) =>
    output.amount < least.amount ? output : least,
  );
}

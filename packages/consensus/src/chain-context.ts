import type { ChainView } from "./chain-view.ts";
import type { ChainContext } from "./transaction/candidate.ts";
import { weightLimits } from "./weights.ts";

const limitsOf = new WeakMap<ChainView, ChainContext["limits"]>();

/** A chain and the clock (`now`, Unix seconds), with the limits derived from the chain, once per view. */
export function chainContext(chain: ChainView, now: number): ChainContext {
  const limits = limitsOf.get(chain) ?? weightLimits(chain);
  limitsOf.set(chain, limits);
  return { chain, limits, now };
}

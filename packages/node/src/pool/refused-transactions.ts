import { createHash } from "node:crypto";
import { type ChainView, RuleViolation, type Violation } from "@anulo/consensus";

/** Number of transactions remembered, some 300 bytes each. */
const DEFAULT_CAPACITY = 10_000;

/**
 * Transactions that broke a rule on the current chain: if one of them is sent again, it is refused without being
 * verified.
 */
export interface RefusedTransactions {
  /** The violation for which these bytes were refused on this chain; undefined if they were not. */
  find(view: ChainView, blob: Uint8Array): RuleViolation | undefined;
  /** Remembers a refusal until the chain changes. */
  add(view: ChainView, blob: Uint8Array, refusal: RuleViolation): void;
}

const digestOf = (blob: Uint8Array) => createHash("sha256").update(blob).digest("base64");

/** Creates an empty list; beyond the capacity the oldest are forgotten. */
export function createRefusedTransactions(capacity = DEFAULT_CAPACITY): RefusedTransactions {
  const refusals = new Map<string, Violation>();
  let chain: ChainView | undefined;
  const follow = (view: ChainView) => {
    if (view === chain) return;
    refusals.clear();
    chain = view;
  };
  return {
    find(view, blob) {
      follow(view);
      const violation = refusals.size === 0 ? undefined : refusals.get(digestOf(blob));
      return violation && new RuleViolation(violation);
    },
    add(view, blob, { violation }) {
      follow(view);
      refusals.set(digestOf(blob), violation);
      if (refusals.size > capacity) for (const oldest of refusals.keys()) return void refusals.delete(oldest);
    },
  };
}

import { createHash } from "node:crypto";
import { type ChainView, RuleViolation, type Violation } from "@anulo/consensus";

/** Transactions remembered, each some 300 bytes. */
const DEFAULT_CAPACITY = 10_000;

/**
 * Transactions that broke a rule on the chain as it is: whoever sends one of them again has it refused without
 * anything being verified.
 */
export interface RefusedTransactions {
  /** Why these bytes were refused on this chain; undefined where they were not. */
  find(view: ChainView, blob: Uint8Array): RuleViolation | undefined;
  /** Remembers a refusal until the chain changes. */
  add(view: ChainView, blob: Uint8Array, refusal: RuleViolation): void;
}

const digestOf = (blob: Uint8Array) => createHash("sha256").update(blob).digest("base64");

/** Starts with none; beyond the capacity the oldest are forgotten. */
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

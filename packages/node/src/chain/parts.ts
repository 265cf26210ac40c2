import type { RuleViolation } from "@anulo/consensus";
import type { Network } from "@anulo/protocol";
import type { ChainStore, ChainWriter } from "@anulo/storage";
import type { Pool } from "../pool/pool.ts";
import type { ChainState } from "./chain-state.ts";
import type { ChainEvent } from "./events.ts";
import type { Proofs } from "./proofs.ts";

/** What every operation on the chain works with. One set belongs to one writer. */
export interface ChainParts {
  readonly store: ChainStore;
  readonly network: Network;
  readonly state: ChainState;
  readonly pool: Pool;
  readonly proofs: Proofs;
  /** Blocks of branches that could not become the main chain, by id (hexadecimal), and the rule they broke. */
  readonly invalidBlocks: Map<string, RuleViolation>;
  /** Unix seconds. */
  readonly now: () => number;
  readonly emit: (event: ChainEvent) => void;
}

/**
 * Changes chain and pool as one transaction: all of it is on disk when this returns; when it throws, the
 * store and what is held in memory are as before.
 */
export function transact<T>({ store, state, pool }: ChainParts, change: (writer: ChainWriter) => T): T {
  try {
    return pool.undoable(() => store.write(change));
  } catch (error) {
    state.rewound();
    throw error;
  }
}

import type { ChainView, Obligation } from "@anulo/consensus";
import type { ChainStore, ChainWriter } from "@anulo/storage";
import type { Pool, PoolChanges } from "./pool.ts";
import type { Refusals } from "./refusals.ts";
import type { RefusedTransactions } from "./refused-transactions.ts";
import type { SetAsideTransactions } from "./set-aside.ts";

/** Something that happened to the pool; ids have 32 bytes. */
export type PoolEvent =
  | { readonly type: "transactionAdded"; readonly id: Uint8Array }
  | { readonly type: "transactionReleased"; readonly id: Uint8Array }
  /** Everybody may know of these now, which were in the pool before. */
  | { readonly type: "transactionsPublic"; readonly ids: readonly Uint8Array[] };

/** What operations on the pool work with. */
export interface PoolParts {
  readonly store: ChainStore;
  /** The rules' view of the main chain; to be told when a write was rolled back. */
  readonly state: { view(): ChainView; reload(): void };
  readonly pool: Pool;
  readonly proofs: {
    /** Throws where some of these have not been checked yet. */
    requireProven(obligations: readonly Obligation[]): void;
    /** Repeats `attempt` until it demands nothing that is not checked. */
    runProven<T>(attempt: () => T): Promise<T>;
  };
  readonly refusedTransactions: RefusedTransactions;
  readonly refusals: Refusals;
  /** Unix seconds. */
  readonly now: () => number;
  readonly emit: (event: PoolEvent) => void;
}

/** What a change of the chain does to the pool with; the pool may be a draft. */
export interface PoolChangeParts extends Pick<PoolParts, "now"> {
  readonly state: Pick<PoolParts["state"], "view">;
  readonly pool: PoolChanges;
  readonly setAside: SetAsideTransactions;
}

/**
 * Changes chain and pool as one transaction: all of it is on disk when this returns; when it throws, the
 * store and what is held in memory are as before.
 */
export function transact<T>(
  { store, state, pool }: Pick<PoolParts, "store" | "state" | "pool">,
  change: (writer: ChainWriter) => T,
): T {
  try {
    return pool.undoable(() => store.write(change));
  } catch (error) {
    state.reload();
    throw error;
  }
}

import type { ChainView, Obligation } from "@anulo/consensus";
import type { ChainStore, ChainWriter } from "@anulo/storage";
import type { Pool, PoolChanges } from "./pool.ts";
import type { Refusals } from "./refusals.ts";
import type { RefusedTransactions } from "./refused-transactions.ts";
import type { SetAsideTransactions } from "./set-aside.ts";

/** An event of the pool; ids have 32 bytes. */
export type PoolEvent =
  | { readonly type: "transactionAdded"; readonly id: Uint8Array }
  | { readonly type: "transactionReleased"; readonly id: Uint8Array }
  /** These transactions of the pool are public from now on. */
  | { readonly type: "transactionsPublic"; readonly ids: readonly Uint8Array[] };

/** What operations on the pool need. */
export interface PoolParts {
  readonly store: ChainStore;
  /** The rules' view of the main chain; `reload` is called when a write was rolled back. */
  readonly state: { view(): ChainView; reload(): void };
  readonly pool: Pool;
  readonly proofs: {
    /** Throws if some of these have not been checked yet. */
    requireProven(obligations: readonly Obligation[]): void;
    /** Repeats `attempt` until it requires nothing that is not checked. */
    runProven<T>(attempt: () => T): Promise<T>;
    /** Runs what is done before the first attempt; its time counts like that of attempts. */
    measure<T>(run: () => T): T;
  };
  readonly refusedTransactions: RefusedTransactions;
  readonly refusals: Refusals;
  /** Unix seconds. */
  readonly now: () => number;
  readonly emit: (event: PoolEvent) => void;
}

/** What a change of the chain needs to change the pool, which may be a draft. */
export interface PoolChangeParts extends Pick<PoolParts, "now"> {
  readonly state: Pick<PoolParts["state"], "view">;
  readonly pool: PoolChanges;
  readonly setAside: SetAsideTransactions;
}

/**
 * Changes chain and pool in one transaction: all of it is on disk when this returns; when it throws, the store and the
 * state in memory are as before.
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

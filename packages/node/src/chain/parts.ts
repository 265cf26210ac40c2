import type { RuleViolation } from "@anulo/consensus";
import type { Network } from "@anulo/protocol";
import type { ChainStore, ChainWriter } from "@anulo/storage";
import type { Pool, PoolChanges, PoolDraft } from "../pool/pool.ts";
import type { ChainState } from "./chain-state.ts";
import type { ChainEvent } from "./events.ts";
import type { Proofs } from "./proofs.ts";
import type { SetAside } from "./set-aside.ts";

/** What every operation on the chain works with. One set belongs to one writer. */
export interface ChainParts {
  readonly store: ChainStore;
  readonly network: Network;
  readonly state: ChainState;
  readonly pool: Pool;
  readonly proofs: Proofs;
  /** Blocks of branches that could not become the main chain, by id (hexadecimal), and the rule they broke. */
  readonly invalidBlocks: Map<string, RuleViolation>;
  readonly setAside: SetAside;
  /** Unix seconds. */
  readonly now: () => number;
  readonly emit: (event: ChainEvent) => void;
}

/** What a change of the chain works with: its parts, but of state and pool maybe drafts that nobody else sees. */
export interface ChangeParts extends Omit<ChainParts, "pool"> {
  readonly pool: PoolChanges;
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

/** Takes all steps in this turn of the event loop. */
export function atOnce(steps: Generator<void, void>): void {
  while (steps.next().done !== true);
}

/**
 * The same for a long change, which yields wherever others may go first. What they see is the chain and the pool as
 * they were before, until all of it is written.
 */
export async function transactInTurns<T>(
  parts: ChainParts,
  change: (changed: ChangeParts, writer: ChainWriter) => Generator<void, T>,
): Promise<T> {
  const { store, state, pool } = parts;
  const begin = (writer: ChainWriter) => {
    draft = pool.draft();
    return change({ ...parts, state: state.over(store.read), pool: draft }, writer);
  };
  let draft: PoolDraft | undefined;
  return store.writeInTurns(begin, () => {
    state.rewound();
    draft?.apply();
  });
}

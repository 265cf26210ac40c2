import type { ChainView, RuleViolation, TransactionCandidate } from "@anulo/consensus";
import type { Network } from "@anulo/protocol";
import type { ChainWriter } from "@anulo/storage";
import type { PoolEntry } from "../pool/entry.ts";
import type { PoolParts } from "../pool/parts.ts";
import type { PoolChanges, PoolDraft } from "../pool/pool.ts";
import type { SetAsideTransactions } from "../pool/set-aside.ts";
import type { ChainState } from "./chain-state.ts";
import type { ConfirmedBlocks } from "./confirmed-blocks.ts";
import type { ChainEvent } from "./events.ts";
import type { IncomingBlock } from "./incoming-block.ts";
import type { Proofs } from "./proofs.ts";
import type { SideBlockDraft, SideBlocks } from "./side-blocks.ts";

/** A block just appended, and the pool after it. */
export interface AppendedBlock {
  readonly incoming: IncomingBlock;
  /** Its transactions by id (hexadecimal), those that were in the pool with their entries of it. */
  readonly transactions: ReadonlyMap<string, PoolEntry | undefined>;
  /** The pool, while it still holds all of the blocks below that are in `mined`. */
  readonly pool: PoolChanges;
  /** Transactions of blocks that left the chain, which are not in the pool yet. */
  readonly freed?: ReadonlyMap<string, TransactionCandidate> | undefined;
  /** Transactions (ids in hexadecimal) of the blocks appended so far that are in the pool still. */
  readonly mined?: ReadonlySet<string> | undefined;
}

/**
 * Called for every block that is appended, inside its write transaction, which may still fail: it only takes notes,
 * for when the block is announced.
 */
export type AppendObserver = (view: ChainView, appended: AppendedBlock) => void;

/** What every operation on the chain works with. One set belongs to one writer. */
export interface ChainParts extends PoolParts {
  readonly network: Network;
  readonly state: ChainState;
  readonly sideBlocks: SideBlocks;
  readonly proofs: Proofs;
  /** Blocks of branches that could not become the main chain, by id (hexadecimal), and the rule they broke. */
  readonly invalidBlocks: Map<string, RuleViolation>;
  readonly setAside: SetAsideTransactions;
  /** Blocks that need no proofs. */
  readonly confirmedBlocks: ConfirmedBlocks;
  readonly emit: (event: ChainEvent) => void;
  /** Left out where nobody wants to know more of blocks than that they were added. */
  readonly onAppended?: AppendObserver | undefined;
}

/** What a change of the chain works with: its parts, but of state and pool maybe drafts that nobody else sees. */
export interface ChangeParts extends Omit<ChainParts, "pool" | "sideBlocks"> {
  readonly pool: PoolChanges;
}

/** The same for a change over many turns of the event loop, where all are drafts. */
export interface LongChangeParts extends ChangeParts {
  readonly sideBlocks: SideBlockDraft;
}

/** Takes all steps in this turn of the event loop. */
export function atOnce(steps: Generator<void, void>): void {
  while (steps.next().done !== true);
}

/**
 * The same for a long change, which yields wherever others may go first. What they see is the chain and the pool as
 * they were before, until all of it is written; `onWritten` is called in the turn in which that ends.
 */
export async function transactInTurns<T>(
  parts: ChainParts,
  change: (changed: LongChangeParts, writer: ChainWriter) => Generator<void, T>,
  onWritten: () => void = () => {},
): Promise<T> {
  const { store, state } = parts;
  const begin = (writer: ChainWriter) => {
    pool = parts.pool.draft();
    sideBlocks = parts.sideBlocks.draft();
    return change({ ...parts, state: state.withReader(store.read), pool, sideBlocks }, writer);
  };
  let pool: PoolDraft | undefined;
  let sideBlocks: SideBlockDraft | undefined;
  return store.writeInTurns(begin, () => {
    state.reload();
    pool?.apply();
    sideBlocks?.apply();
    onWritten();
  });
}

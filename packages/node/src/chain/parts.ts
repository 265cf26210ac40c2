import type { ChainView, RuleViolation, TransactionCandidate } from "@anulo/consensus";
import type { SharedTurns } from "@anulo/limits";
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

/** A block that was appended, and the pool after it. */
export interface AppendedBlock {
  readonly incoming: IncomingBlock;
  /** Its transactions by id (hexadecimal); those that were in the pool with their entries. */
  readonly transactions: ReadonlyMap<string, PoolEntry | undefined>;
  /** The pool, which still contains the transactions in `mined`, of the blocks below. */
  readonly pool: PoolChanges;
  /** Transactions of blocks that left the chain, which are not in the pool yet. */
  readonly freed?: ReadonlyMap<string, TransactionCandidate> | undefined;
  /** Transactions (ids in hexadecimal) of the blocks appended so far that are in the pool still. */
  readonly mined?: ReadonlySet<string> | undefined;
}

/**
 * Called for every appended block, inside its write transaction, which may still fail: it only records facts for when
 * the block is announced.
 */
export type AppendObserver = (view: ChainView, appended: AppendedBlock) => void;

/** What every operation on the chain needs. There is one set per writer. */
export interface ChainParts extends PoolParts {
  readonly network: Network;
  readonly state: ChainState;
  readonly sideBlocks: SideBlocks;
  readonly proofs: Proofs;
  /** Blocks of branches that could not become the main chain, by id (hexadecimal), and the rule they broke. */
  readonly invalidBlocks: Map<string, RuleViolation>;
  readonly setAside: SetAsideTransactions;
  /** What fetching, judging and writing blocks share of the event loop. */
  readonly turns: SharedTurns;
  /** Blocks that need no proofs. */
  readonly confirmedBlocks: ConfirmedBlocks;
  readonly emit: (event: ChainEvent) => void;
  /** Left out where no observer needs more than the event that a block was added. */
  readonly onAppended?: AppendObserver | undefined;
}

/** The parts for a change of the chain, in which state and pool may be drafts that only the change sees. */
export interface ChangeParts extends Omit<ChainParts, "pool" | "sideBlocks"> {
  readonly pool: PoolChanges;
}

/** The same for a change over many turns of the event loop, where all of these are drafts. */
export interface LongChangeParts extends ChangeParts {
  readonly sideBlocks: SideBlockDraft;
}

/** Runs all steps in this turn of the event loop. */
export function atOnce(steps: Generator<void, void>): void {
  while (steps.next().done !== true);
}

/**
 * The same for a long change, which yields wherever other work may run first. Other readers see the chain and the pool
 * as they were before, until all of it is written; `onWritten` is called in the turn in which that happens.
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

import {
  type Checkpoint,
  chainContext,
  enforcedCheckpoints,
  type KnownBlocks,
  type SeedSchedule,
  verifyBlock,
  withCheckpoints,
} from "@anulo/consensus";
import { SharedTurns } from "@anulo/limits";
import { genesisBlock, type Network, writeBlock } from "@anulo/protocol";
import { openStore, type StoreOptions, type SyncMode } from "@anulo/storage";
import { createPool } from "../pool/pool.ts";
import { Refusals } from "../pool/refusals.ts";
import { createRefusedTransactions } from "../pool/refused-transactions.ts";
import { createSetAside } from "../pool/set-aside.ts";
import { createChainState } from "./chain-state.ts";
import { createConfirmedBlocks } from "./confirmed-blocks.ts";
import { createEvents, type Events } from "./events.ts";
import { newBlock, readIncomingBlock } from "./incoming-block.ts";
import { type AppendObserver, type ChainParts, transactInTurns } from "./parts.ts";
import { createProofCosts } from "./proof-costs.ts";
import { createProofs, type Discharge } from "./proofs.ts";
import { removeWrongBlocks } from "./remove-wrong-blocks.ts";
import { createSideBlocks, removeSideBlocks } from "./side-blocks.ts";

export interface OpenChainOptions extends Pick<StoreOptions, "memoryBytes" | "onMigration" | "signal"> {
  readonly network: Network;
  /** The database file; if left out, a temporary one. */
  readonly path?: string | undefined;
  /** Difficulty of every block, on test chains. */
  readonly fixedDifficulty?: bigint | undefined;
  /** When RandomX changes its seed, on test chains. */
  readonly seedSchedule?: SeedSchedule | undefined;
  /** Block ids that the chain must have, besides those built in for its network. */
  readonly checkpoints?: readonly Checkpoint[] | undefined;
  /** The known beginning of the chain, whose blocks need no proofs; if left out, every block is verified in full. */
  readonly knownBlocks?: KnownBlocks | undefined;
  /** When blocks are flushed to disk. */
  readonly syncMode?: SyncMode | undefined;
  /** Whether the blocks beside the main chain are kept over a restart. */
  readonly keepAltBlocks?: boolean | undefined;
  /** Weight (bytes) of waiting transactions above which the cheapest are dropped. */
  readonly maxPoolWeight?: number | undefined;
  /** Called when the disk fails: the chain must not be written any more. */
  readonly onFault?: ((fault: Error) => void) | undefined;
  /** Receives the errors that listeners of the chain throw. */
  readonly onBug?: ((bug: unknown) => void) | undefined;
  /** Called for every block inside its write transaction. */
  readonly onAppended?: AppendObserver | undefined;
  readonly discharge: Discharge;
  /** Unix seconds. */
  readonly now: () => number;
}

/** A chain that can be read and written until it is closed. */
export interface OpenChain {
  readonly parts: ChainParts;
  readonly events: Events;
  close(): Promise<void>;
}

/** Opens or creates the chain of a network with its pool; rejects with WrongDatabase. */
export async function openChain(options: OpenChainOptions): Promise<OpenChain> {
  const { network, fixedDifficulty, seedSchedule, discharge, now } = options;
  const { path, memoryBytes, syncMode, onFault, onMigration, signal } = options;
  const checkpoints = withCheckpoints(enforcedCheckpoints(network.name), options.checkpoints ?? []);
  const turns = new SharedTurns();
  const opening = { path, network: network.name, memoryBytes, syncMode, onFault, onMigration, signal, turns };
  const store = await openStore(opening);
  const { read, withoutCounting } = store;
  const events = createEvents(options.onBug);
  const confirmedBlocks = createConfirmedBlocks(options.knownBlocks, read);
  const knownBlockId = confirmedBlocks.idAt;
  const parts: ChainParts = {
    store,
    network,
    state: createChainState({
      ...{ read, network, fixedDifficulty, seedSchedule, checkpoints, knownBlockId, withoutCounting },
    }),
    pool: createPool(read, { maxWeight: options.maxPoolWeight, now }),
    sideBlocks: createSideBlocks(read),
    proofs: createProofs(discharge, {
      whenWritable: store.whenWritable,
      costOf: createProofCosts(() => parts.state.view()),
    }),
    invalidBlocks: new Map(),
    setAside: createSetAside(),
    refusedTransactions: createRefusedTransactions(),
    refusals: new Refusals(),
    confirmedBlocks,
    turns,
    now,
    emit: events.emit,
    onAppended: options.onAppended,
  };
  if (read.height() === 0) addGenesis(parts);
  await dropSideBlocks(parts, options.keepAltBlocks === true);
  await removeWrongBlocks(parts, checkpoints);
  return { parts, events, close: () => store.close() };
}

/** The first block is judged like any other, except that no block is below it. */
function addGenesis({ store, state, network, now }: ChainParts): void {
  const incoming = readIncomingBlock(writeBlock(genesisBlock(network)));
  const verified = verifyBlock(
    { block: incoming.block, transactions: [] },
    chainContext(state.view(), now()),
  );
  store.write((writer) => writer.appendBlock(newBlock(incoming, [], verified)));
  state.reload();
}

/**
 * Removes the side blocks of an earlier run, or at least those whose parent is missing and those beyond the limits.
 * Source: cryptonote_core.cpp `init`, option `keep-alt-blocks`.
 */
async function dropSideBlocks(parts: ChainParts, areKept: boolean): Promise<void> {
  if (parts.sideBlocks.count === 0) return;
  const { read } = parts.store;
  await transactInTurns(parts, function* ({ sideBlocks }, writer) {
    const loose = [...sideBlocks.roots()].filter(
      ({ parentId }) => !areKept || read.heightOf(parentId) === undefined,
    );
    yield* removeSideBlocks(sideBlocks, writer, sideBlocks.withDescendants(loose.map(({ key }) => key)));
  });
  await transactInTurns(parts, ({ sideBlocks }, writer) =>
    removeSideBlocks(sideBlocks, writer, sideBlocks.evictable("", 0)),
  );
}

import { chainContext, checkBlockSize, type Obligation, RuleViolation, verifyBlock } from "@anulo/consensus";
import { mapSliced } from "@anulo/limits";
import { equalBytes, toHex } from "@anulo/protocol";
import type { ChainWriter, NewBlock } from "@anulo/storage";
import { acceptBlock } from "./chain.ts";
import type { ChainState } from "./chain-state.ts";
import { type IncomingBlock, newBlock } from "./incoming-block.ts";
import { findSuppliedOrInPool, takeFromPool } from "./main-chain.ts";
import { type ChainParts, type ChangeParts, transactInTurns } from "./parts.ts";
import { createPendingBlocks, type PendingBlocks } from "./pending-blocks.ts";

/** One of the blocks breaks a rule; those before it were added. */
export class BadBlock extends Error {
  /** Its id, in hexadecimal. */
  readonly key: string;
  readonly violation: RuleViolation;

  constructor(key: string, violation: RuleViolation) {
    super(`block ${key}: ${violation.message}`, { cause: violation });
    this.name = "BadBlock";
    this.key = key;
    this.violation = violation;
  }
}

/** Blocks whose rules are checked: `written` resolves when they are on disk, or rejects with BadBlock or Outrun. */
export interface StagedBlocks {
  readonly written: Promise<void>;
}

/**
 * Adds runs of blocks, many to a transaction. While the proofs of one run are checked in worker threads and
 * the run before it is written, the rules of the next are checked against blocks that are not written yet.
 */
export interface BlockImporter {
  /**
   * Blocks that follow one another, as early as there is room for them: on top of what was staged before, or
   * wherever their parents are. One call at a time. Give the next run when this resolves.
   */
  stage(blocks: readonly IncomingBlock[]): Promise<StagedBlocks>;
}

/** The blocks were judged on top of others that did not make it, or of a chain that has changed: try again. */
export class Outrun extends Error {
  constructor() {
    super("the chain below these blocks has changed");
    this.name = "Outrun";
  }
}

interface VerifiedRun {
  readonly incoming: readonly IncomingBlock[];
  readonly stored: readonly NewBlock[];
  readonly obligations: readonly Obligation[];
}

/** What is known above the store; thrown away as a whole when something below it turns out otherwise. */
interface Ground {
  readonly pending: PendingBlocks;
  readonly state: ChainState;
  isLost: boolean;
}

/** Milliseconds of judging between two turns of the event loop: writing and reading take their turns, too. */
const SLICE_MS = 5;
/** Runs on their way to the disk at once: more would only wait for the threads. */
const MAX_STAGED = 3;
function newGround({ store, state }: ChainParts): Ground {
  const pending = createPendingBlocks(store.read);
  return { pending, state: state.over(pending.read), isLost: false };
}

/** Judges a run on the ground, block by block; throws RuleViolation or Outrun. */
async function judge(
  parts: ChainParts,
  ground: Ground,
  incoming: readonly IncomingBlock[],
): Promise<VerifiedRun> {
  const obligations: Obligation[] = [];
  const judgeNext = (block: IncomingBlock) => {
    if (ground.isLost) throw new Outrun();
    return judgeOne(parts, ground, { incoming: block, obligations });
  };
  return { incoming, stored: await mapSliced(incoming, judgeNext, { sliceMs: SLICE_MS }), obligations };
}

function judgeOne(
  parts: ChainParts,
  { state, pending }: Ground,
  { incoming, obligations }: { incoming: IncomingBlock; obligations: Obligation[] },
): NewBlock {
  const { block } = incoming;
  const find = findSuppliedOrInPool(parts, incoming);
  const transactions = block.transactionHashes.map((hash) => find(toHex(hash)));
  const context = chainContext(state.view(), parts.now());
  checkBlockSize(incoming.blob.length, context.limits);
  const verified = verifyBlock({ block, transactions }, context);
  const fromPool = block.transactionHashes.some((hash) => parts.pool.get(toHex(hash)) !== undefined);
  const open = fromPool ? parts.proofs.open(verified.obligations) : verified.obligations;
  for (const obligation of open) obligations.push(obligation);
  const stored = newBlock(
    incoming,
    transactions.filter((tx) => tx !== undefined),
    verified,
  );
  pending.push(stored);
  state.appended(stored);
  return stored;
}

/**
 * Writes a run whose proofs hold as one transaction over many turns of the event loop, so that a long fetch takes few
 * commits and nobody waits for them; throws Outrun.
 */
async function write(parts: ChainParts, ground: Ground, run: VerifiedRun): Promise<void> {
  const { incoming, stored } = run;
  const change = function* (changed: ChangeParts, writer: ChainWriter) {
    const { height, topId } = changed.state.view();
    const isOnTop = equalBytes(incoming[0]!.block.header.previousId, topId);
    if (ground.isLost || !isOnTop) throw new Outrun();
    for (const [i, block] of stored.entries()) {
      writer.appendBlock(block);
      changed.state.appended(block);
      yield* takeFromPool(changed, writer, incoming[i]!);
      yield;
    }
    return height;
  };
  // The moment the store has the blocks, they are pending no more.
  const height = await transactInTurns(parts, change, () => {
    for (let i = 0; i < stored.length; i++) ground.pending.shift();
  });
  for (const [i, { id }] of incoming.entries()) parts.emit({ type: "blockAdded", height: height + i, id });
}

/** One block after another, each proven before the next is looked at: slower, but it names the culprit. */
async function addOneByOne(parts: ChainParts, blocks: readonly IncomingBlock[]): Promise<void> {
  for (const incoming of blocks) {
    try {
      await acceptBlock(parts, incoming);
    } catch (error) {
      throw error instanceof RuleViolation ? new BadBlock(incoming.key, error) : error;
    }
  }
}

/** Makes the importer of a chain. */
export function createBlockImporter(parts: ChainParts): BlockImporter {
  let ground: Ground | undefined;
  let tail: Promise<unknown> = Promise.resolve();
  const inFlight = new Set<Promise<void>>();
  const lose = (lost: Ground | undefined) => {
    if (lost !== undefined) lost.isLost = true;
    if (ground === lost) ground = undefined;
  };
  const withCare = async (blocks: readonly IncomingBlock[]) => {
    lose(ground);
    await addOneByOne(parts, blocks);
  };
  /** After all that was staged before; a broken rule is looked for with care. */
  const inTurn = (blocks: readonly IncomingBlock[], run: () => Promise<void>): Promise<void> => {
    const written = tail.then(run).catch((error) => {
      if (error instanceof RuleViolation) return withCare(blocks);
      throw error;
    });
    inFlight.add(written);
    tail = written.catch(() => {}).then(() => inFlight.delete(written));
    return written;
  };
  const onGround = async (on: Ground, blocks: readonly IncomingBlock[]): Promise<StagedBlocks> => {
    try {
      const run = await judge(parts, on, blocks);
      const proven = parts.proofs.prove(run.obligations);
      proven.catch(() => {});
      const written = inTurn(blocks, async () => {
        if (on.isLost) throw new Outrun();
        await proven;
        await write(parts, on, run);
        await parts.store.settled();
      });
      written.catch(() => lose(on));
      return { written };
    } catch (error) {
      lose(on);
      return { written: inTurn(blocks, () => Promise.reject(error)) };
    }
  };
  return {
    async stage(blocks) {
      const fresh = blocks.slice(countKnown(parts, blocks));
      if (fresh[0] === undefined) return { written: Promise.resolve() };
      while (inFlight.size >= MAX_STAGED) await Promise.race(inFlight).catch(() => {});
      ground ??= newGround(parts);
      const isOnTop = equalBytes(fresh[0].block.header.previousId, ground.state.view().topId);
      if (isOnTop) return onGround(ground, fresh);
      const written = inTurn(fresh, () => withCare(fresh));
      await Promise.allSettled([written]);
      return { written };
    },
  };
}

/** How many blocks at the start of a run are on the main chain already. */
function countKnown({ store }: ChainParts, blocks: readonly IncomingBlock[]): number {
  const first = blocks.findIndex(({ id }) => store.read.heightOf(id) === undefined);
  return first === -1 ? blocks.length : first;
}

import { setImmediate } from "node:timers/promises";
import { chainContext, checkBlockSize, type Obligation, RuleViolation, verifyBlock } from "@anulo/consensus";
import { equalBytes, toHex } from "@anulo/protocol";
import type { NewBlock } from "@anulo/storage";
import { acceptBlock } from "./chain.ts";
import type { ChainState } from "./chain-state.ts";
import { type IncomingBlock, newBlock } from "./incoming-block.ts";
import { findSuppliedOrInPool, isForkNext, takeFromPool } from "./main-chain.ts";
import { atOnce, type ChainParts, transact, transactInTurns } from "./parts.ts";
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

/** Runs on their way to the disk at once: more would only wait for the threads. */
const MAX_STAGED = 3;
/** Milliseconds of work between two turns of the event loop. */
const TURN_MS = 5;

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
  const stored: NewBlock[] = [];
  let start = performance.now();
  for (const block of incoming) {
    if (performance.now() - start > TURN_MS) {
      await setImmediate();
      start = performance.now();
    }
    if (ground.isLost) throw new Outrun();
    stored.push(judgeOne(parts, ground, { incoming: block, obligations }));
  }
  return { incoming, stored, obligations };
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
  obligations.push(...(fromPool ? parts.proofs.open(verified.obligations) : verified.obligations));
  const stored = newBlock(
    incoming,
    transactions.filter((tx) => tx !== undefined),
    verified,
  );
  pending.push(stored);
  state.appended(stored);
  return stored;
}

/** Writes a run whose proofs hold, as many blocks to a transaction as one turn allows; throws Outrun. */
async function write(parts: ChainParts, ground: Ground, run: VerifiedRun): Promise<void> {
  let done = 0;
  while (done < run.stored.length) {
    if (done > 0) await setImmediate();
    const first = done;
    const part = { run, first };
    done = await parts.store.whenWritable(() => writeSome(parts, ground, part));
    if (done === first) done = await writeAcrossFork(parts, ground, part);
  }
}

interface RunPart {
  readonly run: VerifiedRun;
  /** Index of the first block that is not written. */
  readonly first: number;
}

/** The height at which the part goes on top; throws Outrun. */
function heightOf({ state }: Pick<ChainParts, "state">, { isLost }: Ground, { run, first }: RunPart): number {
  const { height, topId } = state.view();
  if (isLost || !equalBytes(run.incoming[first]!.block.header.previousId, topId)) throw new Outrun();
  return height;
}

/** Writes blocks of a run up to the last one before a hard fork; the index of the first that is left. */
function writeSome(parts: ChainParts, ground: Ground, part: RunPart): number {
  const height = heightOf(parts, ground, part);
  const { incoming, stored } = part.run;
  const start = performance.now();
  const done = transact(parts, (writer) => {
    let at = part.first;
    while (at < stored.length && !isForkNext(parts)) {
      writer.appendBlock(stored[at]!);
      parts.state.appended(stored[at]!);
      atOnce(takeFromPool(parts, writer, incoming[at]!));
      at++;
      if (performance.now() - start >= TURN_MS) break;
    }
    return at;
  });
  tellWritten(parts, ground, { part, height, done });
  return done;
}

/** Writes the last block before a hard fork, and judges the pool in turns; the index of the next one. */
async function writeAcrossFork(parts: ChainParts, ground: Ground, part: RunPart): Promise<number> {
  const { run, first } = part;
  const height = await transactInTurns(parts, function* (changed, writer) {
    const at = heightOf(changed, ground, part);
    writer.appendBlock(run.stored[first]!);
    changed.state.appended(run.stored[first]!);
    yield* takeFromPool(changed, writer, run.incoming[first]!);
    return at;
  });
  tellWritten(parts, ground, { part, height, done: first + 1 });
  return first + 1;
}

interface WrittenPart {
  readonly part: RunPart;
  readonly height: number;
  /** Index of the first block after it. */
  readonly done: number;
}

function tellWritten(parts: ChainParts, ground: Ground, { part, height, done }: WrittenPart): void {
  const { run, first } = part;
  for (let at = first; at < done; at++) {
    ground.pending.shift();
    parts.emit({ type: "blockAdded", height: height + at - first, id: run.incoming[at]!.id });
  }
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

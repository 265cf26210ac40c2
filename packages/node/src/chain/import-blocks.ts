import {
  chainContext,
  checkBlockSize,
  type JudgedHeader,
  type Obligation,
  RuleViolation,
  verifyHeaderAbove,
} from "@anulo/consensus";
import { mapSliced, TimeSlice } from "@anulo/limits";
import { equalBytes, toHex } from "@anulo/protocol";
import type { ChainWriter, NewBlock } from "@anulo/storage";
import { acceptBlock, checkHeaderAndWork } from "./chain.ts";
import type { ChainState } from "./chain-state.ts";
import { type FetchedTransaction, type IncomingBlock, withTransactions } from "./incoming-block.ts";
import { findSuppliedOrInPool, type JudgedBlock, judgeBlock, placeJudged } from "./main-chain.ts";
import { type ChainParts, type ChangeParts, transactInTurns } from "./parts.ts";
import { createPendingBlocks, type PendingBlocks } from "./pending-blocks.ts";
import { rowsToJudge } from "./rows-to-judge.ts";

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

/**
 * Blocks whose headers follow the rules: `written` resolves when they are on disk, or rejects with BadBlock, BadBytes
 * or ChainChanged.
 */
export interface StagedBlocks {
  readonly completion: Promise<void>;
}

/**
 * Adds runs of blocks, many to a transaction. The headers of a run are judged first, and nothing of its transactions
 * is read before its work is proven. While the proofs of one run are checked in worker threads and the run before it
 * is written, the rules of the next are checked against blocks that are not written yet.
 */
export interface BlockImporter {
  /**
   * Stages consecutive blocks as soon as there is room for them: on top of what was staged before, or wherever their
   * parents are. Only one call at a time: pass the next run when this resolves. With `isMoreComing`, blocks may wait to
   * be written together with the next ones.
   */
  stage(
    blocks: readonly FetchedBlock[],
    options?: { readonly isMoreComing?: boolean },
  ): Promise<StagedBlocks>;
  /** Writes what was staged, without waiting for more. */
  write(): void;
}

/** The blocks were judged on top of others that failed, or of a chain that has changed: the caller may try again. */
export class ChainChanged extends Error {
  constructor() {
    super("the chain below these blocks has changed");
    this.name = "ChainChanged";
  }
}

/** A block as it was fetched: its transactions remain bytes until its proof of work is checked. */
export interface FetchedBlock {
  readonly incoming: IncomingBlock;
  readonly txs: readonly FetchedTransaction[];
  /** Bytes of the block with its transactions. */
  readonly size: number;
}

interface JudgedRun {
  readonly incoming: readonly IncomingBlock[];
  readonly stored: readonly NewBlock[];
  readonly obligations: readonly Obligation[];
}

/**
 * The blocks that are judged but not yet written; discarded as a whole when something below them turns out to be
 * different.
 */
interface StagedChain {
  readonly pending: PendingBlocks;
  readonly state: ChainState;
  /** Headers above the pending blocks that follow the rules, oldest first. */
  readonly headers: JudgedHeader[];
  /**
   * The newest run on this chain; rejects if it, or one before it, is refused. The runs before that one are not
   * affected.
   */
  judging: Promise<unknown>;
  /** Whether the chain below has changed. */
  isLost: boolean;
}

/**
 * Runs are written together, because a commit also writes the pages above its rows, and a flush follows after a number
 * of commits. A group has at most so many blocks, and so many bytes, since a parsed block takes many times its bytes in
 * memory.
 */
const GROUP_BLOCKS = 400;
const GROUP_BYTES = 1024 * 1024;
/** Groups being written at the same time, besides the one that grows: more would only wait for the threads. */
const MAX_GROUPS = 2;

/** A run that is being judged, proven or written. */
interface StagedRun {
  readonly blocks: readonly FetchedBlock[];
  readonly judgement: Promise<JudgedRun>;
  readonly proven: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

/** Runs on the same staged chain, to be written as one transaction. */
interface Group {
  readonly on: StagedChain;
  readonly runs: StagedRun[];
  blocks: number;
  bytes: number;
}

function createStagedChain({ store, state }: ChainParts): StagedChain {
  const pending = createPendingBlocks(store.read);
  return {
    pending,
    state: state.withReader(pending.read),
    headers: [],
    judging: Promise.resolve(),
    isLost: false,
  };
}

/** The id (32 bytes) of the parent of the next block. */
function topOf({ headers, state }: StagedChain): Uint8Array {
  return headers.at(-1)?.id ?? state.view().topId;
}

function checkUnchanged({ isLost }: StagedChain): void {
  if (isLost) throw new ChainChanged();
}

/**
 * Judges the headers of a run on the staged chain; returns the proof-of-work obligations. Throws RuleViolation or
 * ChainChanged.
 */
async function judgeHeaders(
  parts: ChainParts,
  staged: StagedChain,
  blocks: readonly FetchedBlock[],
): Promise<Obligation[]> {
  const blocksOfRun = await mapSliced(
    blocks,
    ({ incoming }) => {
      checkUnchanged(staged);
      const context = chainContext(staged.state.view(), parts.now());
      const { headers } = staged;
      headers.push(verifyHeaderAbove(incoming, context, { headers, network: parts.network }));
      return headers.at(-1)!.verified.obligations;
    },
    { turns: parts.turns },
  );
  return blocksOfRun.flat();
}

/**
 * Reads and judges the blocks of a run one by one, after their headers; throws RuleViolation, BadBytes or ChainChanged.
 */
async function judgeRun(
  parts: ChainParts,
  staged: StagedChain,
  blocks: readonly FetchedBlock[],
): Promise<JudgedRun> {
  const incoming: IncomingBlock[] = [];
  const stored: NewBlock[] = [];
  const obligations: Obligation[] = [];
  const { turns } = parts;
  const slice = new TimeSlice({ turns });
  for (const block of blocks) {
    if (slice.isOver) await slice.yield();
    checkUnchanged(staged);
    const { isKnown } = staged.headers[0]!.verified;
    const whole =
      block.txs.length === 0
        ? block.incoming
        : await slice.wait(readTransactions(block, { withProofs: !isKnown, inPlace: true, turns }));
    const reading = parts.store.prefetch(() => rowsToJudge(whole, { withRings: !isKnown }));
    if (reading !== undefined) await slice.wait(reading);
    checkUnchanged(staged);
    const run = judgeStaged(parts, staged, whole);
    for (const obligation of run.obligations) obligations.push(obligation);
    incoming.push(whole);
    stored.push(run.stored);
  }
  slice.end();
  return { incoming, stored, obligations };
}

/** Judges the next block of the staged chain, whose header was checked. */
function judgeStaged(parts: ChainParts, staged: StagedChain, incoming: IncomingBlock): JudgedBlock {
  const { state, pending, headers } = staged;
  checkBlockSize(incoming.blob.length, chainContext(state.view(), parts.now()).limits);
  const find = findSuppliedOrInPool(parts, incoming);
  const header = headers[0]!.verified;
  const { stored, obligations } = judgeBlock({ state, now: parts.now }, incoming, { header, find });
  headers.shift();
  pending.push(stored);
  state.addBlock(stored);
  const { transactionHashes } = incoming.block;
  const fromPool = transactionHashes.some((hash) => parts.pool.get(toHex(hash)) !== undefined);
  return { stored, obligations: fromPool ? parts.proofs.unproven(obligations) : obligations };
}

function readTransactions(
  { incoming, txs }: FetchedBlock,
  options?: Parameters<typeof withTransactions>[2],
): Promise<IncomingBlock> {
  return withTransactions(incoming, txs, options);
}

/**
 * Writes runs whose proofs hold, as one transaction over many turns of the event loop, so that a long fetch takes few
 * commits and nothing waits long for them; throws ChainChanged.
 */
async function write(parts: ChainParts, staged: StagedChain, runs: readonly JudgedRun[]): Promise<void> {
  const incoming = runs.flatMap((run) => run.incoming);
  const stored = runs.flatMap((run) => run.stored);
  const change = function* (changed: ChangeParts, writer: ChainWriter) {
    const { height, topId } = changed.state.view();
    const isOnTop = equalBytes(incoming[0]!.block.header.previousId, topId);
    if (staged.isLost || !isOnTop) throw new ChainChanged();
    for (const [i, block] of stored.entries()) {
      yield* placeJudged(changed, writer, { incoming: incoming[i]!, stored: block });
      yield;
    }
    return height;
  };
  // As soon as the store has the blocks, they are no longer pending.
  const height = await transactInTurns(parts, change, () => {
    for (let i = 0; i < stored.length; i++) staged.pending.shift();
  });
  for (const [i, { id }] of incoming.entries()) parts.emit({ type: "blockAdded", height: height + i, id });
}

/**
 * Adds one block after another, each proven before the next is judged: slower, but it identifies the block at fault.
 */
async function addOneByOne(parts: ChainParts, blocks: readonly FetchedBlock[]): Promise<void> {
  for (const block of blocks) {
    const { incoming } = block;
    try {
      if ((await checkHeaderAndWork(parts, incoming)) === "known") continue;
      await acceptBlock(parts, await readTransactions(block));
    } catch (error) {
      throw error instanceof RuleViolation ? new BadBlock(incoming.key, error) : error;
    }
  }
}

/** Creates the importer of a chain. */
export function createBlockImporter(parts: ChainParts): BlockImporter {
  let current: StagedChain | undefined;
  let growing: Group | undefined;
  let tail: Promise<unknown> = Promise.resolve();
  const inFlight = new Set<Promise<void>>();
  const retire = (stagedChain: StagedChain) => {
    if (current === stagedChain) current = undefined;
  };
  const abandon = (lost: StagedChain) => {
    lost.isLost = true;
    retire(lost);
  };
  const addSeparately = async (blocks: readonly FetchedBlock[]) => {
    if (current !== undefined) abandon(current);
    await addOneByOne(parts, blocks);
  };
  /** The block that breaks a rule is found by adding blocks one by one; runs that failed otherwise are rejected. */
  const retrySeparately = async (runs: readonly StagedRun[], error: unknown): Promise<void> => {
    for (const run of runs) {
      if (error instanceof RuleViolation) await addSeparately(run.blocks).then(run.resolve, run.reject);
      else run.reject(error);
    }
  };
  /** Runs after everything that was begun before. */
  const inTurn = (run: () => Promise<void>): Promise<void> => {
    const done = tail.then(run);
    inFlight.add(done);
    tail = done.catch(() => {}).then(() => inFlight.delete(done));
    return done;
  };
  /** Judges a run once its proof of work is checked and the runs before it are judged. */
  const judgeInTurn = async (
    on: StagedChain,
    blocks: readonly FetchedBlock[],
    judgedHeaders: Promise<readonly Obligation[]>,
  ) => {
    const before = on.judging.catch(() => {
      throw new ChainChanged();
    });
    void before.catch(() => {});
    const work = await judgedHeaders;
    if (work.length > 0) await parts.proofs.prove(work);
    await before;
    return judgeRun(parts, on, blocks);
  };
  /**
   * Writes the runs up to the first that fails; if it broke a rule, its blocks are added one by one to find the one at
   * fault.
   */
  const writeGroup = async ({ on, runs }: Group): Promise<void> => {
    const good: JudgedRun[] = [];
    let failure: { readonly error: unknown } | undefined;
    for (const { judgement, proven } of runs) {
      try {
        const run = await judgement;
        await proven;
        good.push(run);
      } catch (error) {
        failure = { error };
        break;
      }
    }
    try {
      if (good.length > 0) await write(parts, on, good);
    } catch (error) {
      abandon(on);
      await retrySeparately(runs, error);
      return;
    }
    if (failure !== undefined) abandon(on);
    await parts.store.settled();
    for (const run of runs.slice(0, good.length)) run.resolve();
    const [bad, ...above] = runs.slice(good.length);
    for (const run of above) run.reject(new ChainChanged());
    if (bad !== undefined) await retrySeparately([bad], failure?.error);
  };
  const writeGrowing = () => {
    const group = growing;
    growing = undefined;
    if (group === undefined) return;
    void inTurn(() => writeGroup(group)).catch((error) => {
      abandon(group.on);
      for (const run of group.runs) run.reject(error);
    });
  };
  const addToGroup = (on: StagedChain, run: StagedRun) => {
    if (growing?.on !== on) writeGrowing();
    growing ??= { on, runs: [], blocks: 0, bytes: 0 };
    growing.runs.push(run);
    growing.blocks += run.blocks.length;
    growing.bytes += run.blocks.reduce((sum, { size }) => sum + size, 0);
  };
  const stageOn = async (on: StagedChain, blocks: readonly FetchedBlock[]): Promise<StagedBlocks> => {
    const work = judgeHeaders(parts, on, blocks);
    const judgement = judgeInTurn(on, blocks, work);
    const proven = judgement.then(({ obligations }) => parts.proofs.prove(obligations));
    for (const promise of [judgement, proven]) void promise.catch(() => retire(on));
    on.judging = judgement;
    const completion = new Promise<void>((resolve, reject) => {
      addToGroup(on, { blocks, judgement, proven, resolve, reject });
    });
    // The caller receives the rejection later, through `written`.
    void completion.catch(() => {});
    // The headers of the next run follow these.
    await work.catch(() => retire(on));
    return { completion };
  };
  return {
    async stage(blocks, { isMoreComing = false } = {}) {
      const fresh = blocks.slice(countKnown(parts, blocks));
      if (fresh[0] === undefined) return { completion: Promise.resolve() };
      while (inFlight.size >= MAX_GROUPS) await Promise.race(inFlight).catch(() => {});
      current ??= createStagedChain(parts);
      const isOnTop = equalBytes(fresh[0].incoming.block.header.previousId, topOf(current));
      if (isOnTop) {
        const staged = await stageOn(current, fresh);
        const isFull =
          growing !== undefined && (growing.blocks >= GROUP_BLOCKS || growing.bytes >= GROUP_BYTES);
        if (isFull || !isMoreComing) writeGrowing();
        return staged;
      }
      writeGrowing();
      const completion = inTurn(() => addSeparately(fresh));
      await Promise.allSettled([completion]);
      return { completion };
    },
    write: writeGrowing,
  };
}

/** Number of blocks at the start of a run that are on the main chain already. */
function countKnown({ store }: ChainParts, blocks: readonly FetchedBlock[]): number {
  const first = blocks.findIndex(({ incoming }) => store.read.heightOf(incoming.id) === undefined);
  return first === -1 ? blocks.length : first;
}

/** Walks the node's chain to its newest block, once for all wallets at about the same height. Runs in a scan thread. */
import { equalBytes } from "@anulo/protocol";
import { type Asked, ask, type Batch, historyOf, nonsense, piecesOf, type Source } from "./fetch-blocks.ts";
import { Begun, type Follower, type Seat, type SiftThreads } from "./followers.ts";
import { checkPlaces } from "./places.ts";

/**
 * From this many transactions on, half a second of work, other threads are requested to help. Coinbase transactions are
 * always read in this thread.
 */
const LONG_SCAN = 10_000;
/** Pieces under way per thread: each thread has the next piece ready while a response of the node is read here. */
const PIECES_PER_THREAD = 2;
/** Maximum number of blocks by which a wallet may be ahead of a walk that it waits for. */
const BLOCKS_AHEAD = 100;
/** Milliseconds that a walk waits for wallets whose queues are full, if others are ready. */
const SLOW_MS = 1000;

/**
 * `late`: the wallet did not take the blocks in time and continues by itself; `elsewhere`: its chain is not the one
 * that was walked.
 */
export type Outcome = "done" | "late" | "elsewhere";

export type Rider = {
  readonly follower: Follower;
  readonly end: (outcome: Outcome) => void;
  readonly fail: (error: unknown) => void;
};

/** Height of the first block that the follower needs, as far as it knows. */
export function beginOf({ task }: Follower): number {
  return task.startHeight > 0 ? task.startHeight : task.height;
}

/** Whether both would send the node the same request. */
function asksTheSame(a: Follower, b: Follower): boolean {
  return a.task.startHeight === b.task.startHeight && equalBytes(a.task.history[0]!, b.task.history[0]!);
}

/** Whether the last block that a wallet has scanned is one of these. */
function hasLastBlock(all: Batch["all"], { history, height, startHeight }: Follower["task"]): boolean {
  // The genesis block, last in each history, is not scanned.
  if (startHeight > 0 || history.length < 2) return false;
  const block = all[height - 1 - (all[0]?.height ?? 0)];
  return block !== undefined && equalBytes(block.id, history[0]!);
}

const isWithinReach = (from: number, height: number): boolean =>
  height >= from && height - from <= BLOCKS_AHEAD;

export class BlockWalk {
  readonly #source: Source;
  readonly #leader: Follower;
  readonly #genesis: Uint8Array;
  /** Wallets that receive the blocks, each with the height of its first block. */
  readonly #riders = new Map<Rider, number>();
  /** Wallets that are ahead, until the walk reaches them. */
  readonly #ahead = new Set<Rider>();
  /** Height of the first block of the next response. */
  #next: number | undefined;

  constructor(source: Source, leader: Rider) {
    this.#source = source;
    this.#leader = leader.follower;
    this.#genesis = leader.follower.task.history.at(-1)!;
    this.#next = beginOf(leader.follower);
    this.#riders.set(leader, 0);
  }

  /** Adds a wallet that starts at the same height or ahead of the walk; returns false if the walk cannot serve it. */
  join(rider: Rider, hasBegun = true): boolean {
    const { follower } = rider;
    if (!hasBegun && asksTheSame(this.#leader, follower)) {
      this.#riders.set(rider, 0);
      return true;
    }
    const isKnown = follower.task.startHeight === 0 && follower.task.history.length > 1;
    if (this.#next === undefined || !isKnown || !isWithinReach(this.#next, beginOf(follower))) return false;
    this.#ahead.add(rider);
    return true;
  }

  /** Resolves once the scan of every rider has ended. */
  async run(): Promise<void> {
    try {
      await this.#walk();
      for (const rider of this.#riders.keys()) rider.end("done");
    } catch (error) {
      for (const rider of this.#riders.keys()) rider.fail(error);
    }
    this.#next = undefined;
    for (const rider of this.#ahead) rider.end("elsewhere");
  }

  /**
   * Requests the next blocks while earlier ones are processed. An error is reported after all blocks before it were
   * processed.
   */
  async #walk(): Promise<void> {
    const line = new Line(this);
    const { history, startHeight } = this.#leader.task;
    let request: Asked = ask(this.#source, { history, startHeight }, undefined);
    let lastHeight = -1;
    for (;;) {
      while (!line.isEmpty && !request.isHere) await line.finish();
      const batch = await request.batch;
      if (lastHeight === -1) this.#begin(batch);
      else if (batch.blocks[0] !== undefined && batch.blocks[0].height <= lastHeight) {
        // The chain was reorganised: wallets that joined above this height have to go back as well.
        while (!line.isEmpty) await line.finish();
        for (const rider of this.#riders.keys()) this.#riders.set(rider, 0);
      }
      this.#takeAlong(batch);
      const last = batch.blocks.at(-1);
      const more = last !== undefined && last.height + 1 < batch.answer.current_height;
      this.#next = more ? last.height + 1 : undefined;
      if (more) {
        const ids = batch.blocks.map(({ id }) => id);
        request = ask(this.#source, { history: historyOf(ids, this.#genesis), startHeight: 0 }, last.id);
      }
      line.measure(batch);
      for (const piece of piecesOf(batch)) {
        line.begin(piece);
        while (line.isFull) await line.finish();
        if (this.#riders.size + this.#ahead.size === 0) return;
      }
      if (more && last.height > lastHeight) {
        lastHeight = last.height;
        continue;
      }
      while (!line.isEmpty) await line.finish();
      if (more) throw nonsense("the same blocks again");
      return;
    }
  }

  get seats(): Seat[] {
    return [...this.#riders].map(([{ follower }, from]) => ({ follower, from }));
  }

  get threads(): SiftThreads | undefined {
    for (const { follower } of this.#riders.keys())
      if (!follower.isGone && follower.threads !== undefined) return follower.threads;
    return undefined;
  }

  /** Passes a piece to all riders, and waits until they can take more. */
  async give(work: Begun): Promise<void> {
    const riders = new Map([...this.#riders.keys()].map((rider) => [rider.follower, rider]));
    await work.finish(this.seats, ({ follower }, error) => {
      const rider = riders.get(follower)!;
      this.#riders.delete(rider);
      rider.fail(error);
    });
    await this.#untilReady();
  }

  /**
   * Drops riders whose chain differs: if the node begins below the requested height, others may have left its chain
   * even lower. A node begins with the last block that it knows of the history, which wallets that have scanned it do
   * not receive again.
   */
  #begin({ all }: Batch): void {
    for (const rider of this.#riders.keys()) {
      const { task } = rider.follower;
      if (hasLastBlock(all, task)) this.#riders.set(rider, task.height);
      if (rider.follower === this.#leader || this.#leader.task.startHeight > 0) continue;
      // The leader's history has been checked; riders whose messages came as one with it have the same object.
      if (task.history === this.#leader.task.history) continue;
      try {
        checkPlaces(all.slice(0, 1), task);
      } catch {
        this.#drop(rider, "elsewhere");
      }
    }
  }

  /** Wallets whose last block is in this batch receive blocks from the next one on. */
  #takeAlong({ all }: Batch): void {
    const last = all.at(-1);
    if (last === undefined) return;
    for (const rider of this.#ahead) {
      const { task } = rider.follower;
      if (task.height - 1 > last.height) continue;
      this.#ahead.delete(rider);
      if (hasLastBlock(all, task)) this.#riders.set(rider, task.height);
      else rider.end("elsewhere");
    }
  }

  /**
   * Waits until all riders can take more; after a while, riders that cannot while others can continue by themselves.
   */
  async #untilReady(): Promise<void> {
    for (const rider of this.#riders.keys()) if (rider.follower.isGone) this.#drop(rider, "done");
    const waits = [...this.#riders.keys()].flatMap(({ follower }) => follower.whenReady() ?? []);
    if (waits.length === 0) return;
    const all = Promise.all(waits);
    if (this.#riders.size === 1) await all;
    else await orAfter(SLOW_MS, all);
    const riders = [...this.#riders.keys()];
    const slow = riders.filter(({ follower }) => follower.whenReady() !== undefined);
    if (slow.length < riders.length) for (const rider of slow) this.#drop(rider, "late");
    else if (slow.length > 0) await this.#untilReady();
  }

  #drop(rider: Rider, outcome: Outcome): void {
    this.#riders.delete(rider);
    rider.end(outcome);
  }
}

async function orAfter(ms: number, task: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([task, over]);
  clearTimeout(timer);
}

/** Pieces whose first half is under way, lowest height first. */
class Line {
  readonly #walk: BlockWalk;
  readonly #jobs: Begun[] = [];
  #threads: SiftThreads | undefined;

  constructor(walk: BlockWalk) {
    this.#walk = walk;
  }

  get isEmpty(): boolean {
    return this.#jobs.length === 0;
  }

  get isFull(): boolean {
    return this.#jobs.length > PIECES_PER_THREAD * (this.#threads?.count ?? 0);
  }

  /** Uses other threads once the scan, as estimated from this batch, is long. */
  measure({ blocks, answer }: Batch): void {
    if (blocks.length === 0) return;
    const here = blocks.reduce((sum, { transactionHashes }) => sum + transactionHashes.length, 0);
    const ahead = (here / blocks.length) * (answer.current_height - blocks[0]!.height);
    if (ahead >= LONG_SCAN) this.#threads = this.#walk.threads;
  }

  begin(piece: Batch): void {
    this.#jobs.push(new Begun(piece, this.#walk.seats, this.#threads));
  }

  /** Runs the second half of the lowest piece. */
  async finish(): Promise<void> {
    await this.#walk.give(this.#jobs.shift()!);
  }
}

/** Walks the node's chain to its newest block, for all wallets of about one height at once. Runs in a scan thread. */
import { equalBytes } from "@anulo/protocol";
import { type Asked, ask, type Batch, historyOf, nonsense, piecesOf, type Source } from "./fetch-blocks.ts";
import { Begun, type Follower, type Seat, type SiftThreads } from "./followers.ts";
import { checkPlaces } from "./places.ts";

/** From so many transactions on, half a second of work, other threads are asked to help. Miners' are read here anyway. */
const LONG_SCAN = 10_000;
/** Pieces under way for each thread: it has the next at hand while an answer of the node is read here. */
const PIECES_PER_THREAD = 2;
/** Blocks a wallet may be ahead of a walk that it waits for. */
const BLOCKS_AHEAD = 100;
/** So long a walk waits for those who are slow to take its blocks, where others are ready. */
const SLOW_MS = 1000;

/** `late`: it was too slow and goes on by itself; `elsewhere`: its chain is not the one that was walked. */
export type Outcome = "done" | "late" | "elsewhere";

export type Rider = {
  readonly follower: Follower;
  readonly end: (outcome: Outcome) => void;
  readonly fail: (error: unknown) => void;
};

/** Height of the first block it takes, as far as it knows. */
export function beginOf({ task }: Follower): number {
  return task.startHeight > 0 ? task.startHeight : task.height;
}

/** Whether both would ask the node the same. */
function asksTheSame(a: Follower, b: Follower): boolean {
  return a.task.startHeight === b.task.startHeight && equalBytes(a.task.history[0]!, b.task.history[0]!);
}

const isWithinReach = (from: number, height: number): boolean =>
  height >= from && height - from <= BLOCKS_AHEAD;

export class BlockWalk {
  readonly #source: Source;
  readonly #leader: Follower;
  readonly #genesis: Uint8Array;
  /** With the height from which on they take blocks. */
  readonly #riders = new Map<Rider, number>();
  /** Those who are ahead, until the walk reaches them. */
  readonly #ahead = new Set<Rider>();
  /** Height of the first block of an answer that is to come. */
  #next: number | undefined;

  constructor(source: Source, leader: Rider) {
    this.#source = source;
    this.#leader = leader.follower;
    this.#genesis = leader.follower.task.history.at(-1)!;
    this.#next = beginOf(leader.follower);
    this.#riders.set(leader, 0);
  }

  /** Takes one along that has not farther to go; false where it can't. */
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

  /** Ends once every rider has. */
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

  /** What fails is told after all that came before it. The next answer of the node is on its way meanwhile. */
  async #walk(): Promise<void> {
    const line = new Line(this);
    const { history, startHeight } = this.#leader.task;
    let asked: Asked = ask(this.#source, { history, startHeight }, undefined);
    let lastHeight = -1;
    for (;;) {
      while (!line.isEmpty && !asked.isHere) await line.finish();
      const batch = await asked.batch;
      if (lastHeight === -1) this.#checkStart(batch);
      else if (batch.blocks[0] !== undefined && batch.blocks[0].height <= lastHeight) {
        // The chain was reorganised: those who joined above that place have to go back as well.
        while (!line.isEmpty) await line.finish();
        for (const rider of this.#riders.keys()) this.#riders.set(rider, 0);
      }
      this.#takeAlong(batch);
      const last = batch.blocks.at(-1);
      const more = last !== undefined && last.height + 1 < batch.answer.current_height;
      this.#next = more ? last.height + 1 : undefined;
      if (more) {
        const ids = batch.blocks.map(({ id }) => id);
        asked = ask(this.#source, { history: historyOf(ids, this.#genesis), startHeight: 0 }, last.id);
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

  /** Gives a piece to all who ride, and waits for them. */
  async give(begun: Begun): Promise<void> {
    const riders = new Map([...this.#riders.keys()].map((rider) => [rider.follower, rider]));
    await begun.finish(this.seats, ({ follower }, error) => {
      const rider = riders.get(follower)!;
      this.#riders.delete(rider);
      rider.fail(error);
    });
    await this.#untilReady();
  }

  /** Where the node begins lower than it was asked to, others may have parted from its chain lower still. */
  #checkStart({ all }: Batch): void {
    for (const rider of this.#riders.keys()) {
      if (rider.follower === this.#leader || this.#leader.task.startHeight > 0) continue;
      try {
        checkPlaces(all.slice(0, 1), rider.follower.task);
      } catch {
        this.#drop(rider, "elsewhere");
      }
    }
  }

  /** Those whose last block is among these ride from the next on. */
  #takeAlong({ all }: Batch): void {
    const [first, last] = [all[0], all.at(-1)];
    if (first === undefined || last === undefined) return;
    for (const rider of this.#ahead) {
      const { history, height } = rider.follower.task;
      const own = height - 1;
      if (own > last.height) continue;
      this.#ahead.delete(rider);
      const block = all[own - first.height];
      if (block !== undefined && equalBytes(block.id, history[0]!)) this.#riders.set(rider, height);
      else rider.end("elsewhere");
    }
  }

  /** Until all take more; those who don't while others do go on by themselves after a while. */
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

/** Pieces whose first half is under way, lowest first. */
class Line {
  readonly #walk: BlockWalk;
  readonly #begun: Begun[] = [];
  #threads: SiftThreads | undefined;

  constructor(walk: BlockWalk) {
    this.#walk = walk;
  }

  get isEmpty(): boolean {
    return this.#begun.length === 0;
  }

  get isFull(): boolean {
    return this.#begun.length > PIECES_PER_THREAD * (this.#threads?.count ?? 0);
  }

  /** Takes threads once the scan, as far as this batch tells, has much before it. */
  measure({ blocks, answer }: Batch): void {
    if (blocks.length === 0) return;
    const here = blocks.reduce((sum, { transactionHashes }) => sum + transactionHashes.length, 0);
    const ahead = (here / blocks.length) * (answer.current_height - blocks[0]!.height);
    if (ahead >= LONG_SCAN) this.#threads = this.#walk.threads;
  }

  begin(piece: Batch): void {
    this.#begun.push(new Begun(piece, this.#walk.seats, this.#threads));
  }

  /** The second half of the lowest. */
  async finish(): Promise<void> {
    await this.#walk.give(this.#begun.shift()!);
  }
}

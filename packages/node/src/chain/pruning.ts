import { randomBytes } from "node:crypto";
import { TimeSlice } from "@anulo/limits";
import { PRUNING_LOG_STRIPES, pruningSeed } from "@anulo/protocol";
import { type ChainStore, isPrunedCorrectly, type PruneStep } from "@anulo/storage";

/** Removes the prunable parts of old transactions, a few at a time beside all other work. */
export interface Pruner {
  /**
   * Enables pruning of the database, with a random stripe unless it has one, and prunes the existing blocks; resolves
   * when that is done.
   */
  prune(): Promise<void>;
  /** Whether the stored data is what the database's pruning seed requires. */
  check(): Promise<boolean>;
  stop(): Promise<void>;
}

export interface PrunerOptions {
  /** Receives the progress from time to time. */
  readonly onProgress?: ((step: PruneStep) => void) | undefined;
  /** Milliseconds between checks for blocks that have become old enough. */
  readonly interval?: number | undefined;
}

/** About five milliseconds of work. */
const TRANSACTIONS_PER_TURN = 128;
const INTERVAL_MS = 60_000;
const PROGRESS_MS = 5000;

function randomStripe(): number {
  return 1 + (randomBytes(1)[0]! % 2 ** PRUNING_LOG_STRIPES);
}

/** Starts the pruner of a database; a database that is not pruned remains so until `prune` is called. */
export function createPruner(store: ChainStore, options: PrunerOptions = {}): Pruner {
  const { onProgress = () => {}, interval = INTERVAL_MS } = options;
  let isStopped = false;
  let running: Promise<void> | undefined;
  const pruneAll = async () => {
    let reportedAt = performance.now();
    while (!isStopped) {
      const step = await store.whenWritable(() =>
        store.write((writer) => writer.pruneOn(TRANSACTIONS_PER_TURN)),
      );
      const isDone = step.height >= step.end;
      if (isDone || performance.now() - reportedAt > PROGRESS_MS) {
        if (!isDone || step.dropped > 0) onProgress(step);
        reportedAt = performance.now();
      }
      if (isDone) return;
      await new TimeSlice().yield();
    }
  };
  const run = (): Promise<void> => {
    running ??= pruneAll().finally(() => {
      running = undefined;
    });
    return running;
  };
  // A failing write is reported by the store itself.
  const continuePruning = () => void (store.read.pruningSeed() === 0 ? undefined : run().catch(() => {}));
  const timer = setInterval(continuePruning, interval).unref();
  return {
    async prune() {
      await store.whenWritable(() => {
        if (store.read.pruningSeed() !== 0) return;
        const seed = pruningSeed(randomStripe());
        store.write((writer) => writer.startPruning(seed));
      });
      return run();
    },
    async check() {
      const slice = new TimeSlice();
      for (let height = 0; height < store.read.height() && !isStopped; height++) {
        if (!isPrunedCorrectly(store.read, height)) return false;
        if (slice.isOver) await slice.yield();
      }
      return true;
    },
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await running?.catch(() => {});
    },
  };
}

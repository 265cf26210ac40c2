import { setTimeout as delay } from "node:timers/promises";
import { TimeSlice } from "@anulo/limits";
import type { ZmqPublisher } from "@anulo/rpc";

/** One message to be published. */
export interface NewsItem {
  readonly topic: string;
  /** Bytes of the blocks and transactions it is made of: about what it holds until it is published. */
  readonly bytes: number;
  /** Makes its text, with a pause wherever others may go first. */
  write(): Generator<void, string>;
}

export interface NewsQueue {
  /** Publishes these in their order, soon; each only if somebody wants it then. */
  push(items: readonly NewsItem[]): void;
  /** Drops what waits; resolves when nothing is being written any more. */
  stop(): Promise<void>;
}

/** What news may cost; listed in docs/limits.md. */
export const newsLimits = {
  /** Bytes of blocks and transactions in news that wait to be written: with more, subscribers are too slow to be served. */
  waitingBytes: 32 * 1024 * 1024,
  /** In a run of many messages, subscribers get a moment to read when one has not read this much (bytes). */
  unreadBytes: 256 * 1024,
  /** Milliseconds they get at most each time. */
  patienceMs: 100,
} as const;

/** Milliseconds between two looks at what was read meanwhile. */
const POLL_MS = 5;

/** Writes news in slices, one after another. `onBug` receives what writing threw. */
export function createNewsQueue(publisher: ZmqPublisher, onBug: (error: unknown) => void): NewsQueue {
  const waiting: NewsItem[] = [];
  let bytes = 0;
  let running: Promise<void> | undefined;

  /** Lets subscribers read on, where many messages follow one another. */
  const waitForReaders = async () => {
    const until = performance.now() + newsLimits.patienceMs;
    while (waiting.length > 0 && publisher.unread > newsLimits.unreadBytes && performance.now() < until)
      await delay(POLL_MS);
  };
  const publish = async (item: NewsItem, slice: TimeSlice) => {
    if (!publisher.isWanted(item.topic)) return;
    const steps = item.write();
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done === true) {
        publisher.publish(item.topic, step.value);
        return;
      }
      if (slice.isOver) await slice.yield();
    }
  };
  const run = async () => {
    const slice = new TimeSlice();
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      bytes -= item.bytes;
      try {
        await publish(item, slice);
      } catch (error) {
        onBug(error);
      }
      if (slice.isOver) await slice.yield();
      await slice.wait(waitForReaders());
    }
    running = undefined;
  };
  return {
    push(items) {
      for (const item of items) {
        if (!publisher.isWanted(item.topic)) continue;
        waiting.push(item);
        bytes += item.bytes;
      }
      if (bytes > newsLimits.waitingBytes) {
        waiting.length = 0;
        bytes = 0;
        publisher.dropAll("news come faster than they are read");
      }
      if (waiting.length > 0) running ??= run();
    },
    async stop() {
      waiting.length = 0;
      bytes = 0;
      await running;
    },
  };
}

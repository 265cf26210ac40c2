import { createHashQueue, type HashJob } from "./hash-queue.ts";
import type { PowAnswer, PowQuestion, ThreadResult, ThreadTask } from "./messages.ts";
import { createSearchRun, type NonceRun, type SearchRun } from "./search-run.ts";
import type { PowSearch } from "./work.ts";

/** A task for a thread, and what is to be done with its result. */
export interface Errand {
  readonly task: ThreadTask;
  /** The answers that follow from the result, which took so many milliseconds. */
  settle(result: ThreadResult, ms: number): PowAnswer[];
}

/** The questions that are open, and the order of the work they make. */
export interface WorkList {
  add(question: PowQuestion): void;
  /** The next errand for a thread that has the caches of these seeds (hexadecimal). */
  next(atHand: ReadonlySet<string>): Errand | undefined;
  /** Threads there is work for: those that verify, or more where a search asks for them. */
  threadsWanted(): number;
}

interface Search {
  readonly id: number;
  readonly search: PowSearch;
  readonly run: SearchRun;
}

/** An empty list for so many threads that verify: hashes come first, then seeds to prepare, then searches. */
export function createWorkList(threads: number, now: () => number): WorkList {
  const hashes = createHashQueue(now);
  const seeds: Uint8Array[] = [];
  const searches = new Map<number, Search>();
  const nextRun = (): Errand | undefined => {
    for (const search of searches.values()) {
      const run = search.run.take();
      if (run !== undefined) return tryErrand(searches, search, run);
    }
    return undefined;
  };
  return {
    add(question) {
      if (question.type === "hash") hashes.add(question);
      else if (question.type === "prepare") seeds.push(question.seedId);
      else if (question.type === "abandon") searches.delete(question.id);
      else
        searches.set(question.id, {
          ...question,
          run: createSearchRun(question.search, question.search.threads ?? threads),
        });
    },
    next(atHand) {
      const job = hashes.take(atHand);
      if (job !== undefined) return hashErrand(job);
      const seedId = seeds.pop();
      if (seedId !== undefined) return { task: { type: "prepare", seedId }, settle: () => [] };
      return nextRun();
    },
    threadsWanted() {
      const wanted = [...searches.values()].map(({ search }) => search.threads ?? 0);
      return Math.max(threads, ...wanted);
    },
  };
}

function reasonOf(result: ThreadResult): string {
  return result.type === "failed" ? result.reason : `an odd result: ${result.type}`;
}

function hashErrand({ id, work }: HashJob): Errand {
  return {
    task: { type: "hash", work },
    settle(result) {
      if (result.type === "hashed") return [{ type: "hashed", id, hash: result.hash }];
      return [{ type: "failed", id, reason: reasonOf(result) }];
    },
  };
}

function tryErrand(searches: Map<number, Search>, { id, search, run }: Search, tried: NonceRun): Errand {
  return {
    task: { type: "try", search, nonce: search.firstNonce + tried.offset, count: tried.count },
    settle(result, ms) {
      if (!searches.has(id)) return [];
      if (result.type !== "tried") {
        searches.delete(id);
        return [{ type: "failed", id, reason: reasonOf(result) }];
      }
      const progress = { type: "progress", id, hashes: result.hashes } as const;
      if (!run.finish(tried, { ...result, ms })) return [progress];
      searches.delete(id);
      return [progress, { type: "searched", id, found: run.found() }];
    },
  };
}

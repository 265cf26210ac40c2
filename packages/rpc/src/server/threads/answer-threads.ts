import type { Worker } from "node:worker_threads";
import { type MaybePromise, whenOver, whenReady } from "@anulo/limits";
import type { Call } from "../../define.ts";
import type { Json } from "../../json.ts";
import type { Logger } from "../../log/logger.ts";
import type { Answer } from "../answer.ts";
import type { RequestCaller, RequestInfo, Rules } from "../call.ts";
import { CallerLeft } from "../request-budget.ts";
import { AnswerThread } from "./answer-thread.ts";

/** A request for one call, before it is decided which thread answers it. */
export interface CallRequest {
  readonly call: Call;
  readonly path: string;
  readonly body: Uint8Array;
  /** Of a call of JSON-RPC; those of paths are parsed where they are answered. */
  readonly params?: Json;
  readonly request: RequestInfo;
}

/** Threads that answer requests which only read, beside the event loop. */
export interface AnswerThreads {
  /** The response of another thread while this one is busy; else, and for every error, that of `here`. */
  answer(
    callRequest: CallRequest,
    rules: Pick<Rules<never>, "log" | "onRead" | "onCall">,
    here: () => MaybePromise<Answer>,
  ): MaybePromise<Answer>;
  stop(): Promise<void>;
}

export interface AnswerThreadsOptions {
  readonly maxThreads: number;
  /** Estimated milliseconds of a request; undefined where only the service's own thread can answer it. */
  readonly costOf: (callRequest: CallRequest) => number | undefined;
  /** What handlers in a thread need of this one, for each request. */
  readonly facts: () => unknown;
  /** Called with each note of a handler in a thread. */
  readonly onNote: (note: unknown) => void;
  readonly startWorker: () => Worker;
  readonly log: Logger;
  /** Milliseconds without a task after which a thread ends. */
  readonly idleMs?: number;
  /** Milliseconds since an arbitrary start; never decreases. */
  readonly now?: () => number;
}

/** Milliseconds of processor time until a thread has loaded: as long must requests have waited until one is started. */
const START_COST_MS = 100;

/**
 * How many times as much as this thread a thread is given in a turn of the event loop: this one receives and sends, too,
 * and a thread should not run out of tasks before the next turn.
 */
const AHEAD = 2;

/** It takes some 20 MiB. */
const DEFAULT_IDLE_MS = 30_000;

/** Milliseconds for which none is started after one has failed: the next one may fail like it. */
const PAUSE_AFTER_ERROR_MS = 60_000;

/** Starts without threads. */
export function createAnswerThreads(options: AnswerThreadsOptions): AnswerThreads {
  const { facts, onNote, costOf } = options;
  const threads = createThreadPool(options);
  let isStopped = false;
  return {
    answer(callRequest, rules, here) {
      const { call, path, body, request } = callRequest;
      // Only this thread knows what a token allows.
      const costMs = isStopped || request.bearer !== undefined ? undefined : costOf(callRequest);
      if (costMs === undefined) return here();
      const thread = threads.firstFree(request);
      if (thread === undefined) {
        threads.countHere(costMs);
        return here();
      }
      const { dialect, restricted, budget, caller } = request;
      budget.reserveCopy();
      const run = async () => {
        const task = { path, body: new Uint8Array(body), dialect, restricted, facts: facts() };
        const { milliseconds, response } = await thread.run(task, costMs, caller.signal);
        caller.onWork(milliseconds);
        return response;
      };
      const response = whenOver(
        () => whenReady(budget.admit(call.cost), run),
        () => budget.releaseCopy(),
      );
      return whenReady(response, (built) => {
        if (caller.isGone) throw new CallerLeft();
        if (built === undefined) return measured(caller, here);
        const { type, bytes, seconds, notes } = built;
        for (const note of notes) onNote(note);
        rules.log?.info("call", { call: call.name, from: request.remoteAddress, request: request.id });
        rules.onRead?.();
        rules.onCall?.({ call: call.name, seconds, error: undefined });
        return {
          status: 200,
          type,
          body: Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length),
        };
      });
    },
    async stop() {
      isStopped = true;
      await threads.stop();
    },
  };
}

/** Counts the work until `work` returns, for a caller whose call has waited. */
function measured<T>(caller: RequestCaller, work: () => T): T {
  const since = performance.now();
  try {
    return work();
  } finally {
    caller.onWork(performance.now() - since);
  }
}

/** The threads, and what the service's own thread does in this turn of its event loop. */
interface ThreadPool {
  /** The thread to which a request is given; undefined if it is sooner answered here. */
  firstFree(request: Pick<RequestInfo, "restricted">): AnswerThread | undefined;
  /** Counts a request that is answered here, and starts a thread once many have waited for another. */
  countHere(costMs: number): void;
  stop(): Promise<void>;
}

function createThreadPool({
  maxThreads,
  startWorker,
  log,
  idleMs = DEFAULT_IDLE_MS,
  now = () => performance.now(),
}: AnswerThreadsOptions): ThreadPool {
  const threads = new Set<AnswerThread>();
  const ending = new Set<AnswerThread>();
  /** Estimated milliseconds of what is answered here in this turn. */
  let hereMs = 0;
  let waitedMs = 0;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  const start = () => {
    waitedMs = 0;
    const onError = (error: unknown) => {
      pausedUntil = now() + PAUSE_AFTER_ERROR_MS;
      log.error("a thread that answers calls has failed", { error });
    };
    const onGone = (thread: AnswerThread) => {
      threads.delete(thread);
      ending.add(thread);
      void thread.ended.then(() => ending.delete(thread));
    };
    try {
      threads.add(new AnswerThread({ startWorker, onGone, onError, idleMs, now }));
    } catch (error) {
      onError(error);
    }
  };
  return {
    firstFree(request) {
      let best: AnswerThread | undefined;
      for (const thread of threads) {
        if (!thread.isReady || thread.pendingMs >= AHEAD * hereMs || thread.holdsUp(request)) continue;
        if (best === undefined || thread.pendingMs < best.pendingMs) best = thread;
      }
      return best;
    },
    countHere(costMs) {
      if (hereMs > 0) {
        waitedMs += costMs;
        if (waitedMs > START_COST_MS && threads.size < maxThreads && now() >= pausedUntil) start();
      } else {
        setImmediate(() => {
          hereMs = 0;
        });
      }
      hereMs += costMs;
    },
    async stop() {
      await Promise.all([...threads, ...ending].map((thread) => thread.stop()));
    },
  };
}

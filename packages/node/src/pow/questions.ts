import type { DatasetStatus, Engine, PowAnswer, PowQuestion } from "./messages.ts";
import type { PowChild, PowChildOptions } from "./pow-child.ts";
import type { ProcessSettings } from "./process-settings.ts";

/**
 * Receives the number of hashes that a search has computed since the last report, and the total CPU time (ms) of the
 * process.
 */
export type OnProgress = (hashes: number, cpuMs: number) => void;

type SeedsInUse = Extract<PowQuestion, { readonly type: "seeds" }>;

type NumberedQuestion = Extract<PowQuestion, { readonly type: "hash" | "search" }>;

/** Questions to the hashing process, which is started, replaced and ended as they require. */
export interface Questions {
  /** Rejects with an Error when the process cannot answer; undefined when the question was abandoned. */
  ask(question: NumberedQuestion, onProgress?: OnProgress): Promise<PowAnswer | undefined>;
  abandon(id: number): void;
  /** Tells the process, and each that is started later, which seeds are in use. */
  useSeeds(seeds: SeedsInUse): void;
  stop(): Promise<void>;
}

export interface QuestionsOptions {
  readonly settings: () => ProcessSettings;
  /** Starts the process that answers them. */
  readonly start: (options: PowChildOptions) => PowChild;
  /** Receives which code computes RandomX, once that is determined. */
  readonly onEngine: (engine: Engine, reason: string | undefined) => void;
  readonly onDataset: (news: DatasetStatus) => void;
  /** Milliseconds without questions after which the process may end. */
  readonly idleMs: number;
}

/** Maximum number of questions sent at the same time; more would only wait there instead of here. */
const MAX_SENT = 64;
/** Number of processes that may end over a question before it is rejected. */
const MAX_EXITS = 2;

interface OpenQuestion {
  readonly question: NumberedQuestion;
  resolve(answer: PowAnswer | undefined): void;
  reject(reason: Error): void;
  readonly onProgress: OnProgress;
  isSent: boolean;
  exits: number;
}

/** Creates it without questions and without a process. */
export function createQuestions(options: QuestionsOptions): Questions {
  const open = new Map<number, OpenQuestion>();
  const { idleMs, onEngine, onDataset, settings, start } = options;
  let child: PowChild | undefined;
  let idle: NodeJS.Timeout | undefined;
  let seeds: SeedsInUse | undefined;
  let isStopped = false;
  const rest = () => {
    child?.disconnect();
    child = undefined;
  };
  /** Removes a question from the list, and sends those that waited for its place. */
  const close = (id: number): OpenQuestion | undefined => {
    const entry = open.get(id);
    if (!open.delete(id)) return undefined;
    sendMore();
    if (open.size > 0 || child === undefined) return entry;
    child.holdNode(false);
    clearTimeout(idle);
    idle = setTimeout(rest, idleMs).unref();
    return entry;
  };
  const onAnswer = (answer: PowAnswer) => {
    if (answer.type === "engine") onEngine(answer.engine, answer.reason);
    else if (answer.type === "dataset") onDataset(answer);
    else if (answer.type === "progress") open.get(answer.id)?.onProgress(answer.hashes, answer.cpuMs);
    else if (answer.type !== "failed") close(answer.id)?.resolve(answer);
    else close(answer.id)?.reject(new Error(`hashing failed: ${answer.reason}`));
  };
  const onExit = () => {
    child = undefined;
    const sent = [...open].filter(([, { isSent }]) => isSent);
    for (const [, entry] of sent) entry.isSent = false;
    const lost = sent.filter(([, entry]) => ++entry.exits === MAX_EXITS);
    // All at once: where nothing else is asked, no further process is started for questions that are given up.
    for (const [id] of lost) open.delete(id);
    for (const [, { reject }] of lost) reject(new Error("the hashing process ended"));
    sendMore();
  };
  const startChild = (): PowChild => {
    const started = start({ settings: settings(), onAnswer, onExit });
    // A process ends when it is idle: the seeds change less often than that.
    if (seeds !== undefined) started.send(seeds);
    return started;
  };
  const sendMore = () => {
    let sent = [...open.values()].filter(({ isSent }) => isSent).length;
    for (const entry of open.values()) {
      if (sent >= MAX_SENT || isStopped) return;
      if (entry.isSent) continue;
      child ??= startChild();
      entry.isSent = true;
      sent++;
      child.send(entry.question);
      child.holdNode(true);
    }
  };
  return {
    ask: (question, onProgress = () => {}) =>
      new Promise((resolve, reject) => {
        if (isStopped) return reject(new Error("hashing has been stopped"));
        clearTimeout(idle);
        open.set(question.id, { question, resolve, reject, onProgress, isSent: false, exits: 0 });
        sendMore();
      }),
    abandon(id) {
      if (open.get(id)?.isSent) child?.send({ type: "abandon", id });
      close(id)?.resolve(undefined);
    },
    useSeeds(inUse) {
      seeds = inUse;
      child?.send(inUse);
    },
    async stop() {
      isStopped = true;
      clearTimeout(idle);
      for (const { reject } of open.values()) reject(new Error("hashing has been stopped"));
      open.clear();
      await child?.kill();
    },
  };
}

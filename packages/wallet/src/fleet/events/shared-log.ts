/** The event log of a fleet, as each of its processes uses it: it is here, or another process is asked. */
import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { type EventPage, type EventQuery, packJson, unpackJson } from "@anulo/events";
import { toHex } from "@anulo/protocol";
import { NoAnswer, NotReached } from "@anulo/rpc";
import type { EventSink } from "../../events/follower.ts";
import { WalletRefusal } from "../../refusal.ts";
import type { OpenEvents, ServiceLog } from "../../service-events.ts";
import { elsewhere } from "../membership.ts";
import type { Router } from "../router.ts";
import { AppendQueue } from "./append-queue.ts";
import type { LogHolder } from "./log-holder.ts";
import {
  EVENT_LOG_PATH,
  errorOf,
  type LogAnswer,
  type LogFailure,
  type LogQuestion,
  MAX_ANSWER_BYTES,
} from "./log-requests.ts";

/** Milliseconds that are waited for another process to take the log, longer than that takes; less by one that leaves. */
const PATIENCE_MS = 12_000;
const LEAVING_PATIENCE_MS = 2000;
const RETRY_MS = 100;

export type SharedLogParts = {
  readonly holder: Pick<LogHolder, "here" | "owner" | "update">;
  readonly router: Pick<Router, "ask">;
  /** The id of this process's membership. */
  readonly process: () => string | undefined;
  /** Whether this process certainly has a wallet. */
  readonly isHere: (wallet: string) => boolean;
  readonly elapsed: () => number;
};

/** What is asked of the log, where it is here and where it is not. */
type Task<T> = {
  readonly here: (events: OpenEvents) => Promise<T>;
  readonly question: LogQuestion;
  /** Aborted where nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
  /** Whether it may be asked again though it may have been done. */
  readonly mayRepeat?: boolean;
};

/** The log can't be had; it is not known whether what was asked was done if `isUnknown`. */
const logMissing = (isUnknown = false) =>
  new WalletRefusal(
    "UNOWNED",
    isUnknown
      ? "The process that has the event log is gone, and may have done what was asked"
      : "No process of the fleet has the event log now, and nothing was done: ask again",
  );

export class SharedLog implements ServiceLog {
  readonly #parts: SharedLogParts;
  readonly #ending = new AbortController();
  readonly #queue: AppendQueue;
  #isLeaving = false;
  /** When the log could last be had. */
  #hadAt: number;
  #isAnswering = false;

  constructor(parts: SharedLogParts) {
    this.#parts = parts;
    this.#hadAt = parts.elapsed();
    // Everyone who waits for an event adds a listener.
    setMaxListeners(0, this.ended);
    this.#queue = new AppendQueue(async (body) => {
      const { owner } = this.#parts.holder;
      const value = await this.#ask(owner, body, this.ended);
      return value as readonly (LogFailure | null)[];
    });
  }

  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** Whether the log could be had when it was last asked for. */
  get isAnswering(): boolean {
    return this.#isAnswering;
  }

  /** From here on nothing waits long for a process that has the log. */
  beginToLeave(): void {
    this.#isLeaving = true;
  }

  close(): void {
    this.#ending.abort(logMissing());
  }

  cursorOf(source: Uint8Array): Promise<number | undefined> {
    return this.run<number | undefined>({
      here: ({ log }) => log.cursorOf(source),
      question: { ask: "cursor", source: toHex(source) },
    }).then((cursor) => cursor ?? undefined);
  }

  /**
   * Repeated until the log has it, or this process has the wallet no more: the log takes a change once. A source's next
   * change has to wait until then.
   */
  async append(entry: Parameters<EventSink["append"]>[0]): Promise<void> {
    await this.#untilHad(
      async () => {
        const { here } = this.#parts.holder;
        if (here !== undefined) return await here.log.append(entry);
        const failure = await this.#queue.append(entry);
        if (failure !== undefined) throw errorOf(failure);
      },
      () => {
        if (!this.#parts.isHere(entry.wallet)) throw elsewhere();
      },
    );
  }

  async read({ after, limit, wallet, types, accepts }: EventQuery): Promise<EventPage> {
    const page = await this.run<EventPage>({
      here: ({ log }) =>
        log.read({
          after,
          limit,
          ...(wallet !== undefined && { wallet }),
          ...(types !== undefined && { types }),
        }),
      question: { ask: "read", after, limit, wallet: wallet ?? null, types: types ? [...types] : null },
    });
    return accepts === undefined
      ? page
      : { ...page, events: page.events.filter((event) => accepts(event.wallet)) };
  }

  /** Also goes on when another process takes the log. */
  async waitForEvent(after: number, signal: AbortSignal): Promise<void> {
    const isOver = AbortSignal.any([signal, this.ended]);
    while (!isOver.aborted) {
      const last = await this.run<number>({
        here: async ({ log }) => {
          await log.waitForEvent(after, isOver);
          return log.last;
        },
        question: { ask: "wait", after },
        signal: isOver,
      }).catch((error: unknown) => {
        if (signal.aborted) return after;
        throw error;
      });
      if (last > after) return;
    }
    this.ended.throwIfAborted();
  }

  /** Has something done with the log, wherever it is. Throws `WalletRefusal` where no process has it for too long. */
  run<T>({ here: run, question, signal = this.ended, mayRepeat = true }: Task<T>): Promise<T> {
    const { holder } = this.#parts;
    const attempt = async () => {
      const { here, owner } = holder;
      if (here !== undefined) return await run(here);
      try {
        return (await this.#ask(owner, packJson(question as never), signal)) as T;
      } catch (error) {
        throw mayRepeat || !(error instanceof NoAnswer) ? error : logMissing(true);
      }
    };
    return this.#untilHad(attempt, () => signal.throwIfAborted());
  }

  async #untilHad<T>(attempt: () => Promise<T>, check: () => void): Promise<T> {
    const { elapsed, holder } = this.#parts;
    for (;;) {
      this.ended.throwIfAborted();
      check();
      try {
        const value = await attempt();
        this.#isAnswering = true;
        this.#hadAt = elapsed();
        return value;
      } catch (error) {
        if (isFinal(error)) throw error;
        check();
        if (this.#isAnswering) this.#hadAt = elapsed();
        this.#isAnswering = false;
        // Where the log can't be had for long nobody waits for it once more.
        const patienceMs = this.#isLeaving ? LEAVING_PATIENCE_MS : PATIENCE_MS;
        if (elapsed() - this.#hadAt >= patienceMs) throw logMissing();
      }
      await delay(RETRY_MS);
      await holder.update();
    }
  }

  /** Throws what the process says, `NotReached` and `NoAnswer`. */
  async #ask(owner: string | undefined, body: string, signal: AbortSignal): Promise<unknown> {
    const { router, process } = this.#parts;
    if (owner === undefined || owner === process()) throw new NotReached("no process has the log now");
    const answer = await router.ask(owner, {
      target: EVENT_LOG_PATH,
      body: Buffer.from(body),
      mostBytes: MAX_ANSWER_BYTES,
      signal,
    });
    if (answer.status !== 200) throw new NotReached(`the process answers ${answer.status}`);
    const { value, failure } = unpackJson(answer.body.toString()) as LogAnswer;
    if (failure !== undefined) throw errorOf(failure);
    return value ?? undefined;
  }
}

/** Whether asking again is of no use. */
const isFinal = (error: unknown): boolean => error instanceof RangeError || error instanceof WalletRefusal;

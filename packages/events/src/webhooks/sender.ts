import type { Clock } from "../clock.ts";
import type { LoggedEvent } from "../event.ts";
import { formatJson } from "../json.ts";
import type { EventLog } from "../log.ts";
import { DeadLetters } from "./dead-letters.ts";
import { type DeadLetter, type Hook, type HookProgress, hookRow, progressRow, startAt } from "./hook.ts";
import { type PostOptions, RefusedTarget } from "./post.ts";
import { signedHeaders } from "./signature.ts";
import { matchesPattern } from "./wallet-pattern.ts";

/** What all webhooks share. */
export interface SenderContext {
  readonly log: EventLog;
  readonly clock: Clock;
  /** Returns a number from 0 to below 1. */
  readonly random: () => number;
  readonly post: (options: Pick<PostOptions, "url" | "body" | "headers" | "signal">) => Promise<number>;
  /** Events that became dead letters. */
  givenUp: number;
}

/** An event that is given up. */
interface DeadDelivery {
  readonly event: LoggedEvent;
  readonly letter: Omit<DeadLetter, "sequence">;
}

const EVENTS_PER_READ = 64;
/** Number of filtered-out events after which the progress is written. */
const EVENTS_PER_NOTE = 1_000;
/**
 * Maximum number of events that were delivered and whose progress is not durable yet: as many are sent again, with the
 * same ids, by a service that was killed.
 */
const MAX_UNRECORDED = 64;
const ATTEMPT_MS = 15_000;
/** One failed request among others delays the next events little; a receiver that is away costs a few requests more. */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 6 * 3_600_000;
const GIVE_UP_MS = 3 * 86_400_000;
/**
 * Minimum number of attempts before an event is given up: a clock that was set forward, or a service that was stopped
 * for days, does not mean that the receiver was tried for days.
 */
const MIN_ATTEMPTS = 15;
const STORE_PAUSE_MS = 1_000;
const HTTP_GONE = 410;

/** Maximum milliseconds before the next attempt: they double with each attempt. */
const longestPause = (attempts: number): number =>
  Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), MAX_PAUSE_MS);

/** Milliseconds before the next attempt, half of them random. */
const pauseAfter = (attempts: number, random: number): number =>
  Math.round(longestPause(attempts) * (0.5 + random / 2));

/** Sends the events of the log to one webhook, in order, one at a time, and stores how far it has come. */
export class HookSender {
  readonly #context: SenderContext;
  readonly #stop = new AbortController();
  /** Aborts also when another service has taken the log, which continues to send from the stored position. */
  readonly #over: AbortSignal;
  readonly deadLetters: DeadLetters;
  #hook: Hook;
  #progress: HookProgress;
  #recordedSequence: number;
  /** Number of events that were delivered since the progress was last written. */
  #unrecorded = 0;
  #recording: Promise<void> | undefined;
  #running: Promise<void> = Promise.resolve();
  #enabling: Promise<void> | undefined;

  constructor(context: SenderContext, hook: Hook, progress: HookProgress) {
    this.#context = context;
    this.#over = AbortSignal.any([this.#stop.signal, context.log.ended]);
    this.#hook = hook;
    this.#progress = progress;
    this.#recordedSequence = progress.sequence;
    this.deadLetters = new DeadLetters(context.log.rows, hook.id);
  }

  get hook(): Hook {
    return this.#hook;
  }

  get progress(): HookProgress {
    return this.#progress;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#enabling?.catch(() => {});
    await this.#running;
  }

  /** Continues where it stopped, after the webhook was disabled. */
  async enable(): Promise<void> {
    this.#enabling ??= this.#enable().finally(() => {
      this.#enabling = undefined;
    });
    await this.#enabling;
  }

  /** Sends up to `limit` dead letters again, oldest first; those that are delivered are removed. */
  async replay(limit: number): Promise<{ delivered: number; failed: number }> {
    let [delivered, failed] = [0, 0];
    for await (const { event } of this.deadLetters.after(0, limit)) {
      if (this.#over.aborted) break;
      if ((await this.#attempt(event)) !== undefined) {
        failed++;
        continue;
      }
      await this.deadLetters.remove(event.sequence);
      delivered++;
    }
    return { delivered, failed };
  }

  async #enable(): Promise<void> {
    if (this.#hook.disabled === "") return;
    await this.#running;
    // Its rows may have been removed by now.
    if (this.#stop.signal.aborted) throw new RangeError("there is no such webhook any more");
    await this.#save({ hook: { ...this.#hook, disabled: "" }, progress: this.#progressFromStart() });
    if (!this.#stop.signal.aborted) this.start();
  }

  #progressFromStart(): HookProgress {
    return startAt(this.#progress.sequence, this.#progress.missed);
  }

  async #run(): Promise<void> {
    const { clock } = this.#context;
    while (!this.#over.aborted && this.#hook.disabled === "") {
      try {
        if (this.#unrecorded >= MAX_UNRECORDED) await this.#save({ progress: this.#progress });
        await this.#sendPage();
      } catch {
        // The store cannot be read or written now, or another service may have the log.
        await clock.delay(STORE_PAUSE_MS, this.#over);
      }
    }
    // What can't be recorded any more, as in a log that another service has taken, is sent again with the same ids.
    await this.#recording;
    if (this.#unrecorded > 0) await this.#save({ progress: this.#progress }).catch(() => {});
  }

  /**
   * Counts a delivered event. Its progress is written while the next events are sent: each write covers all that were
   * delivered until it began. Waits, and rejects, only where too many are not durable.
   */
  async #noteDelivered(progress: HookProgress): Promise<void> {
    this.#progress = progress;
    this.#unrecorded++;
    this.#recording ??= this.#recordUntilDone();
    if (this.#unrecorded >= MAX_UNRECORDED) await this.#save({ progress });
  }

  async #recordUntilDone(): Promise<void> {
    try {
      while (this.#unrecorded > 0) await this.#write({ progress: this.#progress });
    } catch {
      // The sender writes it again, and pauses where that fails.
    } finally {
      this.#recording = undefined;
    }
  }

  async #sendPage(): Promise<void> {
    const { log } = this.#context;
    await log.waitForEvent(this.#progress.sequence, this.#over);
    const after = this.#progress.sequence;
    const types = this.#hook.types.length > 0 ? { types: new Set(this.#hook.types) } : {};
    const { events, next, oldest } = await log.read({ after, limit: EVENTS_PER_READ, ...types });
    if (oldest > after + 1) {
      this.#progress = startAt(oldest - 1, this.#progress.missed + oldest - 1 - after);
    }
    for (const event of events) {
      if (this.#over.aborted) return;
      if (this.#isFor(event)) await this.#sendUntilOver(event);
      else this.#skipTo(event.sequence);
      if (this.#hook.disabled !== "") return;
    }
    if (this.#over.aborted) return;
    this.#skipTo(next);
    if (next - this.#recordedSequence >= EVENTS_PER_NOTE) await this.#save({ progress: this.#progress });
  }

  #isFor({ wallet }: LoggedEvent): boolean {
    const { wallets } = this.#hook;
    return wallets.length === 0 || wallets.some((pattern) => matchesPattern(wallet, pattern));
  }

  #skipTo(sequence: number): void {
    if (sequence > this.#progress.sequence) this.#progress = startAt(sequence, this.#progress.missed);
  }

  /** Sends an event until it is delivered, is given up, or must not be sent any more. */
  async #sendUntilOver(event: LoggedEvent): Promise<void> {
    const { clock, log, random } = this.#context;
    for (;;) {
      // The clock may have been ahead when `next` was computed.
      const { next: due, attempts: made } = this.#progress;
      const pause = Math.min(due - clock.now(), longestPause(made));
      if (pause > 0) await clock.delay(pause, this.#over);
      if (this.#over.aborted) return;
      if (!log.isHeld) throw new Error("another service may have the log");
      const failure = await this.#attempt(event);
      if (this.#over.aborted) return;
      const done = startAt(event.sequence, this.#progress.missed);
      if (failure === undefined) return await this.#noteDelivered(done);
      if (failure === HTTP_GONE) {
        return await this.#save({
          hook: { ...this.#hook, disabled: "410 Gone" },
          progress: this.#progressFromStart(),
        });
      }
      const now = clock.now();
      const attempts = this.#progress.attempts + 1;
      const since = Math.min(this.#progress.since || now, now);
      if (now - since >= GIVE_UP_MS && attempts >= MIN_ATTEMPTS) {
        const letter = { time: Math.floor(now / 1000), attempts, reason: String(failure) };
        return await this.#save({ progress: done }, { event, letter });
      }
      const next = now + pauseAfter(attempts, random());
      await this.#save({ progress: { ...this.#progress, attempts, since, next } });
    }
  }

  /**
   * Makes one attempt. Returns undefined if it was delivered; else the status of the response, or why there is none.
   */
  async #attempt(event: LoggedEvent): Promise<number | string | undefined> {
    const { log, clock, post } = this.#context;
    const over = new AbortController();
    const end = () => over.abort(new Error("stopped"));
    this.#over.addEventListener("abort", end);
    void clock
      .delay(ATTEMPT_MS, over.signal)
      .then(() => over.abort(new Error(`no response within ${ATTEMPT_MS / 1000} seconds`)));
    const message = {
      id: `${log.id}_${event.sequence}`,
      timestamp: Math.floor(clock.now() / 1000),
      body: formatJson(event),
    };
    try {
      const status = await post({
        url: new URL(this.#hook.url),
        body: message.body,
        headers: signedHeaders(message, this.#hook.secret),
        signal: over.signal,
      });
      return status >= 200 && status < 300 ? undefined : status;
    } catch (error) {
      return reasonOf(error, over.signal);
    } finally {
      end();
      this.#over.removeEventListener("abort", end);
    }
  }

  /** Changes the progress once it is durable. */
  async #save(state: { hook?: Hook; progress: HookProgress }, dead?: DeadDelivery): Promise<void> {
    await this.#recording;
    await this.#write(state, dead);
    if (dead !== undefined) this.#context.givenUp++;
    this.#hook = state.hook ?? this.#hook;
    this.#progress = state.progress;
  }

  async #write(state: { hook?: Hook; progress: HookProgress }, dead?: DeadDelivery): Promise<void> {
    const { hook, progress } = state;
    const covered = this.#unrecorded;
    await this.#context.log.rows.write(async (rows) => {
      if (dead !== undefined) await this.deadLetters.add(rows, dead.event, dead.letter);
      if (hook !== undefined) rows.put(hookRow(hook));
      rows.put(progressRow(this.#hook.id, progress));
      return true;
    });
    this.#unrecorded -= covered;
    this.#recordedSequence = progress.sequence;
  }
}

/** Describes an error without repeating any part of the address: by a system error code, or by our own text. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof RefusedTarget) return error.message;
  if (signal.aborted) return (signal.reason as Error).message;
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" ? code : "the connection failed";
}

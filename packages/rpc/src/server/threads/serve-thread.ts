import type { MessagePort } from "node:worker_threads";
import { type MaybePromise, whenFailed, whenReady } from "@anulo/limits";
import type { Implemented } from "../../define.ts";
import type { Answer, Body } from "../answer.ts";
import type { CallEnd, RequestInfo } from "../call.ts";
import { type Caller, CallerShare } from "../caller-share.ts";
import type { Limits } from "../limits.ts";
import { RequestBudget } from "../request-budget.ts";
import { type Answerer, createAnswerer } from "../service.ts";
import type { MessageOfThread, MessageToThread, TaskResult, ThreadResponse, ThreadTask } from "./messages.ts";

/** The calls that a thread answers. */
export interface ThreadService<Context> {
  /** The port to the service's own thread. */
  readonly port: MessagePort;
  readonly calls: readonly Implemented<Context>[];
  /** Limits of the owner's ports, and of those for strangers. */
  readonly limits: { readonly owner: Limits; readonly strangers: Limits };
  /** Returns how many database rows this thread has read. */
  readonly rowsRead: () => number;
  /** Creates the context of a handler, which may `note` what the service's own thread has to know, as cloneable values. */
  readonly contextOf: (request: RequestInfo, task: ContextTask) => Context;
  /** Called once a task is over, however it ended: also for a task without a context. */
  release(): void;
  /** Called once, before the thread ends. */
  close(): Promise<void>;
}

/** The task of a context. */
export interface ContextTask {
  readonly facts: unknown;
  note(note: unknown): void;
  /** Counts milliseconds in which the thread has only waited. */
  onWait(milliseconds: number): void;
}

/** A task that is being answered. */
interface RunningTask {
  readonly task: ThreadTask;
  readonly caller: Caller;
  readonly notes: unknown[];
  waitedMs: number;
  /** How long its call took; undefined until its result is there. */
  seconds: number | undefined;
  hasError: boolean;
}

/** Answers the tasks that arrive at a port, one after the other, until the message to end. */
export function serveThread<Context>(service: ThreadService<Context>): void {
  const server = new ThreadServer(service);
  service.port.on("message", (message: MessageToThread) => server.receive(message));
  service.port.postMessage("ready" satisfies MessageOfThread);
}

class ThreadServer<Context> {
  readonly #service: ThreadService<Context>;
  readonly #owner: CallerShare;
  readonly #strangers: CallerShare;
  readonly #answerer: Answerer;
  readonly #waiting: ThreadTask[] = [];
  #running: RunningTask | undefined;
  #isEnding = false;

  constructor(service: ThreadService<Context>) {
    const { calls, limits, rowsRead } = service;
    this.#service = service;
    // The service's own thread counts what strangers use.
    this.#owner = new CallerShare(limits.owner, { isForStrangers: false, rowsRead });
    this.#strangers = new CallerShare(
      { ...limits.strangers, eventLoopShare: Number.POSITIVE_INFINITY },
      { isForStrangers: false, rowsRead },
    );
    const rules = {
      context: (request: RequestInfo) => this.#contextOf(request),
      onCall: ({ seconds }: CallEnd) => {
        this.#running!.seconds = seconds;
      },
    };
    this.#answerer = createAnswerer(
      { calls, resources: [] },
      { info: { title: "", version: "" }, limits, rules },
    );
  }

  receive(message: MessageToThread): void {
    if (message === "end") this.#end();
    else if ("abandon" in message) this.#abandon(message.abandon);
    else {
      this.#waiting.push(message);
      if (this.#running === undefined) this.#runAll();
    }
  }

  #contextOf(request: RequestInfo): Context {
    const running = this.#running!;
    return this.#service.contextOf(request, {
      facts: running.task.facts,
      note: (note) => void running.notes.push(note),
      onWait(milliseconds) {
        running.waitedMs += milliseconds;
      },
    });
  }

  #runAll(): void {
    for (let task = this.#waiting.shift(); task !== undefined; task = this.#waiting.shift()) {
      const done = this.#run(task);
      if (done instanceof Promise) {
        void done.then(() => this.#runAll());
        return;
      }
    }
    if (this.#isEnding) this.#close();
  }

  #run(task: ThreadTask): MaybePromise<void> {
    const since = performance.now();
    const caller = (task.restricted ? this.#strangers : this.#owner).open(NO_ADDRESS);
    const running: RunningTask = {
      task,
      caller,
      notes: [],
      waitedMs: 0,
      seconds: undefined,
      hasError: false,
    };
    this.#running = running;
    const request = requestOf(running);
    const answer = whenFailed<Answer | undefined>(
      () => this.#answerer.answer(task.path, task.body, request),
      () => undefined,
    );
    return whenReady(answer, (built) => {
      request.budget.end();
      caller.leave();
      this.#running = undefined;
      this.#service.release();
      const response = responseOf(built, running);
      const milliseconds = Math.max(0, performance.now() - since - running.waitedMs);
      this.#post({ id: task.id, milliseconds, response });
    });
  }

  #abandon(id: number): void {
    if (this.#running?.task.id === id) this.#running.caller.leave();
    const at = this.#waiting.findIndex((task) => task.id === id);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    this.#post({ id, milliseconds: 0, response: undefined });
  }

  #post(result: TaskResult): void {
    const memory = result.response?.bytes.buffer as ArrayBuffer | undefined;
    this.#service.port.postMessage(result satisfies MessageOfThread, memory === undefined ? [] : [memory]);
  }

  #end(): void {
    this.#isEnding = true;
    this.#waiting.length = 0;
    if (this.#running === undefined) this.#close();
    else this.#running.caller.leave();
  }

  #close(): void {
    this.#service.port.close();
    void this.#service.close();
  }
}

/** Callers are counted in the service's own thread. */
const NO_ADDRESS = "127.0.0.1";

function requestOf(running: RunningTask): RequestInfo {
  const { task, caller } = running;
  const { body, dialect, restricted } = task;
  return {
    dialect,
    restricted,
    mayAct: false,
    remoteAddress: caller.remoteAddress,
    id: "",
    name: undefined,
    caller,
    budget: new RequestBudget(caller, body.length),
    onError() {
      running.hasError = true;
    },
  };
}

/** Undefined unless a call has run whose result is told without any error. */
function responseOf(
  answer: Answer | undefined,
  { notes, seconds, hasError }: RunningTask,
): ThreadResponse | undefined {
  if (answer === undefined || answer.status !== 200 || seconds === undefined || hasError) return undefined;
  return { type: answer.type, bytes: bytesOf(answer.body), seconds, notes };
}

/** The bytes of a body in memory of their own, which can be handed over. */
function bytesOf(body: Body): Uint8Array {
  if (typeof body === "string") return new Uint8Array(Buffer.from(body, "latin1"));
  const bytes = new Uint8Array(body.length);
  let at = 0;
  for (const piece of body instanceof Uint8Array ? [body] : body.pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

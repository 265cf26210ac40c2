import type { Dialect } from "../../dialect.ts";
import type { Answer } from "../answer.ts";

/** A request that is answered in another thread. */
export interface ThreadTask {
  readonly id: number;
  readonly path: string;
  readonly body: Uint8Array;
  readonly dialect: Dialect;
  readonly restricted: boolean;
  /** What handlers there need of the service's own thread. */
  readonly facts: unknown;
}

/** A message to a thread: a task, the id of one whose caller has left, or that it should end. */
export type MessageToThread = ThreadTask | { readonly abandon: number } | "end";

/** A response that a thread has built. */
export interface ThreadResponse {
  readonly type: Answer["type"];
  readonly bytes: Uint8Array;
  /** From parsing the params of the call to its result. */
  readonly seconds: number;
  /** What handlers have noted for the service's own thread, in order. */
  readonly notes: readonly unknown[];
}

/** The result of a task. */
export interface TaskResult {
  readonly id: number;
  /** Milliseconds that the thread has spent on it. */
  readonly milliseconds: number;
  /** Undefined for every error: the service's own thread then answers, or finds the same error. */
  readonly response: ThreadResponse | undefined;
}

/** A message of a thread: once that it is ready, then the result of each task. */
export type MessageOfThread = "ready" | TaskResult;

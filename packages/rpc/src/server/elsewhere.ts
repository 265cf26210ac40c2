import type { MaybePromise } from "@anulo/limits";
import type { CheckedPass } from "../peers/pass.ts";
import type { Answer } from "./answer.ts";
import type { RequestHead } from "./http/request-head.ts";

/** A request to a named path, before it is known which process handles it. */
export type NamedRequest = {
  readonly name: string;
  /** Identifies it in the logs of every process that it reaches. */
  readonly id: string;
  readonly method: string;
  readonly target: string;
  readonly body: Uint8Array;
  readonly mayAct: boolean;
  /** Whether it came on a restricted port, or was passed on by a process that is restricted. */
  readonly restricted: boolean;
  readonly idempotencyKey: string | undefined;
  /** Whether another process has passed it on: then it is handled here or rejected. */
  readonly isPassedOn: boolean;
  /** Aborted when its caller's connection is closed, not when only the caller's side of it is. */
  readonly signal: AbortSignal;
  /** Reserves memory for a response of this size. Throws an error that ends the request. */
  readonly admit: (bytes: number) => MaybePromise<void>;
  /** Releases that memory: no such response came, and what is answered instead needs none. */
  readonly giveUp: () => void;
};

/** What processes of a service ask one another, beside calls: it is answered on the port for them alone. */
export type InternalTarget = {
  /** Maximum sizes in bytes. */
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** `signal` is aborted when the process that asks closes the connection; `restricted`: whether that process is. */
  answer(
    body: Uint8Array,
    asking: { readonly signal: AbortSignal; readonly restricted: boolean },
  ): Promise<Answer>;
};

/** Several processes that share the objects of a service. */
export interface Elsewhere {
  /** The response of the process that has the requested object; undefined if that is this process. */
  answer(request: NamedRequest): MaybePromise<Answer | undefined>;
  /**
   * The pass of a request on the port for other processes; undefined for what none of them has sent, `misdirected` for
   * what was meant for another.
   */
  passOf(head: RequestHead): CheckedPass | "misdirected" | undefined;
  /** The internal target of this path; undefined if there is none. */
  internalAt?(target: string): InternalTarget | undefined;
}

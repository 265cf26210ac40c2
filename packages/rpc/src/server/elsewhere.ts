import type { MaybePromise } from "@anulo/limits";
import type { CheckedPass } from "../peers/pass.ts";
import type { Answer } from "./answer.ts";
import type { RequestHead } from "./http/request-head.ts";

/** A request to a named path, before it is known who answers it. */
export type NamedRequest = {
  readonly name: string;
  /** By which logs name it, in every process that it comes to. */
  readonly id: string;
  readonly method: string;
  readonly target: string;
  readonly body: Uint8Array;
  readonly mayAct: boolean;
  /** Whether it came on a restricted port, or was passed on by a process that is restricted. */
  readonly restricted: boolean;
  readonly idempotencyKey: string | undefined;
  /** Whether another process has passed it on: then it is answered here or refused. */
  readonly isPassedOn: boolean;
  /** Aborted when its caller leaves. */
  readonly signal: AbortSignal;
  /** Reserves memory for so many bytes of an answer. Throws what ends the request. */
  readonly admit: (bytes: number) => MaybePromise<void>;
};

/** Processes that divide among them what a service has. */
export interface Elsewhere {
  /** The answer of whoever has what the request names; undefined where that is this process. */
  answer(request: NamedRequest): MaybePromise<Answer | undefined>;
  /** The pass of a request on the port for other processes; undefined for what none of them has sent. */
  passOf(head: RequestHead): CheckedPass | undefined;
}

import { RpcError } from "../errors.ts";
import { BadParams, type CallEnd } from "./call.ts";

/**
 * How a call ended: successfully, with an error code that callers know, or because of a bug or because its caller left.
 */
export const callOutcomes = ["ok", "refused", "failed"] as const;
export type CallOutcome = (typeof callOutcomes)[number];

/** Counts the calls of a service as they end. */
export interface CallTally {
  /** To be passed to the server as `onCall`. */
  readonly onCall: (end: CallEnd) => void;
  /** Number of calls that have ended, by name and outcome. */
  counts(): Iterable<{ readonly call: string; readonly outcome: CallOutcome; readonly count: number }>;
  /** Calls `listener` with the name and duration of every call from now on. */
  listen(listener: (call: string, seconds: number) => void): void;
}

/** Starts without calls; there is one count for each declared call that was made. */
export function createCallTally(): CallTally {
  const byCall = new Map<string, Record<CallOutcome, number>>();
  const listeners: ((call: string, seconds: number) => void)[] = [];
  return {
    onCall({ call, seconds, error }) {
      const counts = byCall.get(call) ?? { ok: 0, refused: 0, failed: 0 };
      byCall.set(call, counts);
      counts[outcomeOf(error)]++;
      for (const listener of listeners) listener(call, seconds);
    },
    *counts() {
      for (const [call, counts] of byCall)
        for (const outcome of callOutcomes) yield { call, outcome, count: counts[outcome] };
    },
    listen: (listener) => void listeners.push(listener),
  };
}

function outcomeOf(error: unknown): CallOutcome {
  if (error === undefined) return "ok";
  return error instanceof RpcError || error instanceof BadParams ? "refused" : "failed";
}

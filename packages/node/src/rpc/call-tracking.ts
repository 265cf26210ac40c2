import type { Implemented } from "@anulo/rpc";
import { costs, type Fields } from "./call-costs.ts";
import type { NodeContext } from "./context.ts";

/** How often a call was made, how long that took (nanoseconds), and what it would have cost (credits). */
export interface TrackedCall {
  readonly rpc: string;
  count: number;
  time: number;
  credits: number;
}

/** Counts the calls that reach their handlers. */
export interface CallTracking {
  /** By name. */
  entries(): TrackedCall[];
  clear(): void;
  note(
    name: string,
    calls: { readonly count?: number; readonly ms?: number; readonly credits?: number },
  ): void;
}

/** Starts with no calls. */
export function createCallTracking(): CallTracking {
  const calls = new Map<string, TrackedCall>();
  return {
    entries: () => [...calls.values()].sort((a, b) => (a.rpc < b.rpc ? -1 : 1)).map((call) => ({ ...call })),
    clear: () => calls.clear(),
    note(name, { count = 1, ms = 0, credits = 0 }) {
      const call = calls.get(name) ?? { rpc: name, count: 0, time: 0, credits: 0 };
      calls.set(name, call);
      call.count += count;
      call.time += Math.round(ms * 1e6);
      // A caller names the price: beyond what a number counts exactly, it stays there.
      call.credits = Math.min(call.credits + credits, Number.MAX_SAFE_INTEGER);
    },
  };
}

/** Names under which the original counts a call, where that is not its own. */
const names: { readonly [name: string]: string } = {
  get_block_count: "getblockcount",
  on_get_block_hash: "getblockhash",
  get_block_template: "getblocktemplate",
  submit_block: "submitblock",
  calc_pow: "calcpow",
  get_fee_estimate: "get_base_fee_estimate",
  "/send_raw_transaction": "send_raw_tx",
  "/get_o_indexes.bin": "get_indexes",
  "/get_outs.bin": "get_outs_bin",
  "/get_output_distribution.bin": "get_output_distribution_bin",
};

/** Calls that the original does not count. */
const uncounted = new Set(["banned", "get_miner_data", "get_txids_loose", "/set_bootstrap_daemon"]);

function trackedName(name: string): string {
  return names[name] ?? name.replace(/^\//, "").replace(/\.bin$/, "");
}

type Handler = NonNullable<Implemented<NodeContext>["handler"]>;

/** The same handler, counted: where it fails too, but without a cost. What answers at once still does. */
function counted(name: string, handler: Handler): Handler {
  const cost = costs[name] ?? (() => 0);
  return (params, context) => {
    const start = performance.now();
    const note = (result?: unknown) => {
      const credits = result === undefined ? 0 : cost(params as Fields, result as Fields);
      context.calls.note(name, { ms: performance.now() - start, credits });
    };
    try {
      const result = handler(params, context);
      if (result instanceof Promise) void result.then(note, () => note());
      else note(result);
      return result;
    } catch (error) {
      note();
      throw error;
    }
  };
}

/** The same calls, counted by the name the original counts them under. */
export function tracked(calls: readonly Implemented<NodeContext>[]): Implemented<NodeContext>[] {
  return calls.map(({ call, handler }) => {
    if (handler === undefined || uncounted.has(call.name)) return { call, handler };
    return { call, handler: counted(trackedName(call.name), handler) };
  });
}

import type { Implemented } from "@anulo/rpc";
import { costs, type Fields } from "./call-costs.ts";
import type { CallTracking } from "./call-tracking.ts";

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

/** What counts the calls. */
interface TrackingContext {
  readonly calls: Pick<CallTracking, "note">;
}

type HandlerOf<Context> = NonNullable<Implemented<Context>["handler"]>;

/** The same handler, counted: where it fails too, but without a cost. What answers at once still does. */
function counted<Context extends TrackingContext>(
  name: string,
  handler: HandlerOf<Context>,
): HandlerOf<Context> {
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
export function tracked<Context extends TrackingContext>(
  calls: readonly Implemented<Context>[],
): Implemented<Context>[] {
  return calls.map(({ call, handler }) => {
    if (handler === undefined || uncounted.has(call.name)) return { call, handler };
    return { call, handler: counted(trackedName(call.name), handler) };
  });
}

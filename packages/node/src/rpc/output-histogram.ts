import type { ChainReader } from "@anulo/storage";
import type { NodeContext } from "./context.ts";
import { atThisMoment, type Moment, mapInTurns } from "./in-turns.ts";
import { firstIndex, matureOutputs } from "./mature-outputs.ts";

/** How far back a restricted port counts recent outputs, in seconds. */
const RESTRICTED_CUTOFF = 3 * 86_400;

interface HistogramRequest {
  readonly amounts: readonly bigint[];
  readonly min_count: number;
  readonly max_count: number;
  readonly unlocked: boolean;
  readonly recent_cutoff: number;
}

/** One amount's entry, undefined where it has too few outputs or too many. */
function entryOf(read: ChainReader, amount: bigint, request: HistogramRequest) {
  const { min_count, max_count, unlocked, recent_cutoff } = request;
  const total = read.outputCount(amount);
  if (total < min_count || (total > max_count && max_count !== 0)) return undefined;
  const mature = unlocked || recent_cutoff > 0 ? matureOutputs(read, amount) : 0;
  const isRecent = (index: number) =>
    read.blockInfo(read.output(amount, index)!.height)!.timestamp >= recent_cutoff;
  const recent = recent_cutoff > 0 ? mature - firstIndex(mature, isRecent) : 0;
  return { amount, total_instances: total, unlocked_instances: mature, recent_instances: recent };
}

/** The requested amounts, or all there are, ascending: as their rows are. */
async function wantedAmounts(amounts: readonly bigint[], moment: Moment, { signal, rows }: NodeContext) {
  if (amounts.length > 0) return BigUint64Array.from(new Set(amounts)).sort();
  // The walk goes on over several turns.
  moment.hold();
  return mapInTurns(moment.read.outputCounts(), ({ amount }) => amount, { moment, signal, rows });
}

/** How many outputs amounts have. Source: db_lmdb.cpp `get_output_histogram`, core_rpc_server.cpp `on_get_output_histogram`. */
export async function outputHistogram(request: HistogramRequest, context: NodeContext) {
  const { parts, restricted, signal, rows } = context;
  const { amounts, recent_cutoff } = request;
  const refuse = (status: string) => ({ status, histogram: [] });
  if (restricted && amounts.length === 0) {
    return refuse("Restricted RPC will not serve histograms on the whole blockchain. Use your own node.");
  }
  if (restricted && recent_cutoff > 0 && recent_cutoff < parts.now() - RESTRICTED_CUTOFF) {
    return refuse("Recent cutoff is too old");
  }
  return atThisMoment(parts.store, async (moment) => {
    const selection = await wantedAmounts(amounts, moment, context);
    const entry = (amount: bigint) => entryOf(moment.read, amount, request) ?? [];
    const entries = await mapInTurns(selection, entry, { moment, signal, rows });
    return { histogram: entries.flat() };
  });
}

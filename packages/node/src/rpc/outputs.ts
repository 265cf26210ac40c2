import { chainContext, isUnlocked } from "@anulo/consensus";
import { toHex } from "@anulo/protocol";
import { daemon, type Implemented, implementFor } from "@anulo/rpc";
import type { OutputInfo } from "@anulo/storage";
import type { NodeContext } from "./context.ts";
import { mapInTurns } from "./in-turns.ts";
import { firstIndex, matureOutputs } from "./mature-outputs.ts";
import { binaryOutputDistribution, outputDistribution } from "./output-distribution.ts";

const RESTRICTED_OUTPUTS = 5000;
/** How far back a restricted port counts recent outputs, in seconds. */
const RESTRICTED_CUTOFF = 3 * 86_400;

interface OutputsRequest {
  readonly outputs: readonly { readonly amount: bigint; readonly index: bigint }[];
  readonly get_txid: boolean;
}

interface FoundOutput {
  readonly output: OutputInfo;
  readonly unlocked: boolean;
  readonly transactionHash: Uint8Array | undefined;
}

/** The outputs asked for, or the status that says why not. Source: blockchain.cpp `get_outs`. */
async function findOutputs({ outputs, get_txid }: OutputsRequest, context: NodeContext) {
  const { parts, restricted } = context;
  if (restricted && outputs.length > RESTRICTED_OUTPUTS) return "Too many outs requested";
  const snapshot = parts.store.snapshot();
  const rules = chainContext(parts.state.view(), parts.now());
  try {
    const found = await mapInTurns(outputs, ({ amount, index }): FoundOutput | undefined => {
      const output =
        index < BigInt(Number.MAX_SAFE_INTEGER) ? snapshot.output(amount, Number(index)) : undefined;
      if (output === undefined) return undefined;
      const transactionHash = get_txid ? snapshot.transactionById(output.transactionId)?.hash : undefined;
      return { output, unlocked: isUnlocked(output.unlockTime, rules), transactionHash };
    });
    const known = found.filter((output) => output !== undefined);
    return known.length === found.length ? known : "Failed";
  } finally {
    snapshot.close();
  }
}

const NO_HASH = new Uint8Array(32);

interface HistogramRequest {
  readonly amounts: readonly bigint[];
  readonly min_count: number;
  readonly max_count: number;
  readonly unlocked: boolean;
  readonly recent_cutoff: number;
}

/** Source: db_lmdb.cpp `get_output_histogram`, core_rpc_server.cpp `on_get_output_histogram`. */
function histogram(request: HistogramRequest, { parts, restricted }: NodeContext) {
  const { amounts, min_count, max_count, unlocked, recent_cutoff } = request;
  const refuse = (status: string) => ({ status, histogram: [] });
  if (restricted && amounts.length === 0) {
    return refuse("Restricted RPC will not serve histograms on the whole blockchain. Use your own node.");
  }
  if (restricted && recent_cutoff > 0 && recent_cutoff < parts.now() - RESTRICTED_CUTOFF) {
    return refuse("Recent cutoff is too old");
  }
  const { read } = parts.store;
  const wanted =
    amounts.length === 0 ? [...read.outputCounts()].map(({ amount }) => amount) : [...new Set(amounts)];
  const entries = wanted
    .sort((a, b) => (a < b ? -1 : 1))
    .map((amount) => ({ amount, total: read.outputCount(amount) }))
    .filter(({ total }) => total >= min_count && (total <= max_count || max_count === 0));
  return {
    histogram: entries.map(({ amount, total }) => {
      const mature = unlocked || recent_cutoff > 0 ? matureOutputs(read, amount) : 0;
      const isRecent = (index: number) =>
        read.blockInfo(read.output(amount, index)!.height)!.timestamp >= recent_cutoff;
      const recent = recent_cutoff > 0 ? mature - firstIndex(mature, isRecent) : 0;
      return { amount, total_instances: total, unlocked_instances: mature, recent_instances: recent };
    }),
  };
}

/** Handlers of the calls about outputs. */
export function outputHandlers(): Implemented<NodeContext>[] {
  return implementFor<NodeContext>()(daemon.outputs, {
    async getOuts(request, context) {
      const found = await findOutputs(request, context);
      if (typeof found === "string") return { status: found, outs: [] };
      const outs = found.map(({ output, unlocked, transactionHash }) => ({
        height: output.height,
        key: toHex(output.key),
        mask: toHex(output.commitment),
        txid: transactionHash === undefined ? "" : toHex(transactionHash),
        unlocked,
      }));
      return { outs };
    },
    async getOutsBin(request, context) {
      const found = await findOutputs(request, context);
      if (typeof found === "string") return { status: found, outs: [] };
      const outs = found.map(({ output, unlocked, transactionHash = NO_HASH }) => ({
        height: output.height,
        key: output.key,
        mask: output.commitment,
        txid: transactionHash,
        unlocked,
      }));
      return { outs };
    },
    getOutputHistogram: histogram,
    getOutputDistribution: (request, context) =>
      outputDistribution({ ...request, binary: request.binary ?? context.dialect === "upstream" }, context),
    getOutputDistributionBin: binaryOutputDistribution,
  });
}

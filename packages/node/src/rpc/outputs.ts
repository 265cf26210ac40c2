import { chainContext, isUnlocked } from "@anulo/consensus";
import { toHex } from "@anulo/protocol";
import { daemon, type Implemented, implementFor, lasting } from "@anulo/rpc";
import type { ChainReader } from "@anulo/storage";
import type { NodeContext } from "./context.ts";
import { atThisMoment, mapInTurns } from "./in-turns.ts";
import { firstIndex, matureOutputs } from "./mature-outputs.ts";
import { binaryOutputDistribution, outputDistribution } from "./output-distribution.ts";

const RESTRICTED_OUTPUTS = 5000;
/** How far back a restricted port counts recent outputs, in seconds. */
const RESTRICTED_CUTOFF = 3 * 86_400;

interface OutputsRequest {
  readonly outputs: readonly { readonly amount: bigint; readonly index: bigint }[];
  readonly get_txid: boolean;
}

/** An output with the id of its transaction, as the binary path tells them. */
export interface KnownOutput {
  readonly unlockTime: bigint;
  readonly facts: {
    readonly height: number;
    readonly key: Uint8Array;
    readonly mask: Uint8Array;
    readonly txid: Uint8Array;
  };
}

interface FoundOutput {
  readonly facts: KnownOutput["facts"];
  readonly unlocked: boolean;
}

function readOutput(read: ChainReader, amount: bigint, index: number): KnownOutput | undefined {
  const output = read.output(amount, index);
  if (output === undefined) return undefined;
  const { height, key, commitment: mask, unlockTime, transactionId } = output;
  const txid = read.transactionById(transactionId)?.hash ?? NO_HASH;
  return { unlockTime, facts: { height, key, mask, txid } };
}

/** The outputs asked for, or the status that says why not. Source: blockchain.cpp `get_outs`. */
async function findOutputs({ outputs }: OutputsRequest, context: NodeContext) {
  const { parts, restricted, memory } = context;
  if (restricted && outputs.length > RESTRICTED_OUTPUTS) return "Too many outs requested";
  const rules = chainContext(parts.state.view(), parts.now());
  const remembered = memory.outputs.now();
  return atThisMoment(parts.store, async (moment) => {
    const find = (amount: bigint, index: number): KnownOutput | undefined => {
      const known = amount === 0n ? remembered.get(index) : undefined;
      if (known !== undefined) return known;
      const read = readOutput(moment.read, amount, index);
      if (read !== undefined && amount === 0n) remembered.set(index, read);
      return read;
    };
    const findOne = ({ amount, index }: OutputsRequest["outputs"][number]): FoundOutput | undefined => {
      const known = index <= LAST_INDEX ? find(amount, Number(index)) : undefined;
      if (known === undefined) return undefined;
      return { facts: known.facts, unlocked: isUnlocked(known.unlockTime, rules) };
    };
    const found = await mapInTurns(outputs, findOne, moment);
    const known = found.filter((output) => output !== undefined);
    return known.length === found.length ? known : "Failed";
  });
}

const LAST_INDEX = BigInt(Number.MAX_SAFE_INTEGER);
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
      const outs = found.map(({ facts: { height, key, mask, txid }, unlocked }) => ({
        height,
        key: toHex(key),
        mask: toHex(mask),
        txid: request.get_txid ? toHex(txid) : "",
        unlocked,
      }));
      return { outs };
    },
    async getOutsBin(request, context) {
      const found = await findOutputs(request, context);
      if (typeof found === "string") return { status: found, outs: [] };
      const outs = found.map(({ facts, unlocked }) =>
        request.get_txid ? lasting(facts, { unlocked }) : { ...facts, txid: NO_HASH, unlocked },
      );
      return { outs };
    },
    getOutputHistogram: histogram,
    getOutputDistribution: (request, context) =>
      outputDistribution({ ...request, binary: request.binary ?? context.dialect === "upstream" }, context),
    getOutputDistributionBin: binaryOutputDistribution,
  });
}

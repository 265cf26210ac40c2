import { chainContext, isUnlocked } from "@anulo/consensus";
import { toHex } from "@anulo/protocol";
import { daemon, type Implemented, implementFor, lasting } from "@anulo/rpc";
import type { ChainReader } from "@anulo/storage";
import type { NodeContext } from "./context.ts";
import { atThisMoment, type Moment, mapInTurns } from "./in-turns.ts";
import { firstIndex, matureOutputs } from "./mature-outputs.ts";
import { binaryOutputDistribution, outputDistribution } from "./output-distribution.ts";

const RESTRICTED_OUTPUTS = 5000;
/** How far back a restricted port counts recent outputs, in seconds. */
const RESTRICTED_CUTOFF = 3 * 86_400;

interface OutputsRequest {
  readonly outputs: readonly { readonly amount: bigint; readonly index: bigint }[];
  readonly get_txid: boolean;
}

/** An output as the binary path tells it: with the id of its transaction, or zeros where nobody wants that. */
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
  /** It was asked for before, and may be again. */
  readonly isRemembered: boolean;
}

type Wanted = OutputsRequest["outputs"][number];

const LAST_INDEX = BigInt(Number.MAX_SAFE_INTEGER);
const NO_HASH = new Uint8Array(32);

/** Without its transaction's id where nobody wants that: it is another row to read. */
function readOutput(read: ChainReader, { amount, index }: Wanted, withId: boolean): KnownOutput | undefined {
  const output = index <= LAST_INDEX ? read.output(amount, Number(index)) : undefined;
  if (output === undefined) return undefined;
  const { height, key, commitment: mask, unlockTime, transactionId } = output;
  const txid = (withId ? read.transactionById(transactionId)?.hash : undefined) ?? NO_HASH;
  return { unlockTime, facts: { height, key, mask, txid } };
}

/** The outputs asked for, or the status that says why not. Source: blockchain.cpp `get_outs`. */
async function findOutputs({ outputs, get_txid }: OutputsRequest, context: NodeContext) {
  const { parts, restricted, memory } = context;
  if (restricted && outputs.length > RESTRICTED_OUTPUTS) return "Too many outs requested";
  const rules = chainContext(parts.state.view(), parts.now());
  const remembered = (get_txid ? memory.outputsWithIds : memory.outputs).now();
  const finderIn = (moment: Pick<Moment, "read">) => {
    return (wanted: Wanted): FoundOutput | undefined => {
      const isRingCt = wanted.amount === 0n && wanted.index <= LAST_INDEX;
      const known = isRingCt ? remembered.get(Number(wanted.index)) : undefined;
      const output = known ?? readOutput(moment.read, wanted, get_txid);
      if (output === undefined) return undefined;
      if (known === undefined && isRingCt) remembered.set(Number(wanted.index), output);
      const unlocked = isUnlocked(output.unlockTime, rules);
      return { facts: output.facts, unlocked, isRemembered: known !== undefined };
    };
  };
  const found =
    outputs.length <= FEW_OUTPUTS
      ? outputs.map(finderIn(parts.store))
      : await atThisMoment(parts.store, (moment) => mapInTurns(outputs, finderIn(moment), moment));
  return found.every((output) => output !== undefined) ? found : "Failed";
}

/** So many are read without letting others go first: the rings of one payment, and well below a millisecond. */
const FEW_OUTPUTS = 64;

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
      // What is asked for once is not worth remembering how it is written.
      const outs = found.map(({ facts, unlocked, isRemembered }) =>
        isRemembered ? lasting(facts, { unlocked }) : { ...facts, unlocked },
      );
      return { outs };
    },
    getOutputHistogram: histogram,
    getOutputDistribution: (request, context) =>
      outputDistribution({ ...request, binary: request.binary ?? context.dialect === "upstream" }, context),
    getOutputDistributionBin: binaryOutputDistribution,
  });
}

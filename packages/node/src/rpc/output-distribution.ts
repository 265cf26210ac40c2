import { heightOfHardFork, type Network, ruleForks } from "@anulo/protocol";
import { type OutputDistribution, RpcError } from "@anulo/rpc";
import type { ChainReader } from "@anulo/storage";
import { type NodeContext, refusal } from "./context.ts";
import { mapInTurns } from "./in-turns.ts";

interface DistributionRequest {
  readonly amounts: readonly bigint[];
  readonly from_height: number;
  readonly to_height: number;
  readonly cumulative: boolean;
  readonly compress: boolean;
  readonly binary: boolean;
}

/** Outputs per block, or up to it, from a height on; `base` were there before. */
interface Counts {
  readonly startHeight: number;
  readonly base: number;
  readonly perBlock: readonly number[];
}

/** The hard fork that brought RingCT, 0 on test chains. Source: blockchain.cpp `get_output_distribution`. */
function firstRingCtHeight(network: Network): number {
  return network.name === "regtest" ? 0 : (heightOfHardFork(network, ruleForks.dynamicFee) ?? 0);
}

/** RingCT outputs are counted with every block. */
function ringCtCounts(read: ChainReader, from: number, to: number): Counts {
  const totals = [...read.blockInfoColumn("cumulativeRctOutputs", from - 1, to + 1)];
  const base = from === 0 ? 0 : totals.shift()!;
  return { startHeight: from, base, perBlock: differences(base, totals) };
}

function differences(base: number, totals: readonly number[]): number[] {
  return totals.map((total, i) => total - (i === 0 ? base : totals[i - 1]!));
}

/** Other amounts have few outputs: each is looked at; those before the range count with its first block. Source: db_lmdb.cpp `get_output_distribution`. */
function visibleCounts(
  read: ChainReader,
  amount: bigint,
  { from, to }: { from: number; to: number },
): Counts {
  const perBlock = Array.from({ length: to - from + 1 }, () => 0);
  for (let index = 0; index < read.outputCount(amount); index++) {
    const { height } = read.output(amount, index)!;
    if (height <= to) perBlock[Math.max(0, height - from)]! += 1;
  }
  return { startHeight: from, base: 0, perBlock };
}

function countsOf(read: ChainReader, network: Network, amount: bigint, request: DistributionRequest) {
  const chainHeight = read.height();
  const to = request.to_height === 0 ? chainHeight - 1 : request.to_height;
  const from = Math.max(request.from_height, amount === 0n ? firstRingCtHeight(network) : 0);
  if (to < request.from_height || from >= chainHeight || to >= chainHeight) {
    throw refusal("internal", "Failed to get output distribution");
  }
  return amount === 0n ? ringCtCounts(read, from, to) : visibleCounts(read, amount, { from, to });
}

function accumulate({ base, perBlock }: Counts): number[] {
  let sum = base;
  return perBlock.map((count) => {
    sum += count;
    return sum;
  });
}

/** How many outputs each block of a range added. Source: rpc_handler.cpp `get_output_distribution`. */
export async function outputDistribution(request: DistributionRequest, { parts, restricted }: NodeContext) {
  const { amounts, cumulative, binary, compress } = request;
  if (restricted && !(amounts.length === 1 && amounts[0] === 0n)) {
    const message = "Restricted RPC can only get output distribution for rct outputs. Use your own node.";
    throw refusal("restricted", message);
  }
  const snapshot = parts.store.snapshot();
  try {
    const distributions = await mapInTurns(amounts, (amount): OutputDistribution => {
      const counts = countsOf(snapshot, parts.network, amount, request);
      const distribution = cumulative ? accumulate(counts) : counts.perBlock;
      return { amount, base: counts.base, binary, compress, distribution, start_height: counts.startHeight };
    });
    return { distributions };
  } finally {
    snapshot.close();
  }
}

/** The same for the binary path, where a refusal is a status. Source: `on_get_output_distribution_bin`. */
export async function binaryOutputDistribution(request: DistributionRequest, context: NodeContext) {
  if (!request.binary) return { status: "Binary only call", distributions: [] };
  try {
    return await outputDistribution(request, context);
  } catch (error) {
    if (error instanceof RpcError) return { status: error.message, distributions: [] };
    throw error;
  }
}

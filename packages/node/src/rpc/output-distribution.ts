import { forEachSliced } from "@anulo/limits";
import { firstFork, heightOfHardFork, type Network } from "@anulo/protocol";
import {
  type BlockCounts,
  lasting,
  RpcError,
  type SerializedDistribution,
  serializeCounts,
} from "@anulo/rpc";
import type { ChainReader } from "@anulo/storage";
import type { NodeContext } from "./context.ts";
import { range } from "./in-turns.ts";
import type { DistributionResponse, KeptDistribution } from "./memory.ts";
import { refusal } from "./refusal.ts";

interface DistributionRequest {
  readonly amounts: readonly bigint[];
  readonly from_height: number;
  readonly to_height: number;
  readonly cumulative: boolean;
  readonly compress: boolean;
  readonly binary: boolean;
}

/** A request for one amount, and whether the response is portable storage. */
interface AmountRequest extends Omit<DistributionRequest, "amounts"> {
  readonly amount: bigint;
  readonly isPortable: boolean;
}

interface Range {
  readonly from: number;
  /** Inclusive. */
  readonly to: number;
}

/** Bytes of all distributions of a response together: about what a port sends at once at all. */
const MAX_RESPONSE_BYTES = 2 ** 29;

/** The hard fork that brought RingCT, 0 on test chains. Source: blockchain.cpp `get_output_distribution`. */
function firstRingCtHeight(network: Network): number {
  return network.name === "regtest"
    ? 0
    : (heightOfHardFork(
        network,
        firstFork(({ fee }) => fee !== "fixed, per kB"),
      ) ?? 0);
}

/** RingCT outputs are counted with every block. */
async function ringCtCounts(
  read: ChainReader,
  { from, to }: Range,
  { memory }: NodeContext,
): Promise<Omit<BlockCounts, "isCumulative">> {
  const counts = await memory.ringCtCounts.of(read);
  return { base: outputsBefore(read, from), perBlock: counts.subarray(from, to + 1) };
}

/** RingCT outputs of all blocks below a height. */
function outputsBefore(read: ChainReader, height: number): number {
  return height === 0 ? 0 : read.blockInfo(height - 1)!.cumulativeRctOutputs;
}

/** Other amounts have few outputs: each is looked at; those before the range count with its first block. Source: db_lmdb.cpp `get_output_distribution`. */
async function visibleCounts(
  read: ChainReader,
  { from, to }: Range,
  { amount, signal, rows }: Pick<NodeContext, "signal" | "rows"> & { readonly amount: bigint },
): Promise<Omit<BlockCounts, "isCumulative">> {
  const perBlock = new Uint32Array(to - from + 1);
  const count = (index: number) => {
    const height = read.outputHeight(amount, index)!;
    if (height <= to) perBlock[Math.max(0, height - from)]! += 1;
  };
  const indices = range(0, read.outputCount(amount));
  await rows.during((options) => forEachSliced(indices, count, options), { signal });
  return { base: 0, perBlock };
}

/** The blocks a request means; throws the original's refusal. */
function rangeOf(
  chainHeight: number,
  network: Network,
  { amount, from_height, to_height }: AmountRequest,
): Range {
  const to = to_height === 0 ? chainHeight - 1 : to_height;
  const from = Math.max(from_height, amount === 0n ? firstRingCtHeight(network) : 0);
  if (to < from_height || from >= chainHeight || to >= chainHeight) {
    throw refusal("internal", "Failed to get output distribution");
  }
  return { from, to };
}

function encodingOf({ binary, compress }: AmountRequest) {
  if (!binary) return "decimal";
  return compress ? "compressed" : "packed";
}

async function distributionOf(
  read: ChainReader,
  request: AmountRequest & { readonly previous?: KeptDistribution | undefined },
  context: NodeContext,
) {
  const { amount, binary, compress, cumulative, isPortable, previous } = request;
  const { signal, rows } = context;
  const blocks = rangeOf(read.height(), context.parts.network, request);
  const form = { encoding: encodingOf(request), isPortable } as const;
  const missing = previous === undefined ? blocks : { from: previous.to + 1, to: blocks.to };
  const { base, perBlock } =
    amount === 0n
      ? await ringCtCounts(read, missing, context)
      : await visibleCounts(read, missing, { amount, signal, rows });
  const counts = { base, perBlock, isCumulative: cumulative };
  const distribution = await serializeCounts(counts, form, { signal, before: previous?.distribution });
  const before = previous === undefined ? base : outputsBefore(read, blocks.from);
  return { amount, base: before, binary, compress, distribution, start_height: blocks.from };
}

function checkAmounts(amounts: readonly bigint[], isRestricted: boolean): void {
  if (!isRestricted || (amounts.length === 1 && amounts[0] === 0n)) return;
  const message = "Restricted RPC can only get output distribution for rct outputs. Use your own node.";
  throw refusal("restricted", message);
}

/** For one kind of response; `kept`: the response for the blocks up to an earlier height. */
interface ComputeOptions {
  readonly isPortable: boolean;
  readonly previous?: KeptDistribution | undefined;
}

async function computeDistributions(
  { amounts, ...request }: DistributionRequest,
  context: NodeContext,
  options: ComputeOptions,
) {
  const snapshot = context.parts.store.snapshot();
  try {
    const distributions: SerializedDistribution[] = [];
    let bytes = 0;
    for (const amount of amounts) {
      const distribution = await distributionOf(snapshot, { ...request, ...options, amount }, context);
      bytes += distribution.distribution.bytes;
      if (bytes > MAX_RESPONSE_BYTES) throw refusal("internal", "Failed to get output distribution");
      distributions.push(distribution);
    }
    return { distributions };
  } finally {
    snapshot.close();
  }
}

/**
 * The response about RingCT outputs alone, which is what wallets ask for: it is written once for each tip, and up to
 * the newest block only what new blocks added is written.
 */
async function ringCtDistribution(
  request: DistributionRequest,
  context: NodeContext,
  isPortable: boolean,
): Promise<DistributionResponse> {
  const { cumulative, binary, compress, from_height, to_height } = request;
  const newest = context.parts.store.read.height() - 1;
  const to = to_height === 0 ? newest : to_height;
  const key = [from_height, to === newest ? "newest" : to, cumulative, binary, compress, isPortable].join();
  const responses = context.memory.distributions.now();
  const previous = responses.get(key);
  if (previous?.to === to) return previous.response;
  const options = { isPortable, previous };
  const computed = await computeDistributions({ ...request, to_height: to }, context, options);
  const response = lasting(computed, {});
  responses.set(key, { response, to, distribution: computed.distributions[0]!.distribution });
  return response;
}

/** How many outputs each block of a range added. Source: rpc_handler.cpp `get_output_distribution`. */
async function outputDistributions(
  request: DistributionRequest,
  context: NodeContext,
  isPortable: boolean,
): Promise<DistributionResponse> {
  const { amounts } = request;
  checkAmounts(amounts, context.restricted);
  if (amounts.length === 1 && amounts[0] === 0n) return ringCtDistribution(request, context, isPortable);
  return lasting(await computeDistributions(request, context, { isPortable }), {});
}

/** In JSON. */
export function outputDistribution(request: DistributionRequest, context: NodeContext) {
  return outputDistributions(request, context, false);
}

/** The same for the binary path, where a refusal is a status. Source: `on_get_output_distribution_bin`. */
export async function binaryOutputDistribution(request: DistributionRequest, context: NodeContext) {
  if (!request.binary) return { status: "Binary only call", distributions: [] };
  try {
    return await outputDistributions(request, context, true);
  } catch (error) {
    if (error instanceof RpcError) return { status: error.message, distributions: [] };
    throw error;
  }
}

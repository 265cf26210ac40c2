import { availableParallelism } from "node:os";
import { difficultyOfNextBlock, powVariantOf } from "@anulo/consensus";
import { BadAddress, forkRules, formatAddress, parseAddress } from "@anulo/protocol";
import type { MinerKeys } from "../mining/miner-transaction.ts";
import { busy, type NodeContext } from "./context.ts";
import { difficultyFields } from "./wide-number.ts";

interface StartRequest {
  readonly miner_address: string;
  readonly threads_count: number;
  readonly do_background_mining: boolean;
  readonly ignore_battery: boolean;
}

/** The original refuses more threads than this for each processor. */
const MAX_THREADS_PER_PROCESSOR = 4;

/** Keys of the address to mine for, or the status that refuses it. */
function keysOf(address: string, { parts }: NodeContext): MinerKeys | { readonly status: string } {
  try {
    const { kind, spendPublic, viewPublic } = parseAddress(address, parts.network.name);
    if (kind === "subaddress") return { status: "Mining to subaddress isn't supported yet" };
    return { spendPublic, viewPublic };
  } catch (error) {
    if (error instanceof BadAddress) return { status: "Failed, wrong address" };
    throw error;
  }
}

/** Answers `/start_mining`. Source: core_rpc_server.cpp `on_start_mining`. */
export function startMining(request: StartRequest, context: NodeContext): { status?: string } {
  if (!context.peers.sync.isSynchronized) return busy;
  const keys = keysOf(request.miner_address, context);
  if ("status" in keys) return keys;
  const threads = request.threads_count;
  if (threads > availableParallelism() * MAX_THREADS_PER_PROCESSOR) {
    return { status: "Failed, too many threads relative to CPU cores." };
  }
  if (context.miner.state() !== undefined) return { status: "Already mining" };
  const { do_background_mining: isInBackground, ignore_battery: ignoreBattery } = request;
  const address = formatAddress({ kind: "standard", ...keys }, context.parts.network.name);
  context.miner.start({ address, keys, threads, isInBackground, ignoreBattery });
  return {};
}

/** Answers `/stop_mining`. */
export function stopMining(_: unknown, { miner }: NodeContext): { status?: string } {
  if (miner.state() === undefined) return { status: "Mining never started" };
  miner.stop();
  return {};
}

/** Answers `/set_log_hash_rate`. */
export function setLogHashRate(
  { visible }: { readonly visible: boolean },
  { miner }: NodeContext,
): { status?: string } {
  if (miner.state() === undefined) return { status: "NOT MINING" };
  miner.showHashRate(visible);
  return {};
}

/** Names of the variants. Source: core_rpc_server.cpp `on_mining_status`. */
const algorithms = {
  0: "Cryptonight",
  1: "CNv1 (Cryptonight variant 1)",
  2: "CNv2 (Cryptonight variant 2)",
  4: "CNv4 (Cryptonight variant 4)",
  randomx: "RandomX",
} as const;

/** Answers `/mining_status`. */
export function miningStatus({ parts, miner }: NodeContext) {
  const view = parts.state.view();
  const state = miner.state();
  const background = state?.isInBackground ? state.background : undefined;
  return {
    active: state !== undefined,
    address: state?.address ?? "",
    bg_idle_threshold: background?.idleThreshold ?? 0,
    bg_ignore_battery: background !== undefined && state?.ignoreBattery === true,
    bg_min_idle_seconds: Math.min(255, background?.minIdleSeconds ?? 0),
    bg_target: background?.target ?? 0,
    block_reward: state?.blockReward ?? 0n,
    block_target: forkRules(view.hardForkVersion).secondsPerBlock,
    ...difficultyFields(difficultyOfNextBlock(view)),
    is_background_mining_enabled: background !== undefined,
    pow_algorithm: algorithms[powVariantOf(view.hardForkVersion)],
    speed: state?.speed ?? 0,
    threads_count: state?.threads ?? 0,
  };
}

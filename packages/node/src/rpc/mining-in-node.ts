import { availableParallelism } from "node:os";
import { difficultyOfNextBlock } from "@anulo/consensus";
import { BadAddress, parseAddress, secondsPerBlock } from "@anulo/protocol";
import type { NodeContext } from "./context.ts";
import { difficultyFields } from "./wide-number.ts";

interface StartRequest {
  readonly miner_address: string;
  readonly threads_count: number;
}

/** Refuses what the original refuses, and then says that this node cannot mine by itself yet. */
export function startMining({ miner_address, threads_count }: StartRequest, { parts }: NodeContext) {
  try {
    const { kind } = parseAddress(miner_address, parts.network.name);
    if (kind === "subaddress") return { status: "Mining to subaddress isn't supported yet" };
  } catch (error) {
    if (error instanceof BadAddress) return { status: "Failed, wrong address" };
    throw error;
  }
  if (threads_count > availableParallelism() * 4) {
    return { status: "Failed, too many threads relative to CPU cores." };
  }
  return { status: "Failed, mining not started: mining in the node is not implemented yet" };
}

/** The state of a node that does not mine. */
export function miningStatus({ parts }: NodeContext) {
  const view = parts.state.view();
  return {
    active: false,
    address: "",
    bg_idle_threshold: 0,
    bg_ignore_battery: false,
    bg_min_idle_seconds: 0,
    bg_target: 0,
    block_reward: 0n,
    block_target: secondsPerBlock(view.hardForkVersion),
    ...difficultyFields(difficultyOfNextBlock(view)),
    is_background_mining_enabled: false,
    pow_algorithm: "RandomX",
    speed: 0,
    threads_count: 0,
  };
}

import { LONG_TERM_WINDOW, median, REWARD_WINDOW } from "@anulo/consensus";
import { baseReward, dynamicFees2021, FEE_QUANTIZATION_MASK } from "@anulo/protocol";
import { type Dialect, RpcError } from "@anulo/rpc";
import type { ChainParts } from "../chain/parts.ts";
import { type NodeContext, refusal } from "./context.ts";

/** Least weight (bytes) the medians count as. Source: cryptonote_config.h. */
const PENALTY_FREE_ZONE = 300_000;
/** The short-term median may be so many times the long-term one. */
const SURGE_FACTOR = 50;

/** Median of the long-term weights if the next `grace` blocks were empty. */
function longTermMedian({ state, store }: ChainParts, grace: number): number {
  const view = state.view();
  if (grace === 0) return view.longTermWeightMedian;
  const kept = store.read.blockInfoColumn(
    "longTermWeight",
    view.height - LONG_TERM_WINDOW + grace,
    view.height,
  );
  return median([...kept, ...zeros(grace)]);
}

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0);
}

/** The original dies inside and answers code 0 without a word. */
function tooManyGraceBlocks(dialect: Dialect): RpcError {
  if (dialect === "upstream") return new RpcError(0, "");
  return refusal("wrongParam", `grace_blocks may be at most ${REWARD_WINDOW}`);
}

/**
 * Fees per byte (atomic units) for the four priorities, as they will be at the latest after `grace_blocks`
 * empty blocks. Source: blockchain.cpp `get_dynamic_base_fee_estimate_2021_scaling`.
 */
export function feeEstimate(
  { grace_blocks: grace }: { grace_blocks: number },
  { parts, dialect }: NodeContext,
) {
  if (grace > REWARD_WINDOW) throw tooManyGraceBlocks(dialect);
  const view = parts.state.view();
  const longTerm = Math.max(PENALTY_FREE_ZONE, longTermMedian(parts, grace));
  const recent = median([...view.recentWeights(REWARD_WINDOW - grace), ...zeros(grace)]);
  const shortTerm = Math.min(Math.max(recent, longTerm), SURGE_FACTOR * longTerm);
  const { alreadyGenerated, hardForkVersion: version } = view;
  const reward = baseReward({ alreadyGenerated, version });
  const fees = dynamicFees2021({ reward, shortTermMedian: shortTerm, longTermMedian: longTerm });
  return { fee: fees[0], fees, quantization_mask: Number(FEE_QUANTIZATION_MASK) };
}

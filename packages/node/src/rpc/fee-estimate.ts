import { type ChainView, chainContext, median, REWARD_WINDOW } from "@anulo/consensus";
import {
  baseReward,
  dynamicBaseFee,
  dynamicFees2021,
  FEE_QUANTIZATION_MASK,
  forkRules,
  minimumFullRewardWeight,
} from "@anulo/protocol";
import { type Dialect, lasting, RpcError } from "@anulo/rpc";
import type { ChainParts } from "../chain/parts.ts";
import type { NodeContext } from "./context.ts";
import { refusal } from "./refusal.ts";

/** Least weight (bytes) the medians count as. Source: cryptonote_config.h. */
const PENALTY_FREE_ZONE = 300_000;
/** The short-term median may be so many times the long-term one. */
const SURGE_FACTOR = 50;

function zeros(count: number): number[] {
  return Array.from({ length: count }, () => 0);
}

/** The original dies inside and answers code 0 without a word, of the whole window too. */
function checkGraceBlocks(grace: number, dialect: Dialect): void {
  if (dialect === "upstream" && grace >= REWARD_WINDOW) throw new RpcError(0, "");
  if (grace > REWARD_WINDOW) throw refusal("wrongParam", `grace_blocks may be at most ${REWARD_WINDOW}`);
}

/**
 * What a wallet shall pay (atomic units): a fee per byte for each of the four priorities from hard fork 15, before
 * that one fee, per byte from 8 and per kB earlier. It holds for `grace_blocks` empty blocks.
 */
export function feeEstimate({ grace_blocks: grace }: { grace_blocks: number }, context: NodeContext) {
  const { parts, dialect, memory } = context;
  const view = parts.state.view();
  const isSingle = forkRules(view.hardForkVersion).fee !== "2021, per byte";
  if (!isSingle) checkGraceBlocks(grace, dialect);
  return memory.feeEstimate([view, grace], () => {
    const fees = isSingle ? [] : fourFees(parts, grace);
    const fee = fees[0] ?? singleFee(parts, Math.min(grace, REWARD_WINDOW - 1));
    return lasting({ fee, fees, quantization_mask: Number(FEE_QUANTIZATION_MASK) }, {});
  });
}

const rewardOf = ({ alreadyGenerated, hardForkVersion: version }: ChainView) =>
  baseReward({ alreadyGenerated, version });

/** Source: blockchain.cpp `get_dynamic_base_fee_estimate_2021_scaling`. */
function fourFees(parts: ChainParts, grace: number) {
  const view = parts.state.view();
  const longTerm = Math.max(PENALTY_FREE_ZONE, parts.state.longTermWeightMedianAfterEmpty(grace));
  const recent = median([...view.recentWeights(REWARD_WINDOW - grace), ...zeros(grace)]);
  const shortTerm = Math.min(Math.max(recent, longTerm), SURGE_FACTOR * longTerm);
  return dynamicFees2021({ reward: rewardOf(view), shortTermMedian: shortTerm, longTermMedian: longTerm });
}

/** Source: blockchain.cpp `get_dynamic_base_fee_estimate`. */
function singleFee({ state, now }: ChainParts, grace: number): bigint {
  const view = state.view();
  const { hardForkVersion: version } = view;
  const smallest = minimumFullRewardWeight(version);
  const empty = Array.from({ length: grace }, () => smallest);
  const shortTerm = Math.max(median([...view.recentWeights(REWARD_WINDOW - grace), ...empty]), smallest);
  const { longTermEffectiveMedian } = chainContext(view, now()).limits;
  const isLongTerm = forkRules(version).weight !== "short";
  const medianWeight = isLongTerm ? Math.min(shortTerm, longTermEffectiveMedian) : shortTerm;
  return dynamicBaseFee({ reward: rewardOf(view), medianWeight, version });
}

import type { ExactObject } from "@anulo/testkit";
import { chainHeight, forkHeights } from "./plan.ts";

export type Question = { readonly method: string; readonly params: ExactObject };

/** What both programs are asked when the chain has this height. */
export function questionsAt(height: number): Question[] {
  const nearFork = forkHeights.some((at) => height >= at - 1 && height <= at + 1);
  if (height === chainHeight) return [...always, ...atTheEnd];
  return nearFork || height % 10 === 0 ? always : [];
}

const always: Question[] = [
  { method: "hard_fork_info", params: {} },
  { method: "get_fee_estimate", params: { grace_blocks: 10 } },
  { method: "get_info", params: {} },
];

const atTheEnd: Question[] = [
  { method: "get_coinbase_tx_sum", params: { height: 0, count: chainHeight } },
  { method: "get_output_histogram", params: { amounts: [], min_count: 0, max_count: 0, unlocked: false } },
  { method: "get_output_histogram", params: { amounts: [], min_count: 3, max_count: 0, unlocked: true } },
  {
    method: "get_output_distribution",
    params: { amounts: [0, 10_000_000_000_000], cumulative: true, binary: false },
  },
];

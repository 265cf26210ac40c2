import { call, type ExactObject, post } from "@anulo/testkit";
import { lockedToHeight, lockedToTime } from "./forge/amounts.ts";
import { chainHeight, forkHeights } from "./plan.ts";

export type Question = { readonly method: string; readonly params: ExactObject };

/** What both programs are asked when the chain has this height. */
export function questionsAt(height: number): Question[] {
  const nearFork = forkHeights.some((at) => height >= at - 1 && height <= at + 1);
  if (outputHeights.includes(height)) return [...always, outputs];
  if (height === chainHeight) return [...always, ...atTheEnd];
  return nearFork || height % 10 === 0 ? always : [];
}

const outputHeights = [290, 310, 363, 364, 410];

const always: Question[] = [
  { method: "hard_fork_info", params: {} },
  { method: "get_fee_estimate", params: { grace_blocks: 10 } },
  { method: "get_info", params: {} },
];

/** The oldest outputs of some amounts, some of them locked. */
const outputs: Question = {
  method: "/get_outs",
  params: {
    outputs: [
      ...[0, 10_000_000_000_000].flatMap((amount) =>
        Array.from({ length: 40 }, (_, i) => ({ amount, index: 3 * i })),
      ),
      ...[lockedToTime, lockedToHeight].map((amount) => ({ amount: Number(amount), index: 0 })),
    ],
    get_txid: true,
  },
};

const atTheEnd: Question[] = [
  outputs,
  { method: "get_coinbase_tx_sum", params: { height: 0, count: chainHeight } },
  { method: "get_output_histogram", params: { amounts: [], min_count: 0, max_count: 0, unlocked: false } },
  { method: "get_output_histogram", params: { amounts: [], min_count: 3, max_count: 0, unlocked: true } },
  {
    method: "get_output_distribution",
    params: { amounts: [0, 10_000_000_000_000], cumulative: true, binary: false },
  },
];

/** Asks a node. */
export function ask(url: string, { method, params }: Question): Promise<ExactObject> {
  return method.startsWith("/") ? post(`${url}${method}`, params) : call(url, method, params);
}

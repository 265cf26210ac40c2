import { costs } from "../costs.ts";
import { binaryPath, method, path } from "../define.ts";
import { list, object, optional, or, zero } from "../schema/composites.ts";
import { flag, hash, rawBytes, u64, uint } from "../schema/scalars.ts";
import { accessStatus } from "./fields.ts";
import { outputDistribution } from "./output-distribution.ts";

const outputIndex = object({ amount: zero(u64), index: zero(u64) });

const distributionParams = {
  amounts: list(u64),
  from_height: or(uint, 0),
  to_height: or(uint, 0),
  cumulative: or(flag, false),
  compress: or(flag, false),
};

/** Outputs and how many there are. */
export const outputs = {
  getOuts: path({
    name: "/get_outs",
    cost: costs.large,
    reads: true,
    summary: "Outputs by amount and global index, with their keys.",
    params: object({ outputs: list(outputIndex), get_txid: zero(flag) }),
    result: object({
      outs: list(object({ height: uint, key: hash, mask: hash, txid: hash, unlocked: flag })),
      ...accessStatus,
    }),
  }),
  getOutsBin: binaryPath({
    name: "/get_outs.bin",
    cost: costs.large,
    reads: true,
    summary: "Outputs by amount and global index, with their keys (32 bytes each).",
    params: object({ outputs: list(outputIndex), get_txid: or(flag, true) }),
    result: object({
      outs: list(object({ height: uint, key: rawBytes, mask: rawBytes, txid: rawBytes, unlocked: flag })),
      ...accessStatus,
    }),
  }),
  getOutputHistogram: method({
    name: "get_output_histogram",
    cost: costs.large,
    reads: true,
    summary: "Number of outputs of each amount; RingCT outputs count as amount 0.",
    params: object({
      amounts: zero(list(u64)),
      min_count: zero(uint),
      max_count: zero(uint),
      unlocked: zero(flag),
      recent_cutoff: zero(uint),
    }),
    result: object({
      histogram: list(
        object({ amount: u64, total_instances: uint, unlocked_instances: uint, recent_instances: uint }),
      ),
      ...accessStatus,
    }),
  }),
  getOutputDistribution: method({
    name: "get_output_distribution",
    cost: costs.large,
    reads: true,
    summary: "Number of outputs of an amount in each block.",
    params: object({ ...distributionParams, binary: optional(flag) }),
    result: object({ distributions: list(outputDistribution), ...accessStatus }),
  }),
  getOutputDistributionBin: binaryPath({
    name: "/get_output_distribution.bin",
    cost: costs.large,
    reads: true,
    summary: "Number of outputs of an amount in each block.",
    params: object({ ...distributionParams, binary: or(flag, true) }),
    result: object({ distributions: list(outputDistribution), ...accessStatus }),
  }),
};

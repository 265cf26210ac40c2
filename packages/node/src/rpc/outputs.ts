import { daemon, type Implemented, implementFor } from "@anulo/rpc";
import type { NodeContext } from "./context.ts";
import { binaryOutputDistribution, outputDistribution } from "./output-distribution.ts";
import { outputHistogram } from "./output-histogram.ts";
import { getBinaryOutputs, getOutputs } from "./read-outputs.ts";

/** Handlers of the calls about outputs. */
export function outputHandlers(): Implemented<NodeContext>[] {
  return implementFor<NodeContext>()(daemon.outputs, {
    getOuts: getOutputs,
    getOutsBin: getBinaryOutputs,
    getOutputHistogram: outputHistogram,
    getOutputDistribution: (request, context) =>
      outputDistribution({ ...request, binary: request.binary ?? context.dialect === "upstream" }, context),
    getOutputDistributionBin: binaryOutputDistribution,
  });
}

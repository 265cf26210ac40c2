import { daemon, type Implemented } from "@anulo/rpc";
import { getBlocksByHeight, getBlocksOnly } from "./block-download.ts";
import type { CallTracking } from "./call-tracking.ts";
import type { ChainCallContext } from "./chain-call-context.ts";
import { requestedInfo } from "./pool-info.ts";
import { type HeaderRange, knownHeaders } from "./read-blocks.ts";
import { getBinaryOutputs, getOutputs } from "./read-outputs.ts";
import { getTransactions } from "./read-transactions.ts";
import { tracked } from "./tracked-calls.ts";

/** Thrown in a thread for what only the node's own thread knows, which then answers the call. */
export class OnlyInNode extends Error {
  override name = "OnlyInNode";
}

/** What handlers in a thread are given. */
export interface ThreadContext extends ChainCallContext {
  readonly calls: Pick<CallTracking, "note">;
}

type HandlerIn<P> = (params: P, context: ThreadContext) => unknown;

/** The calls that other threads answer, too, with the function that does. */
export function threadCalls(): Implemented<ThreadContext>[] {
  const { blocks, outputs, transactions } = daemon;
  const implemented = <P>(call: Implemented<never>["call"], handler: HandlerIn<P>) =>
    ({ call, handler }) as Implemented<ThreadContext>;
  return tracked([
    implemented(blocks.getBlockHeadersRange, (params: HeaderRange & WorkRequest, context) => {
      if (params.fill_pow_hash) throw new OnlyInNode("proofs of work are asked for");
      return knownHeaders(params, context);
    }),
    implemented(blocks.getBlocksBin, (params: Parameters<typeof getBlocksOnly>[0] & PoolRequest, context) => {
      if (params.requested_info !== requestedInfo.blocks) throw new OnlyInNode("the pool is asked for");
      return getBlocksOnly(params, context);
    }),
    implemented(blocks.getBlocksByHeightBin, getBlocksByHeight),
    implemented(transactions.getTransactions, getTransactions),
    implemented(outputs.getOuts, getOutputs),
    implemented(outputs.getOutsBin, getBinaryOutputs),
  ]);
}

type PoolRequest = { readonly requested_info: number };
type WorkRequest = { readonly fill_pow_hash: boolean };

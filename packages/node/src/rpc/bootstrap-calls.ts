import { type Call, daemonMethods, type Implemented } from "@anulo/rpc";
import type { AheadNode, CallKey } from "./bootstrap.ts";
import type { NodeContext } from "./context.ts";
import { refusal } from "./refusal.ts";

interface Asking {
  readonly key: CallKey;
  readonly params: unknown;
  readonly context: NodeContext;
}

/** The answer of the node that is ahead; undefined: this node is to answer itself. */
type Rule = (ahead: AheadNode, asking: Asking) => unknown;

const unsupported = "This command is unsupported for bootstrap daemon";

/** An answer other than OK is no better than our own. */
const byAnswer: Rule = async (ahead, { key, params }) => {
  const answer = await ahead.ask(key, params);
  return answer?.status === "OK" ? { ...answer, untrusted: true } : undefined;
};

const infoAnswered: Rule = async (ahead, asking) => {
  const answer = await byAnswer(ahead, asking);
  if (answer === undefined) return undefined;
  const { bootstrap, parts, restricted } = asking.context;
  return {
    ...answer,
    bootstrap_daemon_address: restricted ? "" : bootstrap.address,
    height_without_bootstrap: parts.store.read.height(),
    was_bootstrap_ever_used: true,
  };
};

/** Blocks of our own chain would look like a chain split to a wallet that follows the other node. */
const answeredThereOnly: Rule = async (ahead, asking) => {
  const answer = await byAnswer(ahead, asking);
  if (answer === undefined) throw refusal("internal", "The bootstrap daemon did not answer");
  return answer;
};

/** Its refusal counts too: our chain ends too early to judge. */
const byStatus: Rule = async (ahead, { key, params }) => {
  const answer = await ahead.ask(key, params);
  return answer && { ...answer, untrusted: true };
};

/**
 * What becomes of a call while a bootstrap node is ahead; what is not here is always answered by this node.
 * Source: core_rpc_server.cpp, the calls of `use_bootstrap_daemon_if_necessary` and `m_should_use_bootstrap_daemon`.
 */
const rules: { readonly [K in CallKey]?: Rule } = {
  getInfo: infoAnswered,
  getInfoPath: infoAnswered,
  getVersion: byAnswer,
  getHeight: byAnswer,
  getAltBlocksHashes: byAnswer,
  getLastBlockHeader: byAnswer,
  getBlockHeaderByHash: byAnswer,
  getBlockHeaderByHeight: byAnswer,
  getBlockHeadersRange: byAnswer,
  getBlock: byAnswer,
  getBlocksBin: answeredThereOnly,
  getBlocksByHeightBin: byAnswer,
  getHashesBin: byAnswer,
  hardForkInfo: byAnswer,
  getOuts: byAnswer,
  getOutsBin: byAnswer,
  getOIndexesBin: byAnswer,
  getOutputHistogram: byAnswer,
  getOutputDistribution: byAnswer,
  getOutputDistributionBin: byAnswer,
  getTransactions: byAnswer,
  isKeyImageSpent: byAnswer,
  sendRawTransaction: byStatus,
  getTransactionPool: byAnswer,
  getTransactionPoolHashes: byAnswer,
  getTransactionPoolHashesBin: byAnswer,
  getTransactionPoolStats: byAnswer,
  getTxpoolBacklog: byAnswer,
  getFeeEstimate: byAnswer,
  getBlockTemplate: byAnswer,
  addAuxPow: byAnswer,
  getLimit: byAnswer,
  rpcAccessInfo: byAnswer,
  rpcAccessSubmitNonce: byAnswer,
  rpcAccessPay: byAnswer,
  rpcAccessData: byAnswer,
  rpcAccessAccount: byAnswer,
  getBlockCount: () => ({ count: 0, status: unsupported }),
  onGetBlockHash: () => unsupported,
  submitBlock() {
    throw refusal("unsupportedBootstrap", unsupported);
  },
};

const keyOf = new Map<Call, CallKey>(
  Object.entries(daemonMethods).map(([key, call]) => [call, key as CallKey]),
);

type Handler = NonNullable<Implemented<NodeContext>["handler"]>;

async function answerOf(rule: Rule, asking: Asking, handler: Handler): Promise<never> {
  const { context, params } = asking;
  const ahead = await context.bootstrap.nodeAhead();
  const answer = ahead && (await rule(ahead, asking));
  return (answer ?? handler(params, context)) as never;
}

/** The same calls, answered by the bootstrap node where there is one and this node is behind. */
export function bootstrapped(calls: readonly Implemented<NodeContext>[]): Implemented<NodeContext>[] {
  return calls.map((implemented) => {
    const { call, handler } = implemented;
    const key = keyOf.get(call);
    const rule = key && rules[key];
    if (key === undefined || rule === undefined || handler === undefined) return implemented;
    return {
      call,
      handler: (params, context) =>
        context.bootstrap.isWanted
          ? answerOf(rule, { key, params, context }, handler)
          : handler(params, context),
    };
  });
}

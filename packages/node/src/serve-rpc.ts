import { availableParallelism } from "node:os";
import {
  type AnswerThreads,
  createRpcServer,
  defaultLimits,
  hasStrangers,
  limitsOfCallers,
  type RpcServer,
  unreadLog,
} from "@anulo/rpc";
import type { OpenChain } from "./chain/open-chain.ts";
import type { Pruner } from "./chain/pruning.ts";
import type { Backlog } from "./mining/backlog.ts";
import type { Miner } from "./mining/miner.ts";
import { defaultListen, isOffline, maxConnectionsOf, type NodeOptions, networkOf } from "./node-options.ts";
import type { Peering } from "./peer-network.ts";
import type { Pow } from "./pow/pow.ts";
import type { Bootstrap } from "./rpc/bootstrap.ts";
import { createCallThreads } from "./rpc/call-threads.ts";
import { createCallTracking } from "./rpc/call-tracking.ts";
import { nodeInterface } from "./rpc/calls.ts";
import type { NodeContext, NodeServices } from "./rpc/context.ts";
import { createFailingCallers, forgiving } from "./rpc/failing-callers.ts";
import { createAnswerMemory } from "./rpc/memory.ts";
import { contextsOf, withoutMapping } from "./rpc/request-context.ts";

/** The parts of a node that its RPC is about. */
export interface ServedParts {
  readonly chain: OpenChain;
  readonly pruner: Pruner;
  readonly pow: Pow;
  readonly peering: Peering;
  readonly miner: Miner;
  readonly bootstrap: Bootstrap;
  readonly backlog: Backlog;
  readonly now: () => number;
  readonly requestStop: () => void;
}

/** More threads would gain little, and each takes memory. */
const MAX_ANSWER_THREADS = 3;

/** One processor is left to the event loop. */
function answerThreadsOf({ verifyThreads = availableParallelism(), answerThreads }: NodeOptions): number {
  return answerThreads ?? Math.max(0, Math.min(MAX_ANSWER_THREADS, verifyThreads - 1));
}

/** Starts the RPC of a node, and what answers its calls. */
export async function serveRpc(
  options: NodeOptions,
  { chain, pruner, pow, miner, peering, bootstrap, backlog, now, requestStop }: ServedParts,
): Promise<{ readonly server: RpcServer; readonly callThreads: AnswerThreads }> {
  const { listen = defaultListen, dialect, login, log = unreadLog() } = options;
  const { connections = defaultLimits.connections, ...otherLimits } = options.limits ?? {};
  const limits = { ...otherLimits, connections: Math.min(connections, maxConnectionsOf(options)) };
  let server: RpcServer | undefined;
  const { bans } = peering.network;
  let changes = 0;
  chain.events.listen(() => changes++);
  const services: NodeServices = {
    parts: chain.parts,
    pruner,
    pow,
    peers: peering.protocol,
    network: peering.network,
    neededStripe: () => peering.neededStripe(),
    miner,
    backlog,
    random: options.random,
    startTime: now(),
    offline: isOffline(options),
    bans,
    failingCallers: options.banFailingCallers === true ? createFailingCallers(bans) : forgiving,
    bootstrap,
    calls: createCallTracking(),
    log,
    memory: createAnswerMemory(chain.parts),
    changes: () => changes,
    connectionCount: () => server?.connectionCount() ?? 0,
    requestStop,
  };
  const callThreads = createCallThreads({
    services,
    network: networkOf(options),
    limits: limitsOfCallers(limits, hasStrangers(listen)),
    maxThreads: answerThreadsOf(options),
    log: log.in("daemon.rpc"),
  });
  server = await createRpcServer<NodeContext>({
    ...nodeInterface(),
    listen,
    isShutOut: (remoteAddress) =>
      bans.isInUse() && (bans.secondsLeft(withoutMapping(remoteAddress)) ?? 0) > 0,
    context: contextsOf(services),
    rowsRead: () => chain.parts.store.rowsRead(),
    ...(dialect !== undefined && { dialect }),
    ...(login !== undefined && { login }),
    limits,
    threads: callThreads,
    ...(options.tls !== undefined && { tls: options.tls }),
    ...(options.origins !== undefined && { origins: options.origins }),
    pages: options.pages,
    log: log.in("daemon.rpc"),
    onCall: options.onCall,
    onRead: options.onRead,
  });
  return { server, callThreads };
}

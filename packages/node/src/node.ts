import { availableParallelism } from "node:os";
import type { Checkpoint, KnownBlocks, SeedSchedule } from "@anulo/consensus";
import type { RandomSource } from "@anulo/crypto";
import { type Network, type NetworkName, networks } from "@anulo/protocol";
import {
  createRpcServer,
  type Dialect,
  defaultLimits,
  type Limits,
  type Listener,
  type Log,
  type Login,
  type RpcServer,
  type RpcServerOptions,
  silent,
  type TlsOptions,
  unreadLog,
  type ZmqEndpoint,
} from "@anulo/rpc";
import type { StoreOptions, SyncMode } from "@anulo/storage";
import { RATE_BLOCKS, type UnusualBlockRate, unusualBlockRate } from "./block-rate.ts";
import type { Events } from "./chain/events.ts";
import { type OpenChain, openChain } from "./chain/open-chain.ts";
import type { ChainParts } from "./chain/parts.ts";
import { createPruner, type Pruner } from "./chain/pruning.ts";
import { connectionsPerPort } from "./descriptors.ts";
import { logChain } from "./log-events.ts";
import type { BackgroundSettings } from "./mining/background.ts";
import type { PowerSource } from "./mining/background-mode.ts";
import { Backlog } from "./mining/backlog.ts";
import { createMiner, type Miner, type MiningOrder } from "./mining/miner.ts";
import { startWhen } from "./mining/start-when.ts";
import { createNodeMonitor, type NodeMonitor } from "./monitor/monitor.ts";
import { createNews, type News } from "./news/publish-news.ts";
import { createPeering, type Peering, type PeerOptions } from "./peer-network.ts";
import { dropStale } from "./pool/maintain.ts";
import { followSeeds } from "./pow/follow-seeds.ts";
import { createPow, type Pow, type PowOptions } from "./pow/pow.ts";
import { type Bootstrap, createBootstrap } from "./rpc/bootstrap.ts";
import { type BootstrapChoice, readChoice } from "./rpc/bootstrap-choice.ts";
import { createCallTracking } from "./rpc/call-tracking.ts";
import { nodeInterface } from "./rpc/calls.ts";
import type { NodeContext, NodeServices } from "./rpc/context.ts";
import { createFailingCallers, forgiving } from "./rpc/failing-callers.ts";
import { createAnswerMemory } from "./rpc/memory.ts";
import { contextsOf, withoutMapping } from "./rpc/request-context.ts";
import { stopEach } from "./stop-each.ts";
import { createVerifiers, type Verifiers } from "./verify-workers/verifiers.ts";

const defaultListen: readonly Listener[] = [{ host: "127.0.0.1", port: 0 }];

/** Options of a node. All but the network may be left out. */
export interface NodeOptions
  extends Pick<RpcServerOptions<never>, "onCall" | "onRead" | "pages">,
    Pick<StoreOptions, "onMigration"> {
  /** A network's name; or its parameters, for tests on chains with other hard forks. */
  readonly network: NetworkName | Network;
  /** The database file; if left out, a temporary one, deleted when the node stops. */
  readonly databasePath?: string | undefined;
  /** When blocks are flushed to disk; by default soon after, see docs/database.md. */
  readonly syncMode?: SyncMode | undefined;
  /** Whether the blocks beside the main chain are kept over a restart; by default they are dropped at the start. */
  readonly keepAltBlocks?: boolean | undefined;
  /** Removes the proofs of old transactions, except for one stripe of the chain. */
  readonly pruneBlockchain?: boolean | undefined;
  /** Difficulty of every block, on test chains; by default it follows from the chain. */
  readonly fixedDifficulty?: bigint | undefined;
  /** When RandomX changes its seed, on test chains; by default as on every network. */
  readonly seedSchedule?: SeedSchedule | undefined;
  /** Block ids that the chain must have, besides those built in for its network. */
  readonly checkpoints?: readonly Checkpoint[] | undefined;
  /** The known beginning of the chain, whose blocks need no proofs; if left out, every block is verified in full. */
  readonly knownBlocks?: KnownBlocks | undefined;
  /** How RandomX is computed; by default by the system's library if there is one. */
  readonly hashing?: Pick<PowOptions, "isPortable" | "disabledFlags"> | undefined;
  /** Where the RPC listens; by default on a free port of 127.0.0.1. */
  readonly listen?: readonly Listener[] | undefined;
  readonly dialect?: Dialect | undefined;
  readonly login?: Login | undefined;
  readonly limits?: Partial<Limits> | undefined;
  /** If left out, RPC is not encrypted. */
  readonly tls?: TlsOptions | undefined;
  /** Origins whose web pages may use RPC. */
  readonly origins?: readonly string[] | undefined;
  /** Threads that check proofs; with 0 they are checked in this thread. By default one per processor. */
  readonly verifyThreads?: number | undefined;
  /** How many descriptors the process may open; ports share what is left of them. By default they are not limited. */
  readonly descriptors?: number | undefined;
  /** Bans, for a day, callers that keep requesting another chain; by default none is banned. */
  readonly banFailingCallers?: boolean | undefined;
  /** Mines from the start. */
  readonly mining?: MiningOrder | undefined;
  /** When background mining may work; by default as in the original. */
  readonly backgroundMining?: BackgroundSettings | undefined;
  /** Returns the machine's source of power; by default it is unknown. */
  readonly powerSource?: (() => PowerSource) | undefined;
  /** Weight (bytes) of waiting transactions above which the cheapest are dropped. */
  readonly maxPoolWeight?: number | undefined;
  /** Options of the connections to peers; if left out, there are none. */
  readonly peers?: PeerOptions | undefined;
  /** Called when blocks arrive at a rate that chance does not explain. */
  readonly onUnusualBlockRate?: ((rate: UnusualBlockRate) => void) | undefined;
  /** Another node that answers while this one is behind. */
  readonly bootstrap?: BootstrapChoice | undefined;
  /** ZeroMQ endpoints at which events of chain and pool are published; none by default. */
  readonly publishAt?: readonly ZmqEndpoint[] | undefined;
  /** Never connects to peers. */
  readonly offline?: boolean | undefined;
  /** Unix seconds; by default the system's clock. */
  readonly now?: (() => number) | undefined;
  /** Source of the keys of miner transactions; by default the system's. */
  readonly random?: RandomSource | undefined;
  readonly log?: Log | undefined;
}

/** A node. It can be started once and stopped once. */
export interface Node {
  start(): Promise<void>;
  /** Answers pending requests, then closes the ports and the database; a start that is under way rejects. */
  stop(): Promise<void>;
  /** Resolves when a caller requests the node to stop through its RPC. */
  readonly stopRequested: Promise<void>;
  /** The reason for which the node asks to be stopped: a failure of its disk. */
  readonly fault: Error | undefined;
  /** URL of each listener; available after the start. */
  readonly urls: readonly string[];
  /** ZeroMQ endpoints in use; available after the start. */
  readonly publishedAt: readonly string[];
  /** Ports at which peers are accepted; available after the start. */
  readonly peerPorts: readonly number[];
  /** The chain with its events; available after the start. */
  readonly chain: ChainParts;
  readonly events: Events;
  /** The monitor of the node; available after the start. */
  readonly monitor: NodeMonitor;
}

interface Running {
  readonly chain: OpenChain;
  readonly pruner: Pruner;
  readonly verifiers: Verifiers;
  readonly pow: Pow;
  readonly miner: Miner;
  /** Cancels a start of mining that is pending. */
  readonly cancelMining: () => void;
  readonly bootstrap: Bootstrap;
  readonly server: RpcServer;
  readonly peering: Peering;
  readonly news: News | undefined;
  /** ZeroMQ endpoints in use. */
  readonly publishedAt: readonly string[];
  readonly timers: readonly NodeJS.Timeout[];
}

const POOL_CLEANUP_MS = 60_000;
const BLOCK_RATE_MS = 90_000;
const systemClock = () => Math.floor(Date.now() / 1000);

function networkOf({ network }: NodeOptions): Network {
  return typeof network === "string" ? networks[network] : network;
}

/** Creates a node of any network. Throws BadBootstrap. */
export function createNode(options: NodeOptions): Node {
  // This is checked before anything is opened that would have to be closed.
  if (options.bootstrap !== undefined) readChoice(options.bootstrap);
  let resolveStop = () => {};
  const stopRequested = new Promise<void>((resolve) => {
    resolveStop = resolve;
  });
  const stopping = new AbortController();
  let starting: Promise<Running> | undefined;
  let running: Running | undefined;
  let fault: Error | undefined;
  let monitor: NodeMonitor | undefined;
  const fail = (reason: Error) => {
    if (fault === undefined)
      options.log?.in("blockchain").error("the node stops", { reason: reason.message });
    fault ??= reason;
    resolveStop();
  };
  const started = (): Running => {
    if (running === undefined) throw new Error("the node is not running");
    return running;
  };
  return {
    async start() {
      if (starting !== undefined) throw new Error("the node was started already");
      const { signal } = stopping;
      starting = run(options, { requestStop: () => resolveStop(), onFault: fail, stopped: signal });
      running = await starting;
      monitor = createNodeMonitor({ ...running, isOffline: isOffline(options), fault: () => fault });
    },
    async stop() {
      stopping.abort(new Error("the node was stopped while it started"));
      await starting?.catch(() => {});
      if (running === undefined) return;
      const parts = running;
      running = undefined;
      await stopAll(parts);
    },
    stopRequested,
    get fault() {
      return fault;
    },
    get urls() {
      return started().server.urls;
    },
    get publishedAt() {
      return started().publishedAt;
    },
    get peerPorts() {
      return started().peering.network.ports;
    },
    get chain() {
      return started().chain.parts;
    },
    get events() {
      return started().chain.events;
    },
    get monitor() {
      started();
      return monitor!;
    },
  };
}

interface StartCallbacks {
  requestStop(): void;
  onFault(fault: Error): void;
  /** Aborted when the node has to stop, even while it starts. */
  readonly stopped: AbortSignal;
}

/** The parts that are running so far. */
type StartedParts = { -readonly [K in keyof Running]?: Running[K] };

/** Stops peers and RPC first, and the chain that they read last. */
function stopAll(parts: StartedParts): Promise<void> {
  const {
    server,
    bootstrap,
    chain,
    pruner,
    verifiers,
    pow,
    miner,
    cancelMining,
    peering,
    news,
    timers = [],
  } = parts;
  for (const timer of timers) clearInterval(timer);
  return stopEach([
    () => cancelMining?.(),
    () => miner?.stop(),
    () => peering?.stop(),
    () => pruner?.stop(),
    () => bootstrap?.stop(),
    () => server?.stop(),
    () => news?.stop(),
    () => verifiers?.stop(),
    () => pow?.stop(),
    () => chain?.close(),
  ]);
}

/** Starts everything, or nothing: if a part fails, the parts already started are stopped. */
async function run(options: NodeOptions, reports: StartCallbacks): Promise<Running> {
  const startedParts: StartedParts = {};
  try {
    return await startAll(options, reports, startedParts);
  } catch (error) {
    await stopAll(startedParts).catch((failure) =>
      options.log?.in("global").error("what had begun could not be stopped", { error: failure }),
    );
    throw error;
  }
}

function openMiner(options: NodeOptions, { parts, events }: OpenChain, pow: Pow): Miner {
  return createMiner({
    parts,
    events,
    pow,
    log: (options.log ?? silent).in("miner"),
    background: options.backgroundMining,
    powerSource: options.powerSource,
  });
}

function openPow({ log, hashing }: NodeOptions, threads: number): Pow {
  const powLog = log?.in("pow");
  return createPow({
    ...hashing,
    threads: Math.max(1, threads),
    onEngine: (engine, reason) => powLog?.info("RandomX is computed", { by: engine, reason }),
    onDataset: ({ type, ...news }) => powLog?.info("dataset for mining", news),
  });
}

interface ChainDependencies {
  readonly discharge: Verifiers["discharge"];
  readonly now: () => number;
  readonly onFault: (fault: Error) => void;
  readonly news: News | undefined;
  readonly signal: AbortSignal;
}

function openChainOf(options: NodeOptions, { news, ...under }: ChainDependencies): Promise<OpenChain> {
  const { fixedDifficulty, seedSchedule, checkpoints, knownBlocks } = options;
  const { databasePath: path, syncMode, maxPoolWeight, keepAltBlocks, onMigration } = options;
  const rules = { network: networkOf(options), fixedDifficulty, seedSchedule, checkpoints, knownBlocks };
  const database = { path, syncMode, maxPoolWeight, keepAltBlocks, onMigration };
  return openChain({ ...rules, ...database, ...under, onBug: bugLog(options), onAppended: news?.observe });
}

async function startAll(
  options: NodeOptions,
  { requestStop, onFault, stopped }: StartCallbacks,
  startedParts: StartedParts,
): Promise<Running> {
  const { now = systemClock, verifyThreads = availableParallelism(), databasePath } = options;
  const pow = openPow(options, verifyThreads);
  const verifiers = createVerifiers({ threads: verifyThreads, pow });
  Object.assign(startedParts, { pow, verifiers });
  const network = networkOf(options);
  const news = newsOf(options);
  const { discharge } = verifiers;
  const chain = await openChainOf(options, { discharge, now, onFault, news, signal: stopped });
  startedParts.chain = chain;
  stopped.throwIfAborted();
  const backlog = new Backlog(now, chain.parts.proofs.unproven);
  startedParts.news = news;
  const publisher = await news?.start(chain, backlog);
  const miner = openMiner(options, chain, pow);
  startedParts.miner = miner;
  followSeeds(pow, chain.parts, chain.events);
  if (options.log !== undefined) logChain(chain, options.log.in("blockchain"));
  const peering = createPeering({
    network,
    chain,
    now,
    isOffline: isOffline(options),
    log: options.log ?? silent,
    peers: { maxAccepted: maxConnectionsOf(options), ...options.peers },
  });
  startedParts.peering = peering;
  await peering.start();
  stopped.throwIfAborted();
  const pruner = startPruner(options, chain);
  startedParts.pruner = pruner;
  const bootstrap = bootstrapOf(options, { chain, peering });
  startedParts.bootstrap = bootstrap;
  const behind = { chain, pruner, pow, miner, peering, bootstrap, backlog, now, requestStop };
  const server = await serve(options, behind);
  startedParts.server = server;
  stopped.throwIfAborted();
  // What the check finds is reported as a fault. The most important part was checked at opening, so callers need not
  // wait for the rest.
  if (databasePath !== undefined) void chain.parts.store.checkStructure();
  const { sync } = peering.protocol;
  const cancelMining =
    options.mining === undefined ? () => {} : startWhen(() => sync.isSynchronized, miner, options.mining);
  const timers = [
    setInterval(() => dropOldTransactions(options, chain), POOL_CLEANUP_MS).unref(),
    setInterval(() => checkBlockRate(options, chain, peering), BLOCK_RATE_MS).unref(),
  ];
  const publishedAt = publisher?.addresses ?? [];
  const served = { peering, bootstrap, server, news, publishedAt, timers };
  return { chain, pruner, verifiers, pow, miner, cancelMining, ...served };
}

function newsOf({ publishAt = [], log }: NodeOptions): News | undefined {
  return publishAt.length === 0 ? undefined : createNews(publishAt, (log ?? silent).in("net.zmq"));
}

/** Logs errors that listeners throw; without a log they end the process. */
function bugLog({ log }: NodeOptions): ((bug: unknown) => void) | undefined {
  return (
    log && ((error) => log.in("global").error("a bug: news of the chain could not be handled", { error }))
  );
}

/** Runs by itself: errors are logged. */
function dropOldTransactions({ log }: NodeOptions, { parts }: OpenChain): void {
  void dropStale(parts).catch((error) => {
    log?.in("txpool").error("old transactions could not be dropped", { error });
  });
}

/** Checks the block rate of a chain that is up to date. Source: cryptonote_core.cpp `check_block_rate`. */
function checkBlockRate(options: NodeOptions, { parts }: OpenChain, { protocol }: Peering): void {
  const isCaughtUp = protocol.sync.isSynchronized && protocol.links.length > 0;
  if (!isCaughtUp || parts.network.name === "regtest") return;
  const rate = unusualBlockRate(parts.state.view().recentTimestamps(RATE_BLOCKS), parts.now());
  if (rate === undefined) return;
  options.log
    ?.in("global")
    .warn("blocks come at an odd rate: cut off, under attack, or a wrong clock?", { ...rate });
  options.onUnusualBlockRate?.(rate);
}

function isOffline({ offline, peers }: NodeOptions): boolean {
  return offline ?? peers === undefined;
}

/** Errors of pruning in the background are faults of the disk, which the store reports. */
function startPruner({ log, pruneBlockchain }: NodeOptions, { parts }: OpenChain): Pruner {
  const onProgress = ({ height, end }: { readonly height: number; readonly end: number }) =>
    log?.in("blockchain").info("pruning", { height, end, percent: Math.floor((100 * height) / end) });
  const pruner = createPruner(parts.store, { onProgress });
  if (pruneBlockchain === true) void pruner.prune().catch(() => {});
  return pruner;
}

function bootstrapOf(
  options: NodeOptions,
  { chain, peering }: Pick<Running, "chain" | "peering">,
): Bootstrap {
  const bootstrap = createBootstrap({
    height: () => chain.parts.store.read.height(),
    noSync: options.peers?.noSync === true,
    publicNodes: () => peering.network.lists("public"),
    proxy: options.peers?.proxy,
    log: (options.log ?? silent).in("daemon.rpc.bootstrap_daemon"),
  });
  if (options.bootstrap !== undefined) bootstrap.choose(options.bootstrap);
  return bootstrap;
}

interface ServedParts {
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

/** How many connections each port accepts: the peers', those of callers, and those of subscribers. */
function maxConnectionsOf(options: NodeOptions): number {
  const { listen = defaultListen, publishAt = [], descriptors = Number.POSITIVE_INFINITY } = options;
  return connectionsPerPort(1 + listen.length + publishAt.length, descriptors);
}

async function serve(
  options: NodeOptions,
  { chain, pruner, pow, miner, peering, bootstrap, backlog, now, requestStop }: ServedParts,
): Promise<RpcServer> {
  const { listen = defaultListen, dialect, login, log = unreadLog() } = options;
  const { connections = defaultLimits.connections, ...limits } = options.limits ?? {};
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
  server = await createRpcServer<NodeContext>({
    ...nodeInterface(),
    listen,
    isShutOut: (remoteAddress) =>
      bans.isInUse() && (bans.secondsLeft(withoutMapping(remoteAddress)) ?? 0) > 0,
    context: contextsOf(services),
    rowsRead: () => chain.parts.store.rowsRead(),
    ...(dialect !== undefined && { dialect }),
    ...(login !== undefined && { login }),
    limits: { ...limits, connections: Math.min(connections, maxConnectionsOf(options)) },
    ...(options.tls !== undefined && { tls: options.tls }),
    ...(options.origins !== undefined && { origins: options.origins }),
    pages: options.pages,
    log: log.in("daemon.rpc"),
    onCall: options.onCall,
    onRead: options.onRead,
  });
  return server;
}

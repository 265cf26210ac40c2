import { availableParallelism } from "node:os";
import { type AnswerThreads, type RpcServer, silent } from "@anulo/rpc";
import { RATE_BLOCKS, unusualBlockRate } from "./block-rate.ts";
import type { Events } from "./chain/events.ts";
import { type OpenChain, openChain } from "./chain/open-chain.ts";
import type { ChainParts } from "./chain/parts.ts";
import { createPruner, type Pruner } from "./chain/pruning.ts";
import { logChain } from "./log-events.ts";
import { Backlog } from "./mining/backlog.ts";
import { createMiner, type Miner } from "./mining/miner.ts";
import { startWhen } from "./mining/start-when.ts";
import { createNodeMonitor, type NodeMonitor } from "./monitor/monitor.ts";
import { createNews, type News } from "./news/publish-news.ts";
import { isOffline, maxConnectionsOf, type NodeOptions, networkOf } from "./node-options.ts";
import { createPeering, type Peering } from "./peer-network.ts";
import { dropStale } from "./pool/maintain.ts";
import { followSeeds } from "./pow/follow-seeds.ts";
import { createPow, type Pow } from "./pow/pow.ts";
import { type Bootstrap, createBootstrap } from "./rpc/bootstrap.ts";
import { readChoice } from "./rpc/bootstrap-choice.ts";
import { serveRpc } from "./serve-rpc.ts";
import { stopEach } from "./stop-each.ts";
import { createVerifiers, type Verifiers } from "./verify-workers/verifiers.ts";

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
  readonly callThreads: AnswerThreads;
  readonly peering: Peering;
  readonly news: News | undefined;
  /** ZeroMQ endpoints in use. */
  readonly publishedAt: readonly string[];
  readonly timers: readonly NodeJS.Timeout[];
}

const POOL_CLEANUP_MS = 60_000;
const BLOCK_RATE_MS = 90_000;
const systemClock = () => Math.floor(Date.now() / 1000);

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
    callThreads,
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
    () => callThreads?.stop(),
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
  const { server, callThreads } = await serveRpc(options, behind);
  Object.assign(startedParts, { server, callThreads });
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
  const served = { peering, bootstrap, server, callThreads, news, publishedAt, timers };
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

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createNode, type Node, type NodeOptions, nodeMetrics, nodeReadiness } from "@anulo/node";
import { type NetworkName, networks } from "@anulo/protocol";
import { type CallTally, createCallTally, type Log } from "@anulo/rpc";
import { announceNode } from "./announce.ts";
import { isAnsweredAtOnce } from "./answered-at-once.ts";
import { withPasswords } from "./ask-passwords.ts";
import { bootstrapFlags, bootstrapOf } from "./bootstrap-flags.ts";
import { chainFlags, chainPlaceOf, rulesFlags, rulesOf } from "./chain-flags.ts";
import { configurationFlag, readConfiguration } from "./configuration.ts";
import { consoleFlags, pagesOf } from "./console-flags.ts";
import { databaseFlags, databaseOptions, runDatabaseCheck } from "./database-flags.ts";
import { descriptorLimit } from "./descriptor-limit.ts";
import { detachFlags, keepPidFile } from "./detach.ts";
import { optimizeInUse, setHeapGrowth } from "./engine.ts";
import type { FlagTable, Values } from "./flags.ts";
import { nameFoundChain } from "./found-chain.ts";
import { metricsAddressOf, metricsFlags, serveMetrics } from "./metrics-flags.ts";
import { createMigrationBar } from "./migration-bar.ts";
import { hashingOptions, miningFlags, miningOptions } from "./mining.ts";
import { createNotifier, createRateNotifier, notifyFlags } from "./notify.ts";
import { originalNodeFlags } from "./original-flags.ts";
import { peerFlags, peerOptionsOf } from "./peer-flags.ts";
import { listenersOf, rpcAccessOf } from "./rpc-flags.ts";
import { checkPort, logOf, logWithoutEffect, parseLogin, serviceFlags } from "./service-flags.ts";
import { syncFlags, syncOptions } from "./sync-flags.ts";
import { untilSignalled } from "./until-signalled.ts";
import { publishAtOf, removeLeftoverSockets, zmqFlags } from "./zmq-flags.ts";

export const nodeFlags = {
  ...serviceFlags,
  ...configurationFlag("node"),
  ...consoleFlags,
  ...detachFlags,
  ...metricsFlags,
  ...notifyFlags,
  ...databaseFlags,
  "os-version": { kind: "switch", help: "show the system this runs on" },
  ...chainFlags,
  ...rulesFlags,
  ...miningFlags,
  ...peerFlags,
  ...syncFlags,
  ...bootstrapFlags,
  "rpc-bind-port": {
    kind: "number",
    value: "PORT",
    help: "port of RPC (18081, testnet 28081, stagenet 38081)",
  },
  "restricted-rpc": { kind: "switch", help: "serve only RPC that is safe for all, on --rpc-bind-port too" },
  "rpc-restricted-bind-ip": { kind: "text", value: "ADDRESS", help: "where restricted RPC listens" },
  "rpc-restricted-bind-ipv6-address": {
    kind: "text",
    value: "ADDRESS",
    help: "where restricted RPC listens with IPv6, given --rpc-use-ipv6 (::1)",
  },
  "rpc-restricted-bind-port": { kind: "number", value: "PORT", help: "also serve RPC that is safe for all" },
  "disable-rpc-ban": { kind: "switch", help: "do not shut out callers that keep failing" },
  ...zmqFlags,
  ...originalNodeFlags,
} as const satisfies FlagTable;

const restrictedAddress = {
  ipv4: "rpc-restricted-bind-ip",
  ipv6: "rpc-restricted-bind-ipv6-address",
} as const;

type Configured = NodeOptions & {
  readonly network: NetworkName;
  readonly databasePath: string;
  readonly log: Log;
};

async function optionsOf(flags: Values<typeof nodeFlags>): Promise<Configured> {
  const place = chainPlaceOf(flags);
  const { network, databasePath } = place;
  const rpcPort = checkPort("rpc-bind-port", flags["rpc-bind-port"] ?? networks[network].ports.rpc);
  const ownerPort = listenersOf(flags, rpcPort).map((listener) => ({
    ...listener,
    restricted: flags["restricted-rpc"],
  }));
  const restrictedPort = flags["rpc-restricted-bind-port"];
  const strangersPort =
    restrictedPort === undefined
      ? []
      : listenersOf(flags, checkPort("rpc-restricted-bind-port", restrictedPort), restrictedAddress).map(
          (listener) => ({ ...listener, restricted: true }),
        );
  const publicPort = restrictedPort ?? (flags["restricted-rpc"] ? rpcPort : undefined);
  const listsFile = join(dirname(databasePath), "peers.bin");
  const { maxPoolWeight, peers } = syncOptions(flags);
  const log = logOf(flags);
  const listen = [...ownerPort, ...strangersPort];
  const login = flags["rpc-login"] === undefined ? undefined : parseLogin(flags["rpc-login"]);
  return {
    network,
    databasePath,
    ...rulesOf(flags, place),
    peers: {
      ...peers,
      ...(await peerOptionsOf(flags, { network, listsFile, restrictedPort: publicPort })),
      onSynchronized: () => setHeapGrowth("usual"),
    },
    maxPoolWeight,
    bootstrap: bootstrapOf(flags),
    ...databaseOptions(flags),
    ...hashingOptions(flags, process.env),
    ...miningOptions(flags, network),
    listen,
    pages: pagesOf(flags, { listen, hasLogin: login !== undefined }),
    ...rpcAccessOf(flags),
    dialect: flags["rpc-dialect"],
    login,
    verifyThreads: flags["max-concurrency"] || undefined,
    descriptors: descriptorLimit(),
    offline: flags.offline,
    banFailingCallers: flags["disable-rpc-ban"] !== true,
    publishAt: publishAtOf(flags, log.in("net.zmq")),
    log,
  };
}

/** Serves the node's metrics if enabled; returns a function that stops it. */
async function watch(
  node: Node,
  calls: CallTally,
  { address, databasePath, log }: Pick<Configured, "databasePath" | "log"> & { address: MetricsAddress },
): Promise<() => Promise<void>> {
  if (address === undefined) return async () => {};
  const { monitor } = node;
  const metrics = await serveMetrics({
    ...address,
    metrics: nodeMetrics,
    source: { node: monitor, calls, server: monitor.server },
    checks: nodeReadiness(monitor),
    fault: () => node.fault?.message,
    folder: dirname(databasePath),
    log: log.in("global"),
  });
  return metrics.stop;
}

type MetricsAddress = ReturnType<typeof metricsAddressOf>;

/** `anulo node`: runs a node until it receives a signal to stop. */
export async function runNode(args: readonly string[]): Promise<void> {
  const flags = readConfiguration("node", nodeFlags, args);
  if (isAnsweredAtOnce({ command: "node", title: "node", table: nodeFlags }, flags, args)) return;
  const notify = createNotifier(flags);
  const options = await optionsOf(await withPasswords(flags));
  logWithoutEffect(options.log, nodeFlags, flags);
  const onUnusualBlockRate = createRateNotifier(flags, options.log.in("notify"));
  if (flags["check-database"]) return await runDatabaseCheck(options.databasePath, options.network);
  nameFoundChain(chainPlaceOf(flags), flags, options.log);
  const address = metricsAddressOf(flags);
  const calls = createCallTally();
  const node = createNode({
    ...options,
    onMigration: createMigrationBar(),
    onUnusualBlockRate: onUnusualBlockRate,
    onRead: optimizeInUse().onRead,
    ...(address && { onCall: calls.onCall }),
  });
  mkdirSync(dirname(options.databasePath), { recursive: true });
  removeLeftoverSockets(options.publishAt ?? []);
  if (!options.offline) setHeapGrowth("least");
  const signalled = untilSignalled();
  const starting = node.start();
  if (await Promise.race([signalled.then(() => true), starting.then(() => false)])) {
    void starting.catch(() => {});
    return await node.stop();
  }
  const endWatch = await watch(node, calls, { ...options, address }).catch(async (error) => {
    await node.stop();
    throw error;
  });
  keepPidFile(flags.pidfile);
  const blockId = (height: number) => node.chain.store.read.blockInfo(height)?.hash;
  node.events.listen((event) => notify(event, { log: options.log.in("notify"), blockId }));
  process.stdout.write(`node: ${node.urls.join(" ")}\n`);
  const line = announceNode(node, options);
  await Promise.race([signalled, node.stopRequested]);
  line.stop();
  await endWatch();
  await node.stop();
  options.log.in("global").info("stopped");
  if (node.fault !== undefined) throw node.fault;
}

import { type CallTally, createCallTally, type Log, type Login } from "@anulo/rpc";
import {
  createWalletService,
  WalletRefusal,
  type WalletService,
  type WalletServiceOptions,
  walletMetrics,
} from "@anulo/wallet";
import { accessFlags, accessOf } from "./access-flags.ts";
import { isAnsweredAtOnce } from "./answered-at-once.ts";
import { withPasswords } from "./ask-passwords.ts";
import { configurationFlag, readConfiguration } from "./configuration.ts";
import { consoleFlags, pagesOf } from "./console-flags.ts";
import { daemonFlags, daemonOf } from "./daemon-flags.ts";
import { detachFlags, keepPidFile } from "./detach.ts";
import { aliasesOf, dnsFlags } from "./dns-flags.ts";
import { optimizeInUse } from "./engine.ts";
import { eventFlags, eventLogOf } from "./event-flags.ts";
import { firstWalletFlags, firstWalletOf, makeWalletFolder } from "./first-wallet-flags.ts";
import { BadUsage, type FlagTable, type Values } from "./flags.ts";
import { fleetFlags, fleetOf } from "./fleet-flags.ts";
import { leaveMemoryOutOfCoreDumps } from "./last-words.ts";
import { ledgerStoreFlags, ledgerStoreOf } from "./ledger-store-flags.ts";
import { makeLogin } from "./login-file.ts";
import { metricsAddressOf, metricsFlags, serveMetrics } from "./metrics-flags.ts";
import { createTxNotifier } from "./notify.ts";
import { listenersOf, rpcAccessOf } from "./rpc-flags.ts";
import {
  checkPort,
  logOf,
  logWithoutEffect,
  parseLogin,
  serviceFlags,
  versionText,
} from "./service-flags.ts";
import { readTextFile } from "./text-file.ts";
import { untilSignalled } from "./until-signalled.ts";

export const walletFlags = {
  ...serviceFlags,
  ...configurationFlag("wallet"),
  ...consoleFlags,
  ...detachFlags,
  ...metricsFlags,
  testnet: { kind: "switch", help: "addresses of testnet" },
  stagenet: { kind: "switch", help: "addresses of stagenet" },
  ...firstWalletFlags,
  ...ledgerStoreFlags,
  ...eventFlags,
  ...accessFlags,
  ...fleetFlags,
  "rpc-bind-port": { kind: "number", value: "PORT", help: "port of RPC (needed)" },
  "disable-rpc-login": { kind: "switch", help: "ask for no login" },
  "restricted-rpc": { kind: "switch", help: "only what can neither spend nor show secrets" },
  ...daemonFlags,
  ...dnsFlags,
  "tx-notify": {
    kind: "text",
    value: "COMMAND",
    help: "run this for each transaction that pays a wallet; %s is its id",
  },
  "no-original-cache": {
    kind: "switch",
    help: "leave no wallet cache for the original programs beside our files",
  },
  "max-open-wallets": {
    kind: "number",
    value: "N",
    help: "most wallets open at once by their names, /wallets/NAME/json_rpc (1000)",
  },
  "close-idle-wallets": {
    kind: "number",
    value: "SECONDS",
    help: "close a wallet that a call by its name opened once none has come for so long (600)",
  },
  "kdf-rounds": { kind: "number", value: "N", help: "rounds that make a key of a password (1)" },
  "extra-entropy": { kind: "text", value: "FILE", help: "read, but the system's randomness needs none" },
  "rpc-client-secret-key": {
    kind: "text",
    value: "KEY",
    help: "checked, but no node is paid for its answers yet",
  },
  "shared-ringdb-dir": { kind: "text", value: "FOLDER", noEffect: "rings are kept with their wallet" },
  "disable-rpc-ban": { kind: "switch", noEffect: "a wallet service shuts nobody out" },
  "rpc-restricted-bind-ip": { kind: "text", value: "ADDRESS", noEffect: "only nodes have such a port" },
  "rpc-restricted-bind-ipv6-address": {
    kind: "text",
    value: "ADDRESS",
    noEffect: "only nodes have such a port",
  },
  "bitmessage-address": { kind: "text", value: "URL", noEffect: "no messages are exchanged" },
  "bitmessage-login": { kind: "text", value: "USER:PASSWORD", noEffect: "no messages are exchanged" },
  "hw-device": { kind: "text", value: "NAME", help: "refused: keys on devices are not supported" },
  "hw-device-deriv-path": { kind: "text", value: "PATH", help: "refused: keys on devices are not supported" },
} as const satisfies FlagTable;

type Flags = Values<typeof walletFlags>;

function loginOf(flags: Flags, port: number): Login | undefined {
  const { "rpc-login": login, "disable-rpc-login": isOpen } = flags;
  if (login === undefined) return isOpen ? undefined : makeLogin(port);
  if (isOpen) throw new BadUsage("Cannot specify --disable-rpc-login and --rpc-login");
  return parseLogin(login);
}

/** Checks for combinations that would not work, or not as the user expects. Throws BadUsage. */
function checkFlags(flags: Flags): void {
  const { "extra-entropy": entropy, "rpc-client-secret-key": clientKey } = flags;
  if (flags.testnet && flags.stagenet)
    throw new BadUsage("Can't specify more than one of --testnet and --stagenet");
  if (flags["max-open-wallets"] === 0) throw new BadUsage("--max-open-wallets must not be 0");
  if (flags["kdf-rounds"] === 0) throw new BadUsage("KDF rounds must not be 0");
  if (entropy !== undefined)
    readTextFile("extra-entropy", entropy, `Failed to load extra entropy from ${entropy}`);
  if (clientKey !== undefined && !/^[0-9a-f]{64}$/i.test(clientKey))
    throw new BadUsage("rpc-client-secret-key: RPC client secret key should be 32 byte in hex format");
  if (flags["hw-device"] || flags["hw-device-deriv-path"])
    throw new BadUsage("--hw-device: keys on devices are not supported");
}

async function optionsOf(flags: Flags): Promise<WalletServiceOptions & { readonly log: Log }> {
  checkFlags(flags);
  const { "rpc-bind-port": port, "wallet-dir": walletDirectory, "kdf-rounds": kdfRounds } = flags;
  if (port === undefined) throw new BadUsage("--rpc-bind-port is needed");
  const listen = listenersOf(flags, checkPort("rpc-bind-port", port));
  const network = (["stagenet", "testnet"] as const).find((name) => flags[name]) ?? "mainnet";
  const daemon = daemonOf(flags, network);
  const aliases = aliasesOf(flags, process.env);
  const log = logOf(flags);
  const { "tx-notify": notify, "max-open-wallets": maxOpen, "close-idle-wallets": idleSeconds } = flags;
  const onReceived = notify === undefined ? undefined : createTxNotifier(notify, log.in("notify"));
  const fleet = fleetOf(flags);
  const first = await firstWalletOf(flags);
  makeWalletFolder(walletDirectory);
  const login = loginOf(flags, port);
  const pages = pagesOf(flags, { listen, hasLogin: login !== undefined });
  const store = ledgerStoreOf(flags);
  const eventLog = eventLogOf(flags);
  const access = accessOf(flags, login !== undefined);
  return {
    listen,
    ...rpcAccessOf(flags),
    ...(pages !== undefined && { pages }),
    ...(walletDirectory !== undefined && { walletDirectory }),
    ...(first !== undefined && { first }),
    store,
    ...(fleet !== undefined && { fleet }),
    ...(eventLog !== undefined && { eventLog }),
    ...(access !== undefined && { access }),
    ...(kdfRounds !== undefined && { kdfRounds }),
    ...(maxOpen !== undefined && { maxOpen }),
    ...(idleSeconds !== undefined && { idleSeconds }),
    writesOriginalCache: !flags["no-original-cache"],
    ...(onReceived !== undefined && { onReceived }),
    ...daemon,
    ...(aliases !== undefined && { aliases }),
    network,
    restricted: flags["restricted-rpc"],
    ...(flags["rpc-dialect"] && { dialect: flags["rpc-dialect"] }),
    ...(login !== undefined && { login }),
    ...(flags["max-concurrency"] && { concurrency: flags["max-concurrency"] }),
    log,
  };
}

async function start(options: WalletServiceOptions): Promise<WalletService> {
  try {
    return await createWalletService(options);
  } catch (error) {
    if (!(error instanceof WalletRefusal)) throw error;
    const what = options.first?.kind === "json" ? "Error creating wallet" : "Wallet initialization failed";
    throw new BadUsage(`${what}: ${error.message}`);
  }
}

type Watching = {
  readonly calls: CallTally;
  readonly address: ReturnType<typeof metricsAddressOf>;
  readonly log: Log;
};

/** Serves the metrics of a service if enabled; returns a function that stops it. */
async function watch(
  service: WalletService,
  { calls, address, log }: Watching,
): Promise<() => Promise<void>> {
  if (address === undefined) return async () => {};
  const wallet = service.createMonitor();
  const metrics = await serveMetrics({
    ...address,
    metrics: walletMetrics,
    source: { wallet, calls, server: wallet.server },
    checks: wallet.checks,
    folder: service.options.walletDirectory,
    log: log.in("global"),
  });
  return metrics.stop;
}

/** `anulo wallet`: runs a wallet service until it receives a signal to stop. */
export async function runWallet(args: readonly string[]): Promise<void> {
  const flags = readConfiguration("wallet", walletFlags, args);
  if (isAnsweredAtOnce({ command: "wallet", title: "wallet service", table: walletFlags }, flags, args))
    return;
  leaveMemoryOutOfCoreDumps();
  const options = await optionsOf(await withPasswords(flags));
  logWithoutEffect(options.log, walletFlags, flags);
  const address = metricsAddressOf(flags);
  const calls = createCallTally();
  const signalled = untilSignalled();
  const service = await start({ ...options, ...optimizeInUse(), ...(address && { onCall: calls.onCall }) });
  const endWatch = await watch(service, { calls, address, log: options.log }).catch(async (error) => {
    await service.stop();
    throw error;
  });
  keepPidFile(flags.pidfile);
  process.stdout.write(`wallet service: ${service.url}\n`);
  options.log.in("global").info("wallet service started", {
    version: versionText.trim(),
    network: options.network,
    folder: options.walletDirectory ?? "none: wallets can be neither made nor opened",
    rpc: service.urls.join(" "),
    node: options.daemon.url || "none",
  });
  await Promise.race([signalled, service.ended]);
  await endWatch();
  await service.stop();
  options.log.in("global").info("stopped");
  // The process ends even if a thread is busy, or a connection does not end.
  process.exit();
}

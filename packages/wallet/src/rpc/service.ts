/** Scanning, the wallet's node, and the service itself. Declarations: @anulo/rpc wallet/service. */
import { availableParallelism } from "node:os";
import {
  categoriesOfLevel,
  wallet as declared,
  implementFor,
  type ParamsOf,
  type ServerTls,
  scopeRefusal,
} from "@anulo/rpc";
import { parseSocksProxy, type SocksProxy } from "@anulo/socks";
import { rescanSpent } from "../actions/cold-exchange.ts";
import { checked, connectDaemon, daemonUrl } from "../daemon.ts";
import { BadTlsSettings, readDaemonTls } from "../daemon-tls.ts";
import { readPem } from "../file/pem-file.ts";
import type { WalletSlot } from "../many/slots.ts";
import { WalletRefusal } from "../refusal.ts";
import { fetchSingles } from "../scan/single.ts";
import type { WalletContext } from "../service.ts";
import type { Wallet } from "../wallet.ts";
import { parseTxHash } from "./parse-hex.ts";

/** The interface document describes 1.3; the original, 0.18.5.3, reports 1.32. */
const versions = { contract: 1 * 65_536 + 3, upstream: 1 * 65_536 + 32 } as const;

function tlsOf(params: ParamsOf<typeof declared.service.setDaemon>, url: string): ServerTls {
  try {
    return readDaemonTls(
      {
        support: params.ssl_support,
        allowAnyCertificate: params.ssl_allow_any_cert,
        fingerprints: params.ssl_allowed_fingerprints,
        authorities: params.ssl_ca_file,
        privateKey: params.ssl_private_key_path,
        certificate: params.ssl_certificate_path,
      },
      { url, readPem },
    );
  } catch (error) {
    if (error instanceof BadTlsSettings) throw new WalletRefusal("NO_DAEMON_CONNECTION", error.message);
    throw error;
  }
}

/** The proxy of the service's options, or otherwise the requested one. */
function proxyOf(proxyText: string, { options }: WalletSlot): SocksProxy | undefined {
  const own = options.daemon.proxy;
  if (proxyText === "") return own;
  if (own !== undefined) {
    throw new WalletRefusal(
      "PROXY_ALREADY_DEFINED",
      "It is not possible to set daemon specific proxy when --proxy is defined.",
    );
  }
  const proxy = parseSocksProxy(proxyText);
  if (proxy !== undefined) return proxy;
  throw new WalletRefusal(
    "NO_DAEMON_CONNECTION",
    "Unable to set daemon: proxy must be [socks5://[USER:PASSWORD@]]ADDRESS:PORT of a SOCKS proxy",
  );
}

/** Stops the service after the response has been sent. */
function stopSoon(service: WalletSlot): void {
  setTimeout(() => void service.stop(), 100);
}

/** Every error of the node becomes the same error for the caller. Source: wallet_rpc_server.cpp `on_start_mining`. */
async function orRefuse(
  verb: "start" | "stop",
  response: Promise<{ readonly status: string }>,
): Promise<void> {
  try {
    await checked(response);
  } catch (error) {
    if (!(error instanceof WalletRefusal)) throw error;
    throw new WalletRefusal("UNKNOWN_ERROR", `Couldn't ${verb} mining due to unknown error.`);
  }
}

/**
 * Maximum number of blocks that a node sends at once. Transactions further above the scanned height get their
 * confirmations after a refresh.
 */
const MAX_BLOCKS_BETWEEN = 1000;

/**
 * Where a refresh starts. A wallet never scans the blocks that a start above its height leaves out, nor those below the
 * start that a fork replaces, so that only a token with `admin` may choose one. Throws `RpcError`.
 */
function refreshStart(wallet: Wallet, startHeight: number, token: WalletContext["token"]): number {
  if (token === undefined || token.allows("admin")) return startHeight;
  if (startHeight > wallet.height) throw scopeRefusal({ scope: "admin" }, "refresh", token);
  return 0;
}

export const serviceHandlers = implementFor<WalletContext>()(declared.service, {
  setDaemon(params, { opened: { wallet }, service }) {
    const proxy = proxyOf(params.proxy, service);
    const url = daemonUrl(params.address);
    const [, port] = /:(\d+)\/?$/.exec(url) ?? [];
    if (Number(port) > 0xffff) throw new WalletRefusal("NO_DAEMON_CONNECTION", "Unable to set daemon");
    const tls = tlsOf(params, url);
    const login = { user: params.username, password: params.password };
    const hasLogin = params.username !== "" || params.password !== "";
    const { takesOtherForks = false } = service.options.daemon;
    const address = {
      url,
      tls,
      takesOtherForks,
      ...(hasLogin && { login }),
      ...(proxy !== undefined && { proxy }),
    };
    wallet.useDaemon(connectDaemon(address, { trusted: params.trusted }));
    service.keepOpen();
    return {};
  },
  async refresh({ start_height }, { opened: { wallet }, token }) {
    const from = refreshStart(wallet, start_height, token);
    const { blocksFetched, receivedMoney } = await wallet.refresh(from);
    return { blocks_fetched: blocksFetched, received_money: receivedMoney };
  },
  autoRefresh({ enable, period }, { service }) {
    service.setRefreshPeriod(enable ? period || undefined : 0);
    return {};
  },
  async rescanBlockchain({ hard }, { opened: { wallet }, dialect }) {
    // Difference S5: by the interface document a rescan deletes data; an explicit `hard` is obeyed in both dialects.
    await wallet.rescan({ hard: hard ?? dialect === "contract", keepsNotes: dialect === "upstream" });
    return {};
  },
  async scanTx({ txids }, { opened: { wallet } }) {
    for (const txid of txids) parseTxHash(txid);
    const singles = await fetchSingles(wallet, [...new Set(txids)]);
    await wallet.scanTransactions(singles);
    const scannedTo = Math.max(wallet.height, wallet.state.settings.refreshFromHeight);
    const blocksBetween = (singles.at(-1)?.height ?? 0) - scannedTo;
    if (blocksBetween >= 0 && blocksBetween <= MAX_BLOCKS_BETWEEN) await wallet.refresh();
    else await wallet.refreshPool();
    return {};
  },
  async rescanSpent(_, { opened: { wallet } }) {
    await wallet.exclusively(() => rescanSpent(wallet));
    return {};
  },
  stopWallet(_, { service }) {
    if (service.name !== undefined)
      throw new WalletRefusal("DENIED", "This path is of one wallet: close_wallet closes it");
    stopSoon(service);
    return {};
  },
  getVersion: (_, { dialect }) => ({ release: false, version: versions[dialect] }),
  async startMining({ threads_count, ...options }, { opened: { wallet } }) {
    if (threads_count < 1n || threads_count > BigInt(Math.max(availableParallelism(), 2)))
      throw new WalletRefusal("UNKNOWN_ERROR", "The specified number of threads is inappropriate.");
    const miner_address = wallet.addressOf({ major: 0, minor: 0 });
    await orRefuse("start", wallet.daemon.client.startMining({ miner_address, threads_count, ...options }));
    return {};
  },
  async stopMining(_, { opened: { wallet } }) {
    await orRefuse("stop", wallet.daemon.client.stopMining());
    return {};
  },
  setLogLevel({ level }, { service }) {
    if (categoriesOfLevel(level) === undefined)
      throw new WalletRefusal("INVALID_LOG_LEVEL", "Error: log level not valid");
    service.log.change(String(level));
    return {};
  },
  setLogCategories({ categories }, { service }) {
    service.log.change(categories);
    return { categories: service.log.categories };
  },
});

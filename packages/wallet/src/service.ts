/** The wallet service: one wallet open at a time, its own refreshing, and the RPC in front of it. */
import {
  createRpcServer,
  type Dialect,
  type Listener,
  type Log,
  type Logger,
  type Login,
  type Need,
  type RpcServer,
  type RpcServerOptions,
  unreadLog,
} from "@anulo/rpc";
import { connectDaemon, type Daemon, type DaemonAddress } from "./daemon.ts";
import type { OpenOptions, OpenWallet } from "./file/open-wallet.ts";
import type { FirstWallet } from "./first-wallet.ts";
import type { AliasOptions } from "./open-alias.ts";
import { WalletRefusal } from "./refusal.ts";
import { closeRuntime, createRuntime, type Runtime } from "./runtime.ts";
import type { NetworkName } from "./state.ts";
import { TaskQueue } from "./turns.ts";
import type { Wallet } from "./wallet.ts";

export type WalletServiceOptions = Pick<RpcServerOptions<never>, "limits" | "origins" | "tls"> & {
  readonly listen: readonly Listener[];
  /** Where wallets are kept; without it none can be made or opened. */
  readonly walletDirectory?: string;
  readonly daemon: DaemonAddress;
  readonly trustedDaemon?: boolean;
  readonly network?: NetworkName;
  /** How names in place of addresses are looked up; left out, they are not. */
  readonly aliases?: AliasOptions;
  /** Only commands that can't spend or show secrets. */
  readonly restricted?: boolean;
  readonly dialect?: Dialect;
  readonly login?: Login;
  readonly kdfRounds?: number;
  /** Whether wallets are left behind with a cache for the original program; they are unless this is false. */
  readonly writesOriginalCache?: boolean;
  /** The wallet to begin with. */
  readonly first?: FirstWallet;
  /** Told the id (hex) of each transaction that pays a wallet, once in the pool and once in a block. */
  readonly onReceived?: (txid: string) => void;
  /** Seconds between two automatic refreshes; 0 for none. */
  readonly refreshPeriod?: number;
  readonly log?: Log;
  /** Threads for signing, proofs and passwords; one a processor unless given. */
  readonly concurrency?: number;
  /** Threads, clock and randomness that others use too, who end it; its own, of `concurrency` and `kdfRounds`, unless given. */
  readonly runtime?: Runtime;
};

/** What a handler works with. */
export type WalletContext = {
  readonly service: WalletService;
  readonly dialect: Dialect;
  /** The open wallet; throws the refusal "No wallet file". */
  readonly opened: OpenWallet;
};

/** The methods with their handlers. */
export type WalletCalls = RpcServerOptions<WalletContext>["calls"];

/** Source: wallet_rpc_server.cpp DEFAULT_AUTO_REFRESH_PERIOD. */
const REFRESH_PERIOD_SECONDS = 20;
/** Between two lines of the log about the progress of a scan. */
const PROGRESS_LOG_SECONDS = 10;
/** How long after opening a wallet is not refreshed automatically, so that a caller can do it first. */
const FIRST_REFRESH_SECONDS = 2;

/** Exported outputs and sets of transactions run to megabytes. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

/** Nobody can ask a restricted service to refresh, so opening a wallet there waits a moment for the first scan. */
const RESTRICTED_WAIT_MS = 3000;

/**
 * A stop takes no more than ten seconds. Running calls may finish meanwhile: those that wait for the node for
 * `ASKING_MS`, all others for `ANSWERING_MS`; then their callers get a refusal.
 */
const ASKING_MS = 4000;
const ANSWERING_MS = 5000;
/** How long a stop waits for the rest: what is on disk is whole at any moment. */
const CLOSING_MS = 3000;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

export class WalletService {
  readonly options: WalletServiceOptions;
  readonly runtime: Runtime;
  readonly #calls: WalletCalls;
  readonly log: Log;
  readonly #log: Logger;
  #server: RpcServer | undefined;
  #opened: OpenWallet | undefined;
  readonly #openings = new TaskQueue();
  #refreshPeriod: number;
  #nextRefresh = 0;
  #nextProgressLog = 0;
  #timer: NodeJS.Timeout | undefined;
  #isRefreshing = false;
  #stopping: Promise<void> | undefined;
  #isOver = false;
  #stopped: () => void = () => undefined;
  /** Settles once the service has stopped, for whatever reason. */
  readonly ended: Promise<void>;

  constructor(options: WalletServiceOptions, calls: WalletCalls) {
    this.options = options;
    this.#calls = calls;
    this.runtime = options.runtime ?? createRuntime(options);
    this.log = options.log ?? unreadLog();
    this.#log = this.log.in("wallet.wallet2");
    this.#refreshPeriod = options.refreshPeriod ?? REFRESH_PERIOD_SECONDS;
    this.ended = new Promise((resolve) => {
      this.#stopped = resolve;
    });
  }

  get urls(): readonly string[] {
    return this.#server?.urls ?? [];
  }

  /** Where the first listener is reached, as `http://host:port`. */
  get url(): string {
    return this.urls[0] ?? "";
  }

  get opened(): OpenWallet | undefined {
    return this.#opened;
  }

  get openOptions(): OpenOptions {
    const { network = "mainnet", onReceived, writesOriginalCache } = this.options;
    return {
      network,
      daemon: this.connect(),
      log: this.#log,
      runtime: this.runtime,
      ...(writesOriginalCache === undefined ? {} : { writesOriginalCache }),
      ...(onReceived === undefined ? {} : { onReceived }),
    };
  }

  /** A connection to the node the service was started with. */
  connect(): Daemon {
    return connectDaemon(this.options.daemon, { trusted: this.options.trustedDaemon ?? false });
  }

  /** Starts listening, calls wait for `opening`; rejects when that is not possible. */
  async start(opening?: Promise<void>): Promise<void> {
    const { dialect = "contract", restricted = false, login, listen, limits, origins, tls } = this.options;
    let isOpen = opening === undefined;
    const over = (opening ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => {
        isOpen = true;
      });
    this.#server = await createRpcServer<WalletContext>({
      calls: this.#calls,
      listen,
      dialect,
      ...(login === undefined ? {} : { login }),
      log: this.log.in("wallet.rpc"),
      limits: { requestBytes: MAX_REQUEST_BYTES, ...limits },
      ...(origins !== undefined && { origins }),
      ...(tls !== undefined && { tls }),
      context: () => {
        const context = contextOf(this, dialect);
        return isOpen ? context : over.then(() => context);
      },
      isMet: (need) => {
        if (need === "unrestrictedService") return !restricted;
        return this.#opened !== undefined && isMetBy[need](this.#opened);
      },
    });
    this.#timer = setInterval(() => void this.#tick(), 1000);
    this.#timer.unref();
  }

  /** Stops answering, closes the wallet, wipes its secrets. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#refreshPeriod = 0;
    this.#opened?.wallet.endScans();
    // Calls that still wait for the node are given up; a spend is on disk before it is sent.
    const silence = () => this.#opened?.wallet.daemon.close();
    const patience = setTimeout(silence, ASKING_MS);
    await this.#server?.stop(ANSWERING_MS);
    clearTimeout(patience);
    silence();
    const closing = this.inTurn(() => this.replace(undefined));
    const isClosed = await Promise.race([closing.then(() => true), pause(CLOSING_MS).then(() => false)]);
    this.#isOver = true;
    if (this.options.runtime === undefined) await closeRuntime(this.runtime);
    if (!isClosed) this.#log.warn("stopped before everything under way had ended");
    this.#stopped();
  }

  /** Opening and closing take turns. */
  inTurn<T>(task: () => Promise<T>): Promise<T> {
    return this.#openings.run(task);
  }

  /** Closes the wallet that is open and puts another in its place. */
  async replace(opened: OpenWallet | undefined): Promise<void> {
    const old = this.#opened;
    if (this.#isOver && opened !== undefined) {
      await opened.close();
      throw new WalletRefusal("NOT_OPEN", "No wallet file");
    }
    this.#opened = opened;
    this.#nextRefresh = Date.now() + 1000 * Math.min(FIRST_REFRESH_SECONDS, this.#refreshPeriod);
    await old?.close();
    this.#log.info(opened === undefined ? "no wallet is open" : "opened a wallet", {
      file: opened?.paths?.base,
    });
    if (opened !== undefined && this.options.restricted === true && this.#refreshPeriod > 0) {
      await Promise.race([this.#refresh(opened.wallet), pause(RESTRICTED_WAIT_MS)]);
    }
  }

  /** Seconds between two refreshes; 0 turns them off, `undefined` means the usual period. */
  setRefreshPeriod(seconds: number | undefined): void {
    this.#refreshPeriod = seconds ?? REFRESH_PERIOD_SECONDS;
    this.#nextRefresh = Date.now() + 1000 * this.#refreshPeriod;
  }

  /** Logs the progress of a long scan now and then. */
  #logProgress(wallet: Wallet | undefined): void {
    const { progress } = wallet ?? {};
    if (progress === undefined || Date.now() < this.#nextProgressLog) return;
    this.#nextProgressLog = Date.now() + 1000 * PROGRESS_LOG_SECONDS;
    this.log.in("global").info("scanning", progress);
  }

  async #tick(): Promise<void> {
    const wallet = this.#opened?.wallet;
    this.#logProgress(wallet);
    if (wallet === undefined || this.#refreshPeriod === 0 || this.#isRefreshing) return;
    if (Date.now() < this.#nextRefresh) return;
    await this.#refresh(wallet);
  }

  async #refresh(wallet: Wallet): Promise<void> {
    this.#isRefreshing = true;
    try {
      await wallet.refresh();
    } catch (error) {
      if (!(error instanceof WalletRefusal)) this.#log.error("refresh failed", { error });
      // An unreachable node is no news; a full disk or a reorganisation that is too deep is.
      else if (error.kind === "UNKNOWN_ERROR") this.#log.warn("refresh refused", { reason: error.message });
      else this.#log.debug("refresh refused", { code: error.code });
    } finally {
      this.#isRefreshing = false;
      this.#nextRefresh = Date.now() + 1000 * this.#refreshPeriod;
    }
  }
}

/** Which open wallets meet what a method needs. */
const isMetBy: { readonly [N in Exclude<Need, "unrestrictedService">]: (opened: OpenWallet) => boolean } = {
  openWallet: () => true,
  trustedDaemon: ({ wallet }) => wallet.daemon.isTrusted,
  mainWallet: ({ background }) => !background.isWallet,
  spendKey: ({ wallet }) => !wallet.isBackgroundSyncing,
  enabledMultisig: ({ wallet }) => wallet.multisig === undefined || wallet.preferences.allowsMultisig,
};

function contextOf(service: WalletService, dialect: Dialect): WalletContext {
  return {
    service,
    dialect,
    get opened(): OpenWallet {
      const { opened } = service;
      if (opened === undefined) throw new WalletRefusal("NOT_OPEN", "No wallet file");
      return opened;
    },
  };
}

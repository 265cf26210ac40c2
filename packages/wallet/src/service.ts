/** The wallet service: its wallets, their automatic refreshes, and the RPC server in front of them. */
import {
  createRpcServer,
  type Dialect,
  type Log,
  type Logger,
  loadWalletReference,
  type Need,
  type RequestInfo,
  type RpcServer,
  type RpcServerOptions,
  unreadLog,
} from "@anulo/rpc";
import type { Access } from "./access/access.ts";
import { checkReach } from "./access/check-reach.ts";
import { LiveToken } from "./access/token-book.ts";
import { connectDaemon, type Daemon } from "./daemon.ts";
import { Heartbeats } from "./file/heartbeat.ts";
import { closeLedgerStore } from "./file/ledger-store.ts";
import type { LedgerStore } from "./file/open-rows.ts";
import type { OpenOptions, OpenWallet } from "./file/open-wallet.ts";
import { FileLocks } from "./file/wallet-lock.ts";
import type { Fleet } from "./fleet/fleet.ts";
import type { Allowance } from "./intents/allowance.ts";
import { type Common, notOpen } from "./many/common.ts";
import { OpenWallets } from "./many/open-wallets.ts";
import { Refresher } from "./many/refresher.ts";
import { NamedSlot, type SlotParts, UnnamedSlot, type WalletSlot } from "./many/slots.ts";
import { createWalletMonitor, type WalletMonitor } from "./monitor/monitor.ts";
import { WalletRefusal } from "./refusal.ts";
import { closeRuntime, createRuntime, type Runtime } from "./runtime.ts";
import type { ServiceEvents } from "./service-events.ts";
import type { WalletServiceOptions } from "./service-options.ts";
import { MAX_TIMER_MS } from "./turns.ts";

/** What a handler receives. */
export type WalletContext = {
  /** The wallet that the call names; `common` holds what it shares with the others. */
  readonly service: WalletSlot;
  readonly dialect: Dialect;
  /** Whether this service is restricted, or the one of the fleet that was called. */
  readonly restricted: boolean;
  /** The token of the caller; undefined if the call came with the login, or without authentication. */
  readonly token: LiveToken | undefined;
  /** What the caller may spend of the open wallet; undefined if all of it. */
  readonly allowance: Allowance | undefined;
  /** The open wallet; throws `WalletRefusal` "No wallet file" if none is open. */
  readonly opened: OpenWallet;
};

/** The methods with their handlers. */
export type WalletCalls = RpcServerOptions<WalletContext>["calls"];

/** Maximum request size: exported outputs and sets of transactions can take megabytes. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

/** Prefix of the path that names a wallet. */
const NAMED_WALLETS = "/wallets";

/**
 * How long (milliseconds) running calls may take to finish while the service stops: calls that wait for the node
 * `ASKING_MS`, all others `ANSWERING_MS`; after that their callers receive an error.
 */
const ASKING_MS = 4000;
const ANSWERING_MS = 5000;
/**
 * How long (milliseconds) a stop then waits for the wallets, and again for what they share, unless an option says: the
 * files are consistent at any moment.
 */
const CLOSING_MS = 3000;

/** Resolves after so many milliseconds; never, if no timer lasts so long. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ms <= MAX_TIMER_MS) setTimeout(resolve, ms).unref();
  });
}

/** The dependencies that a service receives, and closes. */
export type ServiceParts = {
  readonly store?: LedgerStore | undefined;
  /** The processes that share the wallets. */
  readonly fleet?: Fleet | undefined;
  readonly events?: ServiceEvents | string | undefined;
  readonly access?: Access | undefined;
  /** What the server returns to GET requests. */
  readonly resources?: RpcServerOptions<WalletContext>["resources"];
};

/** Milliseconds between two questions to the node for its newest block. */
const NEWS_MS = 500;

export class WalletService implements Common {
  readonly options: WalletServiceOptions;
  readonly runtime: Runtime;
  readonly #calls: WalletCalls;
  readonly #resources: ServiceParts["resources"];
  readonly #store: LedgerStore | undefined;
  /** Of all its wallets: one heartbeat a folder. */
  readonly #locks = new FileLocks({ heartbeats: new Heartbeats() });
  readonly #fleet: Fleet | undefined;
  readonly serviceEvents: ServiceEvents | string;
  readonly access: Access | undefined;
  readonly log: Log;
  readonly #log: Logger;
  #server: RpcServer | undefined;
  readonly #wallets: OpenWallets;
  readonly #refresher: Refresher;
  readonly #slots: SlotParts;
  /** The wallet that is open on the path without a name. */
  readonly unnamed: UnnamedSlot;
  #timers: NodeJS.Timeout[] = [];
  /** Connection by which readiness checks query the node. */
  #watching: Daemon | undefined;
  #stopping: Promise<void> | undefined;
  #stopped: () => void = () => undefined;
  /** Resolves once the service has stopped, for whatever reason. */
  readonly ended: Promise<void>;

  /** The service closes `parts` when it stops. */
  constructor(options: WalletServiceOptions, calls: WalletCalls, parts: ServiceParts) {
    const { store, fleet, events, resources, access } = parts;
    this.options = options;
    this.#calls = calls;
    this.#resources = resources;
    this.#store = store;
    this.access = access;
    this.#fleet = fleet;
    this.serviceEvents = events ?? "The service keeps no events: start it with --events";
    // The clock of the options is another: it returns milliseconds.
    const { concurrency, kdfRounds, onLongScan } = options;
    this.runtime = options.runtime ?? createRuntime({ concurrency, kdfRounds, onLongScan });
    this.log = options.log ?? unreadLog();
    this.#log = this.log.in("wallet.wallet2");
    this.#wallets = new OpenWallets(this, fleet);
    this.#refresher = new Refresher(this, this.#wallets);
    this.#slots = { common: this, wallets: this.#wallets, refresher: this.#refresher };
    this.unnamed = new UnnamedSlot(this.#slots);
    this.ended = new Promise((resolve) => {
      this.#stopped = resolve;
    });
  }

  get urls(): readonly string[] {
    return this.#server?.urls ?? [];
  }

  /** URL of the first listener, as `http://host:port`. */
  get url(): string {
    return this.urls[0] ?? "";
  }

  /** The wallet that is open on the path without a name. */
  get opened(): OpenWallet | undefined {
    return this.unnamed.opened;
  }

  get openOptions(): OpenOptions {
    const { network = "mainnet", onReceived, writesOriginalCache, lookahead } = this.options;
    const { serviceEvents } = this;
    const events = this.options.events ?? (typeof serviceEvents === "string" ? undefined : serviceEvents.log);
    return {
      network,
      daemon: this.connect(),
      log: this.#log,
      runtime: this.runtime,
      lookahead,
      ...(writesOriginalCache === undefined ? {} : { writesOriginalCache }),
      // Another process would take the cache of a process that has lost the wallet for changes by another program.
      ...(this.#fleet !== undefined && { writesOriginalCache: false }),
      ...(onReceived === undefined ? {} : { onReceived }),
      ...(this.#store !== undefined && { store: this.#store }),
      locks: this.#locks,
      events,
    };
  }

  /** Creates the monitoring of the service; to be called once it has started. */
  createMonitor(): WalletMonitor {
    const { serviceEvents, runtime } = this;
    this.#watching ??= this.options.daemon.url === "" ? undefined : this.connect();
    return createWalletMonitor({
      runtime,
      server: this.#server!,
      events: typeof serviceEvents === "string" ? undefined : () => serviceEvents.opened,
      daemon: this.#watching,
      engine: this.#store?.engine,
    });
  }

  confirmHere(name: string): void {
    this.#fleet?.confirmHere(name);
  }

  /** A connection to the node the service was started with. */
  connect(): Daemon {
    return connectDaemon(this.options.daemon, { trusted: this.options.trustedDaemon ?? false });
  }

  /** Starts listening; calls wait for `opening`. Rejects if it cannot listen. */
  async start(opening?: Promise<void>): Promise<void> {
    const {
      dialect = "contract",
      restricted = false,
      login,
      listen,
      limits,
      origins,
      pages,
      tls,
    } = this.options;
    let isOpen = opening === undefined;
    const over = (opening ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => {
        isOpen = true;
      });
    this.#server = await createRpcServer<WalletContext>({
      calls: this.#calls,
      reference: loadWalletReference,
      ...(this.#resources !== undefined && { resources: this.#resources }),
      listen: this.#fleet === undefined ? listen : [...listen, { ...this.options.fleet!, isForPeers: true }],
      ...(this.#fleet !== undefined && { elsewhere: this.#fleet.router }),
      dialect,
      ...(login === undefined ? {} : { login }),
      ...(this.access !== undefined && { tokens: this.access.tokens }),
      log: this.log.in("wallet.rpc"),
      onCall: this.options.onCall,
      onRead: this.options.onRead,
      limits: { requestBytes: MAX_REQUEST_BYTES, ...limits },
      ...(origins !== undefined && { origins }),
      ...(pages !== undefined && { pages }),
      ...(tls !== undefined && { tls }),
      prefix: NAMED_WALLETS,
      context: ({ name, bearer, restricted: isCallerRestricted }) => {
        const token = tokenOf(bearer);
        const context = contextOf(this.#slotOf(name), {
          dialect,
          restricted: restricted || isCallerRestricted,
          token,
        });
        return isOpen ? context : over.then(() => context);
      },
      checkReach: (call, { params, context: { service, token } }) => {
        if (token !== undefined) checkReach({ call, params }, service, token);
      },
      isMet: (need, { service, restricted: isRestricted }) => {
        if (need === "unrestrictedService") return !isRestricted;
        if (need === "openWallet") return service.whenOpen();
        return service.opened !== undefined && isMetBy[need](service.opened);
      },
      release: ({ service }) => service.release(),
    });
    await this.#joinFleet();
    this.#startTimers();
  }

  #startTimers(): void {
    const everySecond = () => {
      this.#refresher.tick();
      void this.closeIdle();
      void this.openBroken();
    };
    const askForNews = () => void this.#refresher.askForNews();
    this.#timers = [setInterval(everySecond, 1000), setInterval(askForNews, NEWS_MS)];
    for (const timer of this.#timers) timer.unref();
  }

  async #joinFleet(): Promise<void> {
    const wallets = this.#wallets;
    // Not its `host`, which leaves out port 80.
    const { hostname, port } = new URL(this.urls.at(-1)!);
    await this.#fleet?.join(`${hostname}:${port || 80}`, {
      open: async (name) => {
        const slot = new NamedSlot(this.#slots, name);
        try {
          await slot.openAhead();
        } finally {
          slot.release();
        }
      },
      closeUnused: (most, closing) => wallets.closeUnused(most, closing),
      closeUntold: (closing) => wallets.closeUntold(closing),
      closeLost: () => wallets.closeLost(),
    });
  }

  /** Closes the wallets that have been idle for a while, if they can be opened again without a password. */
  closeIdle(): Promise<void> {
    return this.#wallets.closeIdle();
  }

  /** Opens the wallets once more that could not store a change. */
  openBroken(): Promise<void> {
    return this.#wallets.openBroken();
  }

  /** Runs a task while no wallet of the service scans or spends, with everything they know in their files. */
  whileUnchanged<T>(task: () => Promise<T>): Promise<T> {
    return this.#wallets.whileUnchanged(task);
  }

  /**
   * Closes all wallets with files, and what is under way for them, while a task runs that may change the files; blocks
   * that brought a wallet nothing may be forgotten. Then the wallet that the task names is opened on the path without
   * name, unless it has a password; others are opened when a call needs them.
   */
  async whileClosed(task: () => Promise<string | undefined>): Promise<void> {
    const name = await this.unnamed.makingInTurn(async () => {
      for (const { opened } of this.#wallets.open) if (opened?.paths !== undefined) opened.abandon();
      await this.#wallets.closeLost();
      return await task();
    });
    if (name === undefined) return;
    await this.unnamed.open(name, "").catch((error) => {
      if (!(error instanceof WalletRefusal && error.kind === "INVALID_PASSWORD")) throw error;
    });
  }

  #slotOf(name: RequestInfo["name"]): WalletSlot {
    return name === undefined ? this.unnamed : new NamedSlot(this.#slots, name);
  }

  /** Stops responding, closes the wallets, wipes their secrets. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #closeParts(): Promise<void> {
    await this.access?.close();
    if (typeof this.serviceEvents !== "string") await this.serviceEvents.close();
    await this.#fleet?.leave();
    if (this.#store !== undefined) await closeLedgerStore(this.#store);
  }

  async #stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#watching?.close();
    this.#refresher.close();
    this.#fleet?.beginToLeave();
    for (const { opened } of this.#wallets.open) opened?.wallet.endScans();
    // Requests that still wait for the node are aborted; this loses no payment, since one is on disk before it is sent.
    const silence = () => {
      for (const { opened } of this.#wallets.open) opened?.wallet.daemon.close();
    };
    const patience = setTimeout(silence, ASKING_MS);
    await this.#server?.stop(ANSWERING_MS);
    clearTimeout(patience);
    silence();
    const { closingMs = CLOSING_MS } = this.options;
    const closing = this.#wallets.closeAll();
    const isClosed = await Promise.race([closing.then(() => true), pause(closingMs).then(() => false)]);
    await Promise.race([this.#closeParts(), pause(closingMs)]);
    if (this.options.runtime === undefined) await closeRuntime(this.runtime);
    if (!isClosed) this.#log.warn("stopped before everything under way had ended");
    this.#stopped();
  }
}

/** For each condition that a method may need: whether an open wallet meets it. */
const isMetBy: {
  readonly [N in Exclude<Need, "unrestrictedService" | "openWallet">]: (opened: OpenWallet) => boolean;
} = {
  trustedDaemon: ({ wallet }) => wallet.daemon.isTrusted,
  mainWallet: ({ background }) => !background.isWallet,
  spendKey: ({ wallet }) => !wallet.isBackgroundSyncing,
  enabledMultisig: ({ wallet }) => wallet.signer.kind !== "multisig" || wallet.preferences.allowsMultisig,
};

/** The token of a caller. Throws for a caller that is known by anything else: it must not be taken for the owner. */
function tokenOf(bearer: RequestInfo["bearer"]): LiveToken | undefined {
  if (bearer === undefined || bearer instanceof LiveToken) return bearer;
  throw new TypeError("a bearer is known by a token of this service");
}

function contextOf(
  service: WalletSlot,
  how: Pick<WalletContext, "dialect" | "restricted" | "token">,
): WalletContext {
  return {
    ...how,
    service,
    get allowance(): Allowance | undefined {
      const { token } = how;
      return token && service.access?.allowanceOf(token, service.openName ?? "");
    },
    get opened(): OpenWallet {
      const { opened } = service;
      if (opened === undefined) throw notOpen();
      return opened;
    },
  };
}

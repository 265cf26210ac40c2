import type { AddressInfo } from "node:net";
import { LoopLoad } from "@anulo/limits";
import type { Implemented } from "../define.ts";
import type { Dialect } from "../dialect.ts";
import { createDigestAuth, type Login } from "../digest-auth.ts";
import { silent } from "../log/logger.ts";
import type { ServiceInfo } from "../openrpc.ts";
import type { Pages } from "../pages.ts";
import type { ServiceReference } from "../reference/service-reference.ts";
import type { ImplementedResource } from "../resource.ts";
import type { TokenAuth } from "./bearer.ts";
import type { Rules } from "./call.ts";
import { CallerShare } from "./caller-share.ts";
import type { Elsewhere } from "./elsewhere.ts";
import { type HttpListener, startListener } from "./http/listener.ts";
import { connectionsOf, isPrivateAddress, type Limits, limitsOfCallers } from "./limits.ts";
import { createRequestIds } from "./request-id.ts";
import { createAnswerer, createHttpService, type Service } from "./service.ts";
import type { AnswerThreads } from "./threads/answer-threads.ts";
import { createTlsOpener, type TlsOptions } from "./tls/tls-opener.ts";

/** A port to listen on; port 0 selects a free one. */
export type Listener = {
  readonly host: string;
  readonly port: number;
  readonly restricted?: boolean;
  /** For other processes of the service only: never encrypted, and without login. */
  readonly isForPeers?: boolean;
};

export type RpcServerOptions<Context> = Rules<Context> & {
  readonly calls: readonly Implemented<Context>[];
  /**
   * Resources that GET requests read; a context is created for them as for calls, and released when their response or
   * stream has ended.
   */
  readonly resources?: readonly ImplementedResource<Context>[];
  /**
   * Every path is also available below `PREFIX/NAME`, with a context created for that name; if left out, there are no
   * named paths.
   */
  readonly prefix?: `/${string}`;
  readonly listen: readonly Listener[];
  readonly dialect?: Dialect;
  readonly login?: Login;
  /**
   * Checks tokens, which are accepted beside the login, or alone if there is none; if left out, no tokens are accepted.
   */
  readonly tokens?: TokenAuth;
  readonly limits?: Partial<Limits>;
  /** Returns how many database rows have been read for all callers; if left out, no rows are counted. */
  readonly rowsRead?: () => number;
  /** Contained in the response to `rpc.discover` and in `/openrpc.json`. */
  readonly info?: ServiceInfo;
  /** What these say besides, loaded when one is first requested; only the declarations if left out. */
  readonly reference?: () => Promise<ServiceReference>;
  /**
   * Whether connections from this IP address are closed without a response. The owner's ports are closed to no private
   * address: a stranger's faults may have shut it out, who came through the same proxy or gateway as the owner.
   */
  readonly isShutOut?: (remoteAddress: string) => boolean;
  /** If left out, connections are not encrypted. */
  readonly tls?: TlsOptions;
  /**
   * Handles requests for objects of other processes; if left out, all are handled here. Required if a listener is for
   * other processes.
   */
  readonly elsewhere?: Elsewhere;
  /** Origins whose scripts may use the service from a browser, `*` for all; none by default. */
  readonly origins?: readonly string[];
  /** Web pages served on the owner's ports, never on restricted ones; none if left out. */
  readonly pages?: Pages | undefined;
  /** Other threads that may answer requests; if left out, all are answered in this one. */
  readonly threads?: AnswerThreads | undefined;
};

/** A running service. */
export interface RpcServer {
  /** URL of each listener, in the order of the options, as `http://host:port` or `https://..`. */
  readonly urls: readonly string[];
  /** Number of open connections. */
  connectionCount(): number;
  /** Current resource usage of the owner's callers and of strangers. */
  usage(): readonly ShareUsage[];
  /** Stops listening, and lets running requests end for `graceMs`; callers that still wait then get status 503. */
  stop(graceMs?: number): Promise<void>;
}

/** Requests and memory of one kind of callers, and its maximum memory. */
export interface ShareUsage {
  readonly callers: "owner" | "strangers";
  /** Number of requests being processed, or waiting for it. */
  readonly requests: number;
  readonly heldBytes: number;
  readonly maxHeldBytes: number;
}

/** Milliseconds that a caller has to receive the information that no response will come. */
const LAST_ANSWER_MS = 200;

/** Starts a service on every listener; rejects if one of them cannot listen. */
export async function createRpcServer<Context>(options: RpcServerOptions<Context>): Promise<RpcServer> {
  const service = createService(options);
  const listeners: HttpListener[] = [];
  try {
    for (const listener of options.listen) listeners.push(await startPort(listener, service, options.tls));
  } catch (error) {
    for (const listener of listeners) await listener.close();
    throw error;
  }
  return {
    urls: listeners.map(({ address }, i) => {
      const isTls = options.tls?.mode === "enabled" && options.listen[i]?.isForPeers !== true;
      return urlOf(address, isTls ? "https" : "http");
    }),
    connectionCount: () => listeners.reduce((sum, listener) => sum + listener.connectionCount(), 0),
    usage: () =>
      (["owner", "strangers"] as const).map((callers) => {
        const { requests, heldBytes, limits } = service[callers];
        return { callers, requests, heldBytes, maxHeldBytes: limits.heldBytes };
      }),
    stop: async (graceMs = 1000) => {
      const closed = listeners.map((listener) => listener.close());
      const after = (ms: number, step: (listener: HttpListener) => void) =>
        setTimeout(() => {
          for (const listener of listeners) step(listener);
        }, ms);
      const timers = [
        after(graceMs, (listener) => listener.giveUp()),
        after(graceMs + LAST_ANSWER_MS, (listener) => listener.cut()),
      ];
      await Promise.all(closed);
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function urlOf({ address, family, port }: AddressInfo, scheme: "http" | "https"): string {
  return `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/** Whether one of the ports is for strangers. */
export function hasStrangers(listen: readonly Listener[]): boolean {
  return listen.some(({ restricted }) => restricted === true);
}

function createService<Context>(options: RpcServerOptions<Context>): Service {
  const { calls, resources = [], login, prefix, rowsRead, info = { title: "Anulo", version: "" } } = options;
  const limits = limitsOfCallers(options.limits, hasStrangers(options.listen));
  return {
    answerer: createAnswerer(
      { calls, resources },
      { rules: options, info, limits, prefix, reference: options.reference, threads: options.threads },
    ),
    auth: login === undefined ? undefined : createDigestAuth(login),
    tokens: options.tokens,
    prefix,
    dialect: options.dialect ?? "contract",
    isShutOut: (remoteAddress, restricted) =>
      (restricted || !isPrivateAddress(remoteAddress)) && options.isShutOut?.(remoteAddress) === true,
    nameRequest: createRequestIds(),
    log: options.log ?? silent,
    origins: new Set(options.origins),
    pages: options.pages ?? new Map(),
    elsewhere: options.elsewhere,
    owner: new CallerShare(limits.owner, { isForStrangers: false, rowsRead }),
    strangers: new CallerShare(limits.strangers, {
      isForStrangers: true,
      rowsRead,
      loopLoad: new LoopLoad(),
    }),
  };
}

function startPort(listener: Listener, service: Service, tls: TlsOptions | undefined): Promise<HttpListener> {
  const { host, port, restricted = false, isForPeers = false } = listener;
  const { limits } = restricted ? service.strangers : service.owner;
  return startListener({
    host,
    port,
    service: createHttpService(service, { restricted, isForPeers }),
    admit: (remoteAddress) => !service.isShutOut(remoteAddress, restricted),
    ...(tls !== undefined && !isForPeers && { opener: createTlsOpener(tls, limits.slowMs) }),
    isForFew: isForPeers,
    maxConnections: limits.connections,
    maxConnectionsOf: (remoteAddress) => connectionsOf(limits, remoteAddress),
    onError: (error) => service.log.error("rpc listener failed", { error }),
  });
}

import type { AddressInfo } from "node:net";
import type { Implemented } from "../define.ts";
import type { Dialect } from "../dialect.ts";
import { createDigestAuth, type Login } from "../digest-auth.ts";
import { silent } from "../log/logger.ts";
import type { ServiceInfo } from "../openrpc.ts";
import type { Pages } from "../pages.ts";
import type { ImplementedResource } from "../resource.ts";
import type { TokenAuth } from "./bearer.ts";
import type { Rules } from "./call.ts";
import { CallerShare } from "./caller-share.ts";
import type { Elsewhere } from "./elsewhere.ts";
import { type HttpListener, startListener } from "./http/listener.ts";
import { connectionsOf, defaultLimits, divideLimits, type Limits } from "./limits.ts";
import { createRequestIds } from "./request-id.ts";
import { createAnswerer, createHttpService, type Service } from "./service.ts";
import { createTlsOpener, type TlsOptions } from "./tls/tls-opener.ts";

/** A port to listen on; port 0 takes a free one. */
export type Listener = {
  readonly host: string;
  readonly port: number;
  readonly restricted?: boolean;
  /** For other processes of the service only: never encrypted, and without login. */
  readonly isForPeers?: boolean;
};

export type RpcServerOptions<Context> = Rules<Context> & {
  readonly calls: readonly Implemented<Context>[];
  /** What is read by GET; a context is made for them as for calls, and released when their answer or stream has ended. */
  readonly resources?: readonly ImplementedResource<Context>[];
  /** Every path is also answered below `PREFIX/NAME`, for the name that the context is then made of; left out, none is. */
  readonly prefix?: `/${string}`;
  readonly listen: readonly Listener[];
  readonly dialect?: Dialect;
  readonly login?: Login;
  /** Knows the tokens that are taken beside the login, or alone where there is none; left out, none is. */
  readonly tokens?: TokenAuth;
  readonly limits?: Partial<Limits>;
  /** Named in the answer to `rpc.discover`. */
  readonly info?: ServiceInfo;
  /** Connections from this IP address are closed unanswered. */
  readonly isShutOut?: (remoteAddress: string) => boolean;
  /** Left out: connections are not encrypted. */
  readonly tls?: TlsOptions;
  /** Who answers what other processes have; left out, all is answered here. Has to be there where a listener is for them. */
  readonly elsewhere?: Elsewhere;
  /** Origins whose scripts may use the service from a browser, `*` for all; by default none. */
  readonly origins?: readonly string[];
  /** Web pages served on the owner's ports, never on restricted ones; left out, none are. */
  readonly pages?: Pages | undefined;
};

/** A running service. */
export interface RpcServer {
  /** Where each listener is reached, in the order given, as `http://host:port` or `https://..`. */
  readonly urls: readonly string[];
  /** Open connections. */
  connectionCount(): number;
  /** What the owner's callers and strangers take of the service now. */
  usage(): readonly ShareUsage[];
  /** Stops listening, lets running requests end for `graceMs`; who then still waits gets status 503. */
  stop(graceMs?: number): Promise<void>;
}

/** Requests and memory that one kind of callers takes, and how much memory it may take. */
export interface ShareUsage {
  readonly callers: "owner" | "strangers";
  /** Requests being answered, or waiting for it. */
  readonly requests: number;
  readonly heldBytes: number;
  readonly maxHeldBytes: number;
}

/** A caller who is told that no answer will come may take so long to hear it. */
const LAST_ANSWER_MS = 200;

/** Starts a service on every listener; rejects when one of them cannot listen. */
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

function createService<Context>(options: RpcServerOptions<Context>): Service {
  const { calls, resources = [], login, prefix, info = { title: "Anulo", version: "" } } = options;
  const whole = { ...defaultLimits, ...options.limits };
  const hasStrangers = options.listen.some(({ restricted }) => restricted);
  const limits = hasStrangers ? divideLimits(whole) : { owner: whole, strangers: whole };
  return {
    answerer: createAnswerer({ calls, resources }, { rules: options, info, limits, prefix }),
    auth: login === undefined ? undefined : createDigestAuth(login),
    tokens: options.tokens,
    prefix,
    dialect: options.dialect ?? "contract",
    isShutOut: options.isShutOut ?? (() => false),
    nameRequest: createRequestIds(),
    log: options.log ?? silent,
    origins: new Set(options.origins),
    pages: options.pages ?? new Map(),
    elsewhere: options.elsewhere,
    owner: new CallerShare(limits.owner, { isForStrangers: false }),
    strangers: new CallerShare(limits.strangers, { isForStrangers: true }),
  };
}

function startPort(listener: Listener, service: Service, tls: TlsOptions | undefined): Promise<HttpListener> {
  const { host, port, restricted = false, isForPeers = false } = listener;
  const { limits } = restricted ? service.strangers : service.owner;
  return startListener({
    host,
    port,
    service: createHttpService(service, { restricted, isForPeers }),
    admit: (remoteAddress) => !service.isShutOut(remoteAddress),
    ...(tls !== undefined && !isForPeers && { opener: createTlsOpener(tls, limits.slowMs) }),
    maxConnections: limits.connections,
    maxConnectionsOf: (remoteAddress) => connectionsOf(limits, remoteAddress),
    onError: (error) => service.log.error("rpc listener failed", { error }),
  });
}

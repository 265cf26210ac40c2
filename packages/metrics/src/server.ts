import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import type { MetricTable } from "./declare.ts";
import {
  createReadiness,
  FRESH_MS,
  type Readiness,
  type ReadinessChecks,
  type ReadinessOptions,
} from "./readiness.ts";
import { createRegistry, type MetricRegistry } from "./registry.ts";

export interface MetricsServerOptions<Source> {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly metrics: MetricTable<Source>;
  readonly source: Source;
  readonly checks: ReadinessChecks;
  readonly readiness?: ReadinessOptions;
  /** Why the service is about to end, for /healthz; undefined while it is not. */
  readonly fault?: () => string | undefined;
  /** Milliseconds after which a connection is closed that neither sends nor reads; 5,000. */
  readonly slowMs?: number;
}

export interface MetricsServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** A handful of readers: Prometheus, whoever restarts the service, and an operator. */
const MAX_CONNECTIONS = 32;
const MAX_PER_ADDRESS = 8;
const MAX_HEADER_BYTES = 8192;
const SLOW_MS = 5000;
const CHECKING_MS = 1000;

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const json = (status: number, value: unknown): Answer => ({
  status,
  type: "application/json",
  body: `${JSON.stringify(value)}\n`,
});

/** Whether every readiness check passed, when it was last run. */
const readyMetric = {
  name: "anulo_ready",
  help: "Whether the service is ready (1), by readiness check.",
  labels: ["check"],
} as const;

/** The metrics that the server adds to those declared by a service. */
export const serverMetrics = {
  [readyMetric.name]: { type: "gauge", help: readyMetric.help, labels: readyMetric.labels },
} as const;

/** Serves /metrics, /healthz and /readyz on a port of their own; rejects where it cannot listen. */
export async function startMetricsServer<Source>(
  options: MetricsServerOptions<Source>,
): Promise<MetricsServer> {
  const readiness = createReadiness(options.checks, options.readiness);
  let latest: readonly (readonly [string, number])[] = [];
  const table: MetricTable<Source> = {
    ...options.metrics,
    [readyMetric.name]: {
      ...serverMetrics[readyMetric.name],
      read: () => latest.map(([check, value]) => ({ labels: { check }, value })),
    },
  };
  const registry = await createRegistry(table, options.source);
  const text = async () => {
    const { checks } = await readiness.report();
    latest = Object.entries(checks).map(([check, outcome]) => [check, outcome === "ok" ? 1 : 0] as const);
    return registry.text();
  };
  const server = createBoundedServer(options.slowMs);
  const shared = sharedText(text, options.readiness);
  const parts = { readiness, type: registry.type, text: shared, fault: options.fault, host: options.host };
  server.on("request", (request, response) => {
    request.resume();
    void answerTo(request, parts)
      .catch((error: unknown) => json(500, { error: error instanceof Error ? error.message : String(error) }))
      .then(({ status, type, body }) => {
        response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
        response.end(request.method === "HEAD" ? undefined : body);
      });
  });
  await listen(server, options);
  // It still listens, and the service has more to do than to be measured.
  server.on("error", () => {});
  const { address, family, port } = server.address() as AddressInfo;
  return {
    url: `http://${family === "IPv6" ? `[${address}]` : address}:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A server that no reader keeps from the others: bounded in connections, of one address too, and in their time. */
function createBoundedServer(slowMs = SLOW_MS): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: slowMs,
    headersTimeout: slowMs,
    requestTimeout: slowMs,
    connectionsCheckingInterval: CHECKING_MS,
  });
  server.maxConnections = MAX_CONNECTIONS;
  // Of one that reads nothing, too.
  server.timeout = slowMs;
  const open = new Map<string, number>();
  server.on("connection", (socket) => {
    const address = socket.remoteAddress ?? "";
    const count = open.get(address) ?? 0;
    if (count >= MAX_PER_ADDRESS) return void socket.destroy();
    open.set(address, count + 1);
    socket.once("close", () => {
      const remaining = open.get(address)! - 1;
      if (remaining === 0) open.delete(address);
      else open.set(address, remaining);
    });
  });
  return server;
}

function listen(server: Server, { host, port }: { readonly host: string; readonly port: number }) {
  return new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Requests that come while metrics are being collected, or a moment later, share the text. */
function sharedText(
  collect: () => Promise<string>,
  { freshMs = FRESH_MS, now = () => performance.now() }: ReadinessOptions = {},
): () => Promise<string> {
  let last: { readonly at: number; readonly text: string } | undefined;
  let running: Promise<string> | undefined;
  const run = async () => {
    const text = await collect();
    last = { at: now(), text };
    return text;
  };
  return async () => {
    if (last !== undefined && now() - last.at < freshMs) return last.text;
    running ??= run().finally(() => {
      running = undefined;
    });
    return await running;
  };
}

interface Parts {
  readonly readiness: Readiness;
  readonly type: MetricRegistry["type"];
  readonly text: () => Promise<string>;
  readonly fault: (() => string | undefined) | undefined;
  readonly host: string;
}

async function answerTo(
  request: IncomingMessage,
  { readiness, type, text, fault, host }: Parts,
): Promise<Answer> {
  if (isFromPage(request)) return json(403, { error: "web pages may not read this" });
  if (!isOwnName(request, host))
    return json(403, { error: "this is read by its IP address or a private name" });
  if (request.method !== "GET" && request.method !== "HEAD")
    return json(405, { error: "this is read by GET" });
  const [path] = (request.url ?? "").split("?");
  if (path === "/metrics") return { status: 200, type, body: await text() };
  if (path === "/healthz") {
    const reason = fault?.();
    return reason === undefined ? json(200, { status: "ok" }) : json(503, { status: reason });
  }
  if (path !== "/readyz") return json(404, { error: "there are /metrics, /healthz and /readyz" });
  const { isReady, checks } = await readiness.report();
  return json(isReady ? 200 : 503, { status: isReady ? "ready" : "not ready", checks });
}

/** Whether a browser sends the request for a page of another origin. */
function isFromPage({ headers }: IncomingMessage): boolean {
  if (headers.origin !== undefined) return true;
  const site = headers["sec-fetch-site"];
  return site !== undefined && site !== "none" && site !== "same-origin";
}

/** Names that strangers cannot give an address. Source: RFC 6761, RFC 6762, RFC 8375; ICANN on `internal`. */
const PRIVATE_NAME = /^[^.]+\.?$|\.(?:localhost|local|lan|home\.arpa|internal|test)\.?$/i;

/**
 * Whether the request is under no name that a page can have made to mean this machine: its readers name it by address,
 * and from other machines also as it was bound or by a private name.
 */
function isOwnName({ headers, socket }: IncomingMessage, bound: string): boolean {
  const name = (headers.host ?? "").replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
  if (isIP(name) !== 0 || name === "localhost") return true;
  const local = socket.localAddress ?? "";
  const isLoopback = local === "::1" || /^(::ffff:)?127\./.test(local);
  if (isLoopback) return false;
  return name.toLowerCase() === bound.toLowerCase() || PRIVATE_NAME.test(name);
}

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Call, Implemented } from "../define.ts";
import type { Dialect } from "../dialect.ts";
import { createDigestAuth, type DigestAuth, type Login } from "../digest-auth.ts";
import { type Logger, silent } from "../log/logger.ts";
import { discover, openRpcDocument, type ServiceInfo } from "../openrpc.ts";
import { type Answer, failed, notFound, overloaded, tooLarge } from "./answer.ts";
import { answerBinaryPath, isBinaryBody } from "./binary-path.ts";
import { findCall, indexCalls, type RequestInfo, type Rules } from "./call.ts";
import { answerJsonRpc } from "./json-rpc.ts";
import { answerPlainPath } from "./plain-path.ts";
import { readBody } from "./request-body.ts";
import { sendAnswer, sendChallenge, sendOptions } from "./response.ts";

/** A port to listen on; port 0 takes a free one. */
export type Listener = { readonly host: string; readonly port: number; readonly restricted?: boolean };

/** Bounds on what callers may cost. */
export type Limits = {
  /** Bytes of a request's body. */
  readonly requestBytes: number;
  /** Bytes of an answer's body. */
  readonly answerBytes: number;
  readonly headerBytes: number;
  readonly connections: number;
  /** Requests being answered at once, of all connections and of one. */
  readonly requests: number;
  readonly requestsPerConnection: number;
  /** Milliseconds a caller may take to send a request, and to take each part of an answer. */
  readonly slowMs: number;
  readonly keepAliveMs: number;
};

const MiB = 1024 * 1024;

/** Source: core_rpc_server.cpp MAX_RPC_CONTENT_LENGTH (1 MiB for requests); the rest is ours. */
export const defaultLimits: Limits = {
  requestBytes: MiB,
  answerBytes: 512 * MiB,
  headerBytes: 16 * 1024,
  connections: 1000,
  requests: 1000,
  requestsPerConnection: 32,
  slowMs: 30_000,
  keepAliveMs: 65_000,
};

export type RpcServerOptions<Context> = Rules<Context> & {
  readonly calls: readonly Implemented<Context>[];
  readonly listen: readonly Listener[];
  readonly dialect?: Dialect;
  readonly login?: Login;
  readonly limits?: Partial<Limits>;
  /** Named in the answer to `rpc.discover`. */
  readonly info?: ServiceInfo;
  /** Connections from this IP address are closed unanswered. */
  readonly isShutOut?: (remoteAddress: string) => boolean;
};

/** A running service. */
export interface RpcServer {
  /** Where each listener is reached, in the order given, as `http://host:port`. */
  readonly urls: readonly string[];
  /** Open connections. */
  connectionCount(): number;
  /** Stops listening, lets running requests end for `graceMs`, then cuts the rest off. */
  stop(graceMs?: number): Promise<void>;
}

/** Starts a service on every listener; rejects when one of them cannot listen. */
export async function createRpcServer<Context>(options: RpcServerOptions<Context>): Promise<RpcServer> {
  const limits = { ...defaultLimits, ...options.limits };
  const service = createService(options);
  const servers: Server[] = [];
  try {
    for (const listener of options.listen) servers.push(await startListener(listener, service, limits));
  } catch (error) {
    for (const server of servers) server.close();
    throw error;
  }
  return {
    urls: servers.map((server) => urlOf(server.address() as AddressInfo)),
    connectionCount: () => service.sockets.size,
    stop: async (graceMs = 1000) => {
      service.stopping = true;
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
      for (const server of servers) server.closeIdleConnections();
      const timer = setTimeout(() => {
        for (const socket of service.sockets) socket.destroy();
      }, graceMs);
      await Promise.all(closed);
      clearTimeout(timer);
    },
  };
}

function urlOf({ address, family, port }: AddressInfo): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

type Service = {
  readonly sockets: Set<Socket>;
  readonly auth: DigestAuth | undefined;
  readonly log: Logger;
  readonly isShutOut: (remoteAddress: string) => boolean;
  readonly dialect: Dialect;
  readonly answer: (path: string, body: Uint8Array, request: RequestInfo) => Promise<Answer>;
  active: number;
  stopping: boolean;
};

function createService<Context>(options: RpcServerOptions<Context>): Service {
  const { calls, dialect = "contract", login, log = silent, isShutOut = () => false } = options;
  const { info = { title: "Anulo", version: "" } } = options;
  const document = openRpcDocument(calls, info);
  const all: Implemented<Context>[] = [...calls, { call: discover, handler: () => document }];
  const methods = indexCalls(all, ({ transport }) => transport === "jsonRpc");
  const paths = indexCalls(calls, ({ transport }) => transport !== "jsonRpc");
  return {
    sockets: new Set(),
    auth: login === undefined ? undefined : createDigestAuth(login),
    log,
    isShutOut,
    dialect,
    active: 0,
    stopping: false,
    answer: async (path, body, request) => {
      if (path === "/json_rpc") return await answerJsonRpc(methods, body, request, options);
      const found = findCall(paths, path, request);
      if (found === undefined) return notFound;
      const answer = isBinary(found.call, body) ? answerBinaryPath : answerPlainPath;
      return await answer(found, body, request, options);
    },
  };
}

function isBinary(call: Call, body: Uint8Array): boolean {
  if (call.transport === "binary") return true;
  return call.transport === "json" && call.alsoBinary === true && isBinaryBody(body);
}

async function startListener(listener: Listener, service: Service, limits: Limits): Promise<Server> {
  const server = createServer({
    noDelay: true,
    requireHostHeader: false,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.slowMs,
    requestTimeout: limits.slowMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.min(limits.slowMs, 5000),
  });
  server.maxConnections = limits.connections;
  server.on("connection", (socket: Socket) => {
    if (service.isShutOut(socket.remoteAddress ?? "")) {
      socket.destroy();
      return;
    }
    service.sockets.add(socket);
    socket.on("close", () => service.sockets.delete(socket));
  });
  const busy = new WeakMap<Duplex, number>();
  const broken = new WeakSet<Duplex>();
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" || busy.get(socket) === undefined) socket.destroy();
    else broken.add(socket);
  });
  server.on("request", (message, response) => {
    const restricted = listener.restricted === true;
    const { socket } = message;
    const running = (busy.get(socket) ?? 0) + 1;
    if (running > limits.requestsPerConnection) {
      socket.destroy();
      return;
    }
    busy.set(socket, running);
    response.once("close", () => {
      const left = busy.get(socket)! - 1;
      if (left > 0) busy.set(socket, left);
      else busy.delete(socket);
      if (left === 0 && (service.stopping || broken.has(socket))) socket.destroySoon();
    });
    serve({ message, response, service, limits, restricted }).catch((error: unknown) => {
      service.log.error("rpc request failed", { error });
      message.socket.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(listener.port, listener.host, () => {
      server.removeListener("error", reject);
      server.on("error", (error) => service.log.error("rpc listener failed", { error }));
      resolve();
    });
  });
  return server;
}

type Exchange = {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly service: Service;
  readonly limits: Limits;
  readonly restricted: boolean;
};

/** HTTP methods the services know; the original closes the connection on any other. */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]);

async function serve(exchange: Exchange): Promise<void> {
  const { message, response, service, limits } = exchange;
  const { method = "", url = "" } = message;
  const remoteAddress = message.socket.remoteAddress ?? "";
  if (!methods.has(method) || service.isShutOut(remoteAddress)) {
    message.socket.destroy();
    return;
  }
  if (method === "OPTIONS") {
    message.resume();
    sendOptions(message, response);
    return;
  }
  const verdict = service.auth?.check({ method, url, authorization: message.headers.authorization });
  if (verdict === "refused" || verdict === "stale") {
    message.resume();
    sendChallenge(message, response, service.auth!.challenge(verdict === "stale"));
    return;
  }
  const answer = await answerWithin(exchange, remoteAddress);
  if (answer === undefined) message.socket.destroy();
  else sendAnswer(message, response, { answer, slowMs: limits.slowMs });
}

/** The answer, or undefined when the caller is to be cut off. */
async function answerWithin(exchange: Exchange, remoteAddress: string): Promise<Answer | undefined> {
  const { message, service, limits, restricted } = exchange;
  if (service.active >= limits.requests) return overloaded;
  service.active++;
  try {
    const body = await readBody(message, limits.requestBytes);
    if (body === "gone") return undefined;
    if (body === "too large") return service.dialect === "contract" ? tooLarge : undefined;
    const known = message.headers["transfer-encoding"] === undefined || service.dialect === "contract";
    const request = { dialect: service.dialect, restricted, remoteAddress };
    const answer = await service.answer(message.url ?? "", known ? body : new Uint8Array(0), request);
    if (answer.body.length <= limits.answerBytes) return answer;
    service.log.warn("rpc answer too long", { path: message.url, bytes: answer.body.length });
    return failed;
  } finally {
    service.active--;
  }
}

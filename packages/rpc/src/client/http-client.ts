import type { Call } from "../define.ts";
import type { Login } from "../digest-auth.ts";
import { BrokenBody, type ClientConnection, type Reply } from "./client-connection.ts";
import { BadAnswer, ConnectionFailed } from "./client-errors.ts";
import { type Caller, ConnectionPool } from "./connection-pool.ts";
import { type Connect, createDialer } from "./dial.ts";
import { createDigestClient } from "./digest-client.ts";
import type { ServerTls } from "./server-tls.ts";

export type ClientOptions = {
  readonly login?: Login;
  /** Time limit (milliseconds) for a whole call; 3 minutes by default. */
  readonly timeoutMs?: number;
  /** Maximum size (bytes) of the response to a call; 256 MiB by default. */
  readonly maxAnswerBytes?: (call: Call) => number;
  /** Maximum number of open connections; 8 by default, always 1 with a login. */
  readonly connections?: number;
  /** If left out, connections are direct. */
  readonly connect?: Connect;
  /** If left out, the URL's scheme decides, with the system's authorities. */
  readonly tls?: ServerTls;
};

type Posting = {
  readonly call: Call;
  readonly path: string;
  readonly body: Buffer;
  readonly type: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
};

export interface HttpClient {
  /**
   * Resolves with the body of the response; rejects with ConnectionFailed, or BadAnswer for a status other than 200.
   */
  readonly post: (posting: Posting) => Promise<Buffer>;
  readonly close: () => void;
}

const MiB = 1024 * 1024;

/** Keeps connections open between calls; only one with a login, since a nonce may belong to its connection. */
export function createHttpClient(url: string, options: ClientOptions): HttpClient {
  const { host, port, isTls } = readUrl(url);
  const { login, timeoutMs = 180_000, maxAnswerBytes = () => 256 * MiB, connections = 8 } = options;
  const dialer = createDialer({
    tls: options.tls ?? { mode: isTls ? "enabled" : "disabled", trust: "system" },
    ...(options.connect !== undefined && { connect: options.connect }),
  });
  const pool = new ConnectionPool(login ? 1 : connections, (signal) => dialer.dial({ host, port }, signal));
  const service: Service = { pool, host: hostHeaderOf(host, port), pending: new Set(), isClosed: false };
  const close = () => {
    service.isClosed = true;
    for (const pending of service.pending) pending.end("closed");
    pool.close();
  };
  const digest = login && createDigestClient(login);

  const exchangeOnce = (posting: Posting): Promise<Reply> => {
    const authorization = digest?.authorization("POST", posting.path);
    return exchange(service, posting, {
      authorization,
      maxAnswerBytes: maxAnswerBytes(posting.call),
      timeoutMs: posting.timeoutMs ?? timeoutMs,
    });
  };

  const post = async (posting: Posting): Promise<Buffer> => {
    let reply = await exchangeAgain(posting, exchangeOnce, () => dialer.reconsider({ host, port }));
    if (reply.status === 401 && digest?.accept(reply.challenges)) reply = await exchangeOnce(posting);
    if (reply.status !== 200) throw new BadAnswer(posting.call.name, `HTTP ${reply.status}`);
    return reply.body;
  };
  return { post, close };
}

function readUrl(url: string): { readonly host: string; readonly port: number; readonly isTls: boolean } {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") throw new RangeError(`not an http address: ${url}`);
  const isTls = protocol === "https:";
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || (isTls ? 443 : 80)), isTls };
}

function hostHeaderOf(host: string, port: number): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return port === 80 ? name : `${name}:${port}`;
}

/**
 * A reading call is repeated once if the result may differ: the service may just have closed an idle connection, or it
 * uses TLS.
 */
async function exchangeAgain(
  posting: Posting,
  once: (posting: Posting) => Promise<Reply>,
  reconsider: () => Promise<boolean>,
): Promise<Reply> {
  try {
    return await once(posting);
  } catch (error) {
    const isStale = error instanceof StaleConnection || (mayWantTls(error) && (await reconsider()));
    if (isStale && onlyReads(posting.call)) return await once(posting);
    throw error;
  }
}

/** Whether the service closed the connection, or its response is not HTTP. */
function mayWantTls(error: unknown): boolean {
  const code = error instanceof ConnectionFailed && error.cause instanceof Error && "code" in error.cause;
  return code && /^(ECONNRESET|EPIPE|NOT_HTTP)$/.test(String((error.cause as NodeJS.ErrnoException).code));
}

class StaleConnection extends ConnectionFailed {
  override name = "ConnectionFailed";
}

function onlyReads({ name }: Call): boolean {
  return /^\/?(get|is_|on_get|hard_fork_info)/.test(name);
}

/** The service, and what is under way with it. */
type Service = {
  readonly pool: ConnectionPool;
  /** As requests name it. */
  readonly host: string;
  readonly pending: Set<Pending>;
  isClosed: boolean;
};

type ExchangeOptions = {
  readonly authorization: string | undefined;
  readonly maxAnswerBytes: number;
  readonly timeoutMs: number;
};

/** Posts once. */
async function exchange(service: Service, posting: Posting, options: ExchangeOptions): Promise<Reply> {
  const { call, signal } = posting;
  const { timeoutMs, maxAnswerBytes } = options;
  const request = requestOf(posting, service.host, options.authorization);
  const pending = new Pending(call);
  const abort = () => pending.end("broken off");
  const timer = setTimeout(() => pending.end(`no answer in ${timeoutMs} ms`), timeoutMs);
  timer.unref();
  service.pending.add(pending);
  signal?.addEventListener("abort", abort);
  if (signal?.aborted) abort();
  if (service.isClosed) pending.end("closed");
  else void pending.run(service.pool, request, maxAnswerBytes);
  try {
    return await pending.reply;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
    service.pending.delete(pending);
  }
}

/** A request under way. */
class Pending implements Caller {
  readonly #call: Call;
  readonly reply: Promise<Reply>;
  #resolve: (reply: Reply) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;
  #connection: ClientConnection | undefined;
  isOver = false;
  giveUp: () => void = () => undefined;

  constructor(call: Call) {
    this.#call = call;
    this.reply = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Never rejects: the reply does. */
  async run(pool: ConnectionPool, request: Buffer, maxBytes: number): Promise<void> {
    let wasUsed = false;
    try {
      const connection = this.isOver ? undefined : await pool.take(this);
      if (connection === undefined) return;
      if (this.isOver) return pool.release(connection);
      this.#connection = connection;
      wasUsed = connection.wasUsed;
      const reply = await connection.send(request, maxBytes);
      pool.release(connection);
      this.#resolve(reply);
    } catch (error) {
      this.#reject(failureOf(this.#call, error, wasUsed));
    }
    this.isOver = true;
  }

  /** Rejects at once, unless the reply has come; nobody waits for it any more. */
  end(reason: string): void {
    if (this.isOver) return;
    this.isOver = true;
    const cause = new Error("broken off");
    this.#reject(new ConnectionFailed(this.#call.name, reason, { cause }));
    this.giveUp();
    this.#connection?.destroy(cause);
  }
}

function failureOf({ name }: Call, cause: unknown, wasUsed: boolean): ConnectionFailed {
  if (cause instanceof BrokenBody)
    return new ConnectionFailed(name, "the answer broke off or is too long", { cause: cause.cause });
  const { code, message }: NodeJS.ErrnoException = cause instanceof Error ? cause : new Error(String(cause));
  const isStale = wasUsed && (code === "ECONNRESET" || code === "EPIPE");
  return new (isStale ? StaleConnection : ConnectionFailed)(name, code ?? message, { cause });
}

const BAD_VALUE = /[^\t -~\x80-\xff]/;

/** Head and body in one piece, so that they are sent together. */
function requestOf({ path, body, type }: Posting, host: string, authorization: string | undefined): Buffer {
  if (authorization !== undefined && BAD_VALUE.test(authorization))
    throw new TypeError("a login that no header can contain");
  const head =
    `POST ${path} HTTP/1.1\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n` +
    `Connection: keep-alive\r\n${authorization === undefined ? "" : `Authorization: ${authorization}\r\n`}` +
    `Host: ${host}\r\n\r\n`;
  const request = Buffer.allocUnsafe(head.length + body.length);
  request.write(head, "latin1");
  body.copy(request, head.length);
  return request;
}

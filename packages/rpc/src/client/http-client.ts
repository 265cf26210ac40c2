import { setMaxListeners } from "node:events";
import type { Agent, AgentOptions, ClientRequest, IncomingMessage } from "node:http";
import type { Call } from "../define.ts";
import type { Login } from "../digest-auth.ts";
import { Gathered } from "../gathered.ts";
import { nodeHttp } from "../loaded-later.ts";
import { BadAnswer, ConnectionFailed } from "./client-errors.ts";
import { type Connect, createDialer, type Dialer } from "./dial.ts";
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

type Reply = {
  readonly status: number;
  readonly challenges: readonly string[];
  readonly body: Buffer;
};

/** Keeps connections open between calls; only one with a login, since a nonce may belong to its connection. */
export function createHttpClient(url: string, options: ClientOptions): HttpClient {
  const { host, port, isTls } = readUrl(url);
  const { login, timeoutMs = 180_000, maxAnswerBytes = () => 256 * MiB, connections = 8 } = options;
  const dialer = createDialer({
    tls: options.tls ?? { mode: isTls ? "enabled" : "disabled", trust: "system" },
    ...(options.connect !== undefined && { connect: options.connect }),
  });
  const closed = new AbortController();
  setMaxListeners(0, closed.signal); // every waiting call adds a listener
  const agent = createAgent(
    { keepAlive: true, maxSockets: login ? 1 : connections },
    { dialer, timeoutMs, closed: closed.signal },
  );
  const close = () => {
    closed.abort();
    agent.destroy();
  };
  const digest = login && createDigestClient(login);

  const exchangeOnce = (posting: Posting): Promise<Reply> => {
    const authorization = digest?.authorization("POST", posting.path);
    return exchange(posting, {
      agent,
      host,
      port,
      authorization,
      maxAnswerBytes: maxAnswerBytes(posting.call),
      timeoutMs: posting.timeoutMs ?? timeoutMs,
      closed: closed.signal,
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

/** Creates the pool of open connections. */
function createAgent(
  settings: AgentOptions,
  {
    dialer,
    timeoutMs,
    closed,
  }: { readonly dialer: Dialer; readonly timeoutMs: number; readonly closed: AbortSignal },
): Agent {
  const agent = new (nodeHttp().Agent)(settings);
  agent.createConnection = ({ host, port }, opened) => {
    const signal = AbortSignal.any([closed, AbortSignal.timeout(timeoutMs)]);
    dialer.dial({ host: host ?? "", port: Number(port) }, signal).then(
      (stream) => (closed.aborted ? stream.destroy() : opened?.(null, stream)),
      (error: Error) => opened?.(error, undefined as never),
    );
    return undefined;
  };
  return agent;
}

function readUrl(url: string): { readonly host: string; readonly port: number; readonly isTls: boolean } {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") throw new RangeError(`not an http address: ${url}`);
  const isTls = protocol === "https:";
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || (isTls ? 443 : 80)), isTls };
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

/** Whether the service closed the connection, or its response is not HTTP. Source: codes of Node's own HTTP. */
function mayWantTls(error: unknown): boolean {
  const code = error instanceof ConnectionFailed && error.cause instanceof Error && "code" in error.cause;
  return code && /^(ECONNRESET|EPIPE|HPE_)/.test(String((error.cause as NodeJS.ErrnoException).code));
}

class StaleConnection extends ConnectionFailed {
  override name = "ConnectionFailed";
}

function onlyReads({ name }: Call): boolean {
  return /^\/?(get|is_|on_get|hard_fork_info)/.test(name);
}

type Target = {
  readonly agent: Agent;
  readonly host: string;
  readonly port: number;
  readonly authorization: string | undefined;
  readonly maxAnswerBytes: number;
  readonly timeoutMs: number;
  /** Aborts all calls. */
  readonly closed: AbortSignal;
};

function exchange(posting: Posting, target: Target): Promise<Reply> {
  const { call, path, body, type } = posting;
  const { agent, host, port, authorization, maxAnswerBytes, timeoutMs, closed } = target;
  return new Promise((resolve, reject) => {
    const headers = {
      "Content-Type": type,
      "Content-Length": body.length,
      Connection: "keep-alive",
      ...(authorization !== undefined && { Authorization: authorization }),
    };
    const sent = nodeHttp().request({ agent, host, port, path, method: "POST", headers }, (message) => {
      readReply(message, maxAnswerBytes).then(resolve, (cause: unknown) =>
        reject(new ConnectionFailed(call.name, "the answer broke off or is too long", { cause })),
      );
    });
    const isLate = breakOff(sent, { timeoutMs, signals: [closed, posting.signal] });
    sent.on("error", (cause: NodeJS.ErrnoException) => {
      const stale = sent.reusedSocket && (cause.code === "ECONNRESET" || cause.code === "EPIPE");
      const Failure = stale ? StaleConnection : ConnectionFailed;
      const reason = closed.aborted
        ? "closed"
        : isLate()
          ? `no answer in ${timeoutMs} ms`
          : (cause.code ?? cause.message);
      reject(new Failure(call.name, reason, { cause }));
    });
    sent.end(body);
  });
}

/**
 * Aborts the request after `ms` milliseconds, or when one of the signals is aborted; returns whether it was the time.
 * Written by hand, since a combined signal costs as much as the rest of a call.
 */
function breakOff(
  sent: ClientRequest,
  {
    timeoutMs,
    signals,
  }: { readonly timeoutMs: number; readonly signals: readonly (AbortSignal | undefined)[] },
): () => boolean {
  let late = false;
  const end = () => void sent.destroy(new Error("broken off"));
  const timer = setTimeout(() => {
    late = true;
    end();
  }, timeoutMs);
  timer.unref();
  for (const signal of signals) {
    if (signal?.aborted) end();
    signal?.addEventListener("abort", end);
  }
  sent.once("close", () => {
    clearTimeout(timer);
    for (const signal of signals) signal?.removeEventListener("abort", end);
  });
  return () => late;
}

function readReply(message: IncomingMessage, maxBytes: number): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const body = new Gathered();
    message.on("data", (part: Buffer) => {
      if (body.length + part.length > maxBytes)
        message.destroy(new RangeError(`more than ${maxBytes} bytes`));
      else body.add(part);
    });
    message.once("error", reject);
    message.once("close", () => reject(new Error("the connection ended")));
    message.once("end", () =>
      resolve({
        status: message.statusCode ?? 0,
        challenges: message.headersDistinct["www-authenticate"] ?? [],
        body: body.bytes,
      }),
    );
  });
}

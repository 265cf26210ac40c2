import { setMaxListeners } from "node:events";
import type { Agent, AgentOptions, IncomingMessage } from "node:http";
import type { Call } from "../define.ts";
import type { Login } from "../digest-auth.ts";
import { Gathered } from "../gathered.ts";
import { nodeHttp } from "../loaded-later.ts";
import { BadAnswer, ConnectionFailed } from "./client-errors.ts";
import { ConnectionSlots, watchBounds } from "./connection-slots.ts";
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

type CallPosting = {
  readonly call: Call;
  readonly path: string;
  readonly body: Buffer;
  readonly type: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
};

/** A call that has a connection; of its time, this has passed while it waited for one. */
type Posting = CallPosting & { readonly waitedMs: number };

const lateFor = (timeoutMs: number): string => `no answer in ${timeoutMs} ms`;

export interface HttpClient {
  /**
   * Resolves with the body of the response; rejects with ConnectionFailed, or BadAnswer for a status other than 200.
   */
  readonly post: (posting: CallPosting) => Promise<Buffer>;
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
  const maxSockets = login ? 1 : connections;
  const slots = new ConnectionSlots(maxSockets);
  const agent = createAgent({ keepAlive: true, maxSockets }, { dialer, timeoutMs, closed: closed.signal });
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

  const post = async (posting: CallPosting): Promise<Buffer> => {
    const { call, signal, timeoutMs: limitMs = timeoutMs } = posting;
    const startedAt = performance.now();
    if (!(await slots.take({ timeoutMs: limitMs, signals: [closed.signal, signal] }))) {
      const isBrokenOff = signal?.aborted === true;
      const reason = closed.signal.aborted ? "closed" : isBrokenOff ? "broken off" : lateFor(limitMs);
      throw new ConnectionFailed(call.name, reason);
    }
    try {
      return await postNow({ ...posting, waitedMs: performance.now() - startedAt });
    } finally {
      slots.release();
    }
  };

  /** The authorization counts on the answers before: with a login, calls come one after the other. */
  const postNow = async (posting: Posting): Promise<Buffer> => {
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
    void dialer.dial({ host: host ?? "", port: Number(port) }, signal).then(
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
  const { call, path, body, type, waitedMs, signal } = posting;
  const { agent, host, port, authorization, maxAnswerBytes, timeoutMs, closed } = target;
  return new Promise((resolve, reject) => {
    const headers = {
      "Content-Type": type,
      "Content-Length": body.length,
      Connection: "keep-alive",
      ...(authorization !== undefined && { Authorization: authorization }),
    };
    const sent = nodeHttp().request({ agent, host, port, path, method: "POST", headers }, (message) => {
      void readReply(message, maxAnswerBytes).then(resolve, (cause: unknown) =>
        reject(new ConnectionFailed(call.name, "the answer broke off or is too long", { cause })),
      );
    });
    const bounds = watchBounds({ timeoutMs: timeoutMs - waitedMs, signals: [closed, signal] }, () => {
      sent.destroy(new Error("broken off"));
    });
    sent.once("close", bounds.stop);
    sent.on("error", (cause: NodeJS.ErrnoException) => {
      const stale = sent.reusedSocket && (cause.code === "ECONNRESET" || cause.code === "EPIPE");
      const Failure = stale ? StaleConnection : ConnectionFailed;
      const reason = closed.aborted
        ? "closed"
        : bounds.isLate()
          ? lateFor(timeoutMs)
          : (cause.code ?? cause.message);
      reject(new Failure(call.name, reason, { cause }));
    });
    sent.end(body);
  });
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

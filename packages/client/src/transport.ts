import { createDigest, type Digest, type Login } from "./digest.ts";
import { BadAnswer, ConnectionFailed, type ErrorContext, HttpError } from "./errors.ts";
import { pause } from "./repeat.ts";

export type { Login } from "./digest.ts";

/** How a client speaks to a service. */
export type ClientOptions = {
  /** User and password, as `--rpc-login` names them; calls then go one after the other. */
  readonly login?: Login;
  /** A bearer token, in place of a login. */
  readonly token?: string;
  /** Milliseconds for one attempt of a call; 3 minutes. */
  readonly timeoutMs?: number;
  /** How often a call is repeated where that is safe and there was no answer; 2. */
  readonly retries?: number;
  /** Bytes of an answer; 256 MiB. */
  readonly maxAnswerBytes?: number;
  /** In place of the global one. */
  readonly fetch?: typeof globalThis.fetch;
};

/** What one call may have otherwise than its client. */
export type CallOptions = {
  /** Ends the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
};

export type Exchange = CallOptions & {
  readonly context: ErrorContext;
  readonly method: "GET" | "POST";
  /** Behind the service's address; begins with a slash. */
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Requests to one service. Throws ConnectionFailed, HttpError, BadAnswer, or the reason of the caller's signal. */
export interface Transport {
  /** The whole body of a response of status 200. */
  text(exchange: Exchange): Promise<string>;
  /** A response of status 200 whose body is still to come; `signal` ends it. */
  open(exchange: Exchange): Promise<Response>;
}

const MAX_ANSWER_BYTES = 256 * 1024 * 1024;

/** One for a login, and more where a nonce turns out to be old or another connection's. */
const MAX_CHALLENGES = 3;

export function createTransport(url: string | URL, options: ClientOptions): Transport {
  const base = baseOf(url);
  if (options.token !== undefined) checkToken(options.token);
  const { timeoutMs = 180_000, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  const digest = options.login && createDigest(options.login);
  // A nonce may belong to its connection: one request at a time keeps to one.
  const inTurn = digest === undefined ? <T>(work: () => Promise<T>) => work() : createTurns();
  const send = (exchange: Exchange, signal: AbortSignal) =>
    sendOnce(base, { exchange, signal, digest, options });
  return {
    text: (exchange) =>
      inTurn(() =>
        withDeadline({ timeoutMs, ...exchange }, async (signal) => {
          const response = await send(exchange, signal);
          return await readText(response, maxAnswerBytes, exchange.context);
        }),
      ),
    open: (exchange) =>
      inTurn(() => untilOpen({ timeoutMs, ...exchange }, (signal) => send(exchange, signal))),
  };
}

/** Address of the service without a slash at its end. Throws TypeError for none of HTTP. */
function baseOf(url: string | URL): string {
  const { protocol, origin, pathname, username } = new URL(url);
  if (!/^https?:$/.test(protocol))
    throw new TypeError("the address of a service begins with http: or https:");
  if (username !== "") throw new TypeError("a login is given as an option, not in the address");
  return `${origin}${pathname.replace(/\/+$/, "")}`;
}

/** Throws TypeError for a token that a header cannot hold: fetch would put it into its error. */
function checkToken(token: string): void {
  if (!/^[!-~]+$/.test(token)) throw new TypeError("a token has visible characters of ASCII, and no others");
}

function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    // In its next turn of the event loop fetch can use the same connection again.
    last = next.catch(() => {}).then(() => pause(0));
    return next;
  };
}

type Sending = {
  readonly exchange: Exchange;
  readonly signal: AbortSignal;
  readonly digest: Digest | undefined;
  readonly options: ClientOptions;
};

/** The response, after a challenge was answered; throws HttpError for a status other than 200. */
async function sendOnce(base: string, { exchange, signal, digest, options }: Sending): Promise<Response> {
  const { method, path, body, headers = {} } = exchange;
  const { token, fetch = globalThis.fetch, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  const uri = new URL(`${base}${path}`);
  const attempt = async () => {
    const authorization =
      token === undefined ? digest?.authorization(method, `${uri.pathname}${uri.search}`) : `Bearer ${token}`;
    return await fetch(uri.href, {
      method,
      headers: { ...headers, ...(authorization !== undefined && { Authorization: authorization }) },
      ...(body !== undefined && { body }),
      signal,
      // Our credentials are in a header of our own.
      credentials: "omit",
      redirect: "error",
    });
  };
  let response = await attempt();
  for (let challenges = 0; challenges < MAX_CHALLENGES && response.status === 401; challenges++) {
    if (digest?.accept(response.headers.get("www-authenticate") ?? "") !== true) break;
    await readText(response, maxAnswerBytes, exchange.context);
    await pause(0);
    response = await attempt();
  }
  if (response.status === 200) return response;
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  await response.body?.cancel();
  throw new HttpError(response.status, {
    ...exchange.context,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
  });
}

async function readText(response: Response, most: number, context: ErrorContext): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    bytes += part.value.byteLength;
    if (bytes > most) {
      await reader?.cancel();
      throw new BadAnswer(`more than ${most} bytes`, context);
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
}

type Limited = Exchange & { readonly timeoutMs: number };

/** Runs what ends with its signal: aborted by the caller, or late. What else fails in it is the connection. */
async function withDeadline<T>(exchange: Limited, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const control = new AbortController();
  try {
    return await guarded(exchange, control, work);
  } finally {
    control.abort();
  }
}

/** The same up to the beginning of a response; then only the caller ends it. */
async function untilOpen(
  exchange: Limited,
  work: (signal: AbortSignal) => Promise<Response>,
): Promise<Response> {
  const control = new AbortController();
  const response = await guarded(exchange, control, work);
  const { signal } = exchange;
  if (signal?.aborted === true) control.abort(signal.reason);
  signal?.addEventListener("abort", () => control.abort(signal.reason), { once: true });
  return response;
}

async function guarded<T>(
  { signal, timeoutMs, context }: Limited,
  control: AbortController,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const abort = () => control.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const timer = setTimeout(() => control.abort(), timeoutMs);
  try {
    return await work(control.signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof HttpError || error instanceof BadAnswer) throw error;
    const why = control.signal.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(error);
    throw new ConnectionFailed(why, context, { cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** What fetch says is little; its cause has more. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

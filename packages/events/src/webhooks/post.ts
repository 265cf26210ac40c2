import { lookup } from "node:dns/promises";
import {
  type ClientRequest,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plain,
  type RequestOptions,
} from "node:http";
import { Agent as SecureAgent, request as secure } from "node:https";
import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";

/** Resolves a name to its addresses. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);

export interface PostOptions {
  readonly url: URL;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resolve: Resolve;
  readonly allowsPrivate: boolean;
  readonly connections: Connections;
  /** Aborts the attempt. */
  readonly signal: AbortSignal;
}

const MAX_HEADER_BYTES = 16 * 1024;
/** A longer response body, or one that takes longer, costs its receiver the connection. */
const MAX_BODY_BYTES = 4 * 1024;
const BODY_MS = 250;
const MAX_IDLE_PER_TARGET = 2;
const MAX_IDLE_MS = 10_000;

/** Connections to receivers that are kept for their next events. */
export class Connections {
  readonly #options = { keepAlive: true, maxFreeSockets: MAX_IDLE_PER_TARGET, timeout: MAX_IDLE_MS };
  readonly #plain = new PlainAgent(this.#options);
  readonly #secure = new SecureAgent(this.#options);

  /** Begins a request; a kept connection is used only for the same address, port and TLS name. */
  request(protocol: string, options: RequestOptions): ClientRequest {
    if (protocol === "https:") return secure({ ...options, agent: this.#secure });
    return plain({ ...options, agent: this.#plain });
  }

  close(): void {
    this.#plain.destroy();
    this.#secure.destroy();
  }
}

/** The reason for which no attempt was made, for the operator who configured the webhook. */
export class RefusedTarget extends Error {
  override readonly name = "RefusedTarget";
}

/**
 * Posts a body and returns the status of the response: only the status is read, and redirects are not followed. It
 * connects to the address that was checked. Rejects where no response arrives, with `RefusedTarget` for a name whose
 * addresses are not public.
 */
export async function post(options: PostOptions): Promise<number> {
  const { url, body, headers, signal, connections } = options;
  const address = await addressOf(options);
  signal.throwIfAborted();
  const hostname = bareHostname(url);
  const settings: RequestOptions & { servername?: string } = {
    method: "POST",
    host: address,
    port: url.port,
    path: url.pathname + url.search,
    maxHeaderSize: MAX_HEADER_BYTES,
    signal,
    headers: {
      ...headers,
      host: url.host,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
    },
    ...(url.protocol === "https:" && isIP(hostname) === 0 && { servername: hostname }),
  };
  for (;;) {
    const request = connections.request(url.protocol, settings);
    try {
      return await unlessAborted(statusOf(request, body), signal);
    } catch (error) {
      // A receiver may close a kept connection just as it is used again: that is no failed attempt.
      if (!request.reusedSocket || signal.aborted) throw error;
    } finally {
      // Without effect on a request whose response was read to its end. Of all others the connection is not kept: a
      // receiver can cause a state that ends neither in a response nor in an error.
      request.destroy();
    }
  }
}

/** Returns the first of the name's addresses, all of which have to be public. */
async function addressOf({ url, resolve, allowsPrivate, signal }: PostOptions): Promise<string> {
  const hostname = bareHostname(url);
  const found = isIP(hostname) === 0 ? await unlessAborted(resolve(hostname), signal) : [hostname];
  const [first] = found;
  if (first === undefined) throw new RefusedTarget("the host has no address");
  if (!allowsPrivate && !found.every(isPublicAddress)) {
    throw new RefusedTarget("the host is not on the public Internet");
  }
  return first;
}

/** The hostname without the brackets around IPv6. */
const bareHostname = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");

async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return await new Promise<T>((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Resolves once the response has ended, or at its status where it is not worth waiting for its end. */
async function statusOf(request: ClientRequest, body: string): Promise<number> {
  return await new Promise<number>((resolve, reject) => {
    request.on("error", reject);
    const rejectClosed = () => reject(new Error("the connection was closed"));
    request.on("close", rejectClosed);
    request.on("upgrade", (response, socket) => {
      socket.on("error", () => {});
      socket.destroy();
      resolve(response.statusCode ?? 0);
    });
    request.on("response", (response) => {
      // The request closes before its response does.
      request.off("close", rejectClosed);
      void readToEnd(response).then(() => resolve(response.statusCode ?? 0));
    });
    request.end(body);
  });
}

/** Resolves once a short response body has arrived, or once it is known that none does. */
async function readToEnd(response: IncomingMessage): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, BODY_MS);
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) resolve();
    });
    response.on("error", () => {});
    response.on("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

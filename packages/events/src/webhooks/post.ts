import { lookup } from "node:dns/promises";
import { type ClientRequest, type IncomingMessage, request as plain, type RequestOptions } from "node:http";
import { request as secure } from "node:https";
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
  /** Aborts the attempt. */
  readonly signal: AbortSignal;
}

const MAX_HEADER_BYTES = 16 * 1024;

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
  const { url, body, headers, signal } = options;
  const address = await addressOf(options);
  signal.throwIfAborted();
  const hostname = bareHostname(url);
  const settings: RequestOptions & { servername?: string } = {
    method: "POST",
    host: address,
    port: url.port,
    path: url.pathname + url.search,
    // Each request has its own connection: a kept one would outlive the check of its address.
    agent: false,
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
  const request = (url.protocol === "https:" ? secure : plain)(settings);
  // A receiver can cause a state that ends neither in a response nor in an error.
  return await unlessAborted(statusOf(request, body), signal).finally(() => request.destroy());
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
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

async function statusOf(request: ClientRequest, body: string): Promise<number> {
  return await new Promise<number>((resolve, reject) => {
    request.on("error", reject);
    request.on("close", () => reject(new Error("the connection was closed")));
    request.on("upgrade", (response, socket) => {
      socket.on("error", () => {});
      socket.destroy();
      resolve(response.statusCode ?? 0);
    });
    request.on("response", (response: IncomingMessage) => {
      response.on("error", () => {});
      resolve(response.statusCode ?? 0);
      request.destroy();
    });
    request.end(body);
  });
}

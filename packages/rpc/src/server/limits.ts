import type { CostLimits } from "@anulo/limits";
import { costs } from "../costs.ts";

/** Bounds on what the callers of a port may cost. */
export type Limits = {
  /** Bytes of a request's body. */
  readonly requestBytes: number;
  /** Memory in bytes that a request may take once parsed, whatever its call is declared to. */
  readonly requestMemoryBytes: number;
  /** Bytes of an answer's body. */
  readonly answerBytes: number;
  readonly headerBytes: number;
  /** Open connections of all callers, and of one IP address, of the internet or not. */
  readonly connections: number;
  readonly connectionsPerPublicAddress: number;
  readonly connectionsPerPrivateAddress: number;
  /** Requests being answered or waiting for it, of all callers and of one IP address. */
  readonly requests: number;
  readonly requestsPerAddress: number;
  /** Calls that take long (`isExpensive`) at once; the others wait. */
  readonly expensiveCalls: number;
  /** Requests of one batch, and bytes of their responses together. */
  readonly batch: number;
  readonly batchBytes: number;
  /** Memory in bytes that requests, and answers being made or sent, may take. */
  readonly heldBytes: number;
  /** What one IP address may take of it. */
  readonly heldBytesPerAddress: number;
  /** Bytes of an answer that are reserved before it is made; more as it turns out longer. */
  readonly reservedBytes: number;
  /** Milliseconds a caller may take to send a request, and to take each part of an answer. */
  readonly slowMs: number;
  /** Bytes per second a caller must take of a long answer, on average over `slowMs`. */
  readonly leastRate: number;
  /** Milliseconds for which a call goes on whose caller has closed its side of the connection. */
  readonly halfClosedMs: number;
  readonly keepAliveMs: number;
  /** Open streams of all callers, and of one IP address. */
  readonly streams: number;
  readonly streamsPerAddress: number;
  /** Bytes of an event of a stream, and of what waits for its reader. */
  readonly streamBytes: number;
  /** Milliseconds after which the reader of a silent stream is sent a comment. */
  readonly heartbeatMs: number;
};

const KiB = 1024;
const MiB = 1024 * KiB;

/** Of a whole service. Source: core_rpc_server.cpp MAX_RPC_CONTENT_LENGTH (1 MiB for requests); the rest is ours. */
export const defaultLimits: Limits = {
  requestBytes: MiB,
  requestMemoryBytes: 512 * MiB,
  answerBytes: 512 * MiB,
  headerBytes: 16 * KiB,
  connections: 1000,
  connectionsPerPublicAddress: Number.POSITIVE_INFINITY,
  connectionsPerPrivateAddress: Number.POSITIVE_INFINITY,
  requests: 1000,
  requestsPerAddress: Number.POSITIVE_INFINITY,
  expensiveCalls: 64,
  batch: 100,
  batchBytes: 64 * MiB,
  heldBytes: 512 * MiB,
  heldBytesPerAddress: Number.POSITIVE_INFINITY,
  reservedBytes: 8 * MiB,
  slowMs: 30_000,
  leastRate: KiB,
  halfClosedMs: 2000,
  keepAliveMs: 65_000,
  streams: 64,
  streamsPerAddress: Number.POSITIVE_INFINITY,
  streamBytes: 256 * KiB,
  heartbeatMs: 15_000,
};

/** What strangers get of the memory of a service that has a port for them; never more than what is named here. */
const STRANGERS_SHARE = 1 / 4;

/** Most of what each limit is on a port for strangers. */
const strangers = {
  requestMemoryBytes: 2 * MiB,
  answerBytes: 32 * MiB,
  connectionsPerPublicAddress: 100,
  requestsPerAddress: 200,
  expensiveCalls: 2,
  batch: 20,
  batchBytes: 4 * MiB,
  heldBytesPerAddress: 64 * MiB,
  streams: 32,
  streamsPerAddress: 4,
} as const satisfies Partial<Limits>;

/** Divides the limits of a service: what strangers take is never the owner's. */
export function divideLimits(limits: Limits): { readonly owner: Limits; readonly strangers: Limits } {
  const heldBytes = Math.floor(limits.heldBytes * STRANGERS_SHARE);
  const lowered: Record<string, number> = { ...limits, heldBytes, leastRate: 16 * KiB };
  for (const [name, most] of Object.entries(strangers)) lowered[name] = Math.min(lowered[name]!, most);
  // All that a stranger's response may take is reserved before anything of it is made.
  lowered.reservedBytes = lowered.answerBytes!;
  return { owner: { ...limits, heldBytes: limits.heldBytes - heldBytes }, strangers: lowered as Limits };
}

/** What a batch costs, whatever its calls. */
export function batchCost(limits: Limits, calls: readonly CostLimits[]): CostLimits {
  return {
    requestBytes: limits.requestBytes,
    memoryBytes: calls.reduce((most, call) => Math.max(most, call.memoryBytes), costs.small.memoryBytes),
    rows: calls.reduce((sum, { rows }) => sum + rows, 0),
    responseBytes: limits.batchBytes,
  };
}

/** Loopback, link-local and private addresses, also inside IPv6. Source: RFC 1918, RFC 4193, RFC 4291. */
const PRIVATE =
  /^(?:::ffff:)?(?:127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.)|^::1$|^f[cd][0-9a-f]{2}:|^fe[89ab][0-9a-f]:/i;

/** How many connections an IP address may have. */
export function connectionsOf(limits: Limits, address: string): number {
  return PRIVATE.test(address) ? limits.connectionsPerPrivateAddress : limits.connectionsPerPublicAddress;
}

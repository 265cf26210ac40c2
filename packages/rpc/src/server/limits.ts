import type { CostLimits } from "@anulo/limits";
import { costs } from "../costs.ts";

/** Limits of the resources that the callers of a port may use. */
export type Limits = {
  /** Maximum size of a request's body in bytes. */
  readonly requestBytes: number;
  /** Maximum memory in bytes of a parsed request, whatever its call declares. */
  readonly requestMemoryBytes: number;
  /** Maximum size of a response's body in bytes. */
  readonly answerBytes: number;
  readonly headerBytes: number;
  /** Maximum number of open connections: of all callers, of one public IP address, and of one private address. */
  readonly connections: number;
  readonly connectionsPerPublicAddress: number;
  readonly connectionsPerPrivateAddress: number;
  /** Maximum number of requests being processed or waiting: of all callers and of one IP address. */
  readonly requests: number;
  readonly requestsPerAddress: number;
  /** Maximum number of concurrent expensive calls (`isExpensive`); the others wait. */
  readonly expensiveCalls: number;
  /** The part of the event loop's time that requests may take, from 0 to 1; infinite where it is not limited. */
  readonly eventLoopShare: number;
  /** Maximum number of requests in a batch, and total size of their responses in bytes. */
  readonly batch: number;
  readonly batchBytes: number;
  /** Memory in bytes that requests, and responses being built or sent, may use. */
  readonly heldBytes: number;
  /** The part of it that one IP address may use. */
  readonly heldBytesPerAddress: number;
  /** Bytes of a response that are reserved before it is built; more if it turns out longer. */
  readonly reservedBytes: number;
  /** Milliseconds that a caller may take to send a request, and to receive each part of a response. */
  readonly slowMs: number;
  /** Bytes per second of a long response that a caller must receive, on average over `slowMs`. */
  readonly leastRate: number;
  /** Milliseconds for which a call continues after its caller has closed its side of the connection. */
  readonly halfClosedMs: number;
  readonly keepAliveMs: number;
  /** Maximum number of open streams: of all callers, and of one IP address. */
  readonly streams: number;
  readonly streamsPerAddress: number;
  /** Maximum size in bytes of a stream's event, and of the data that waits for its reader. */
  readonly streamBytes: number;
  /** Milliseconds after which a comment is sent on a silent stream. */
  readonly heartbeatMs: number;
};

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * Limits of a whole service. Source: core_rpc_server.cpp MAX_RPC_CONTENT_LENGTH (1 MiB for requests); the rest is ours.
 */
export const defaultLimits: Limits = {
  requestBytes: MiB,
  requestMemoryBytes: 512 * MiB,
  answerBytes: 512 * MiB,
  headerBytes: 16 * KiB,
  connections: 1000,
  connectionsPerPublicAddress: 100,
  connectionsPerPrivateAddress: 500,
  requests: 1000,
  requestsPerAddress: Number.POSITIVE_INFINITY,
  expensiveCalls: 64,
  eventLoopShare: Number.POSITIVE_INFINITY,
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

/**
 * The limits of a service. Whatever one address does, others can still connect; a private one may have half of all
 * connections, since many callers may be behind the address of a proxy.
 */
export function limitsOf(options: Partial<Limits> = {}): Limits {
  const { connections } = { ...defaultLimits, ...options };
  return { ...defaultLimits, connectionsPerPrivateAddress: Math.ceil(connections / 2), ...options };
}

/**
 * The fraction of a service's memory that strangers may use, if it has a port for them; never more than the values
 * below.
 */
const STRANGERS_SHARE = 1 / 4;

/** Maximum values of the limits of a port for strangers. */
const strangers = {
  requestMemoryBytes: 2 * MiB,
  answerBytes: 32 * MiB,
  requestsPerAddress: 200,
  expensiveCalls: 2,
  eventLoopShare: 0.4,
  batch: 20,
  batchBytes: 4 * MiB,
  heldBytesPerAddress: 64 * MiB,
  streams: 32,
  streamsPerAddress: 4,
} as const satisfies Partial<Limits>;

/**
 * Milliseconds of the event loop's share that count for bytes, beside the measured time of processing them: for the
 * system's copies, and for the garbage collector, whose threads work about as long as the event loop on long requests.
 */
export const byteCosts = { requestMsPerMiB: 4, responseMsPerMiB: 1 } as const;

/** Divides the limits of a service: resources of strangers are never taken from the owner's. */
export function divideLimits(limits: Limits): { readonly owner: Limits; readonly strangers: Limits } {
  const heldBytes = Math.floor(limits.heldBytes * STRANGERS_SHARE);
  const lowered: Record<string, number> = { ...limits, heldBytes, leastRate: 16 * KiB };
  for (const [name, most] of Object.entries(strangers)) lowered[name] = Math.min(lowered[name]!, most);
  // The maximum memory of a stranger's response is reserved before it is built.
  lowered.reservedBytes = lowered.answerBytes!;
  return { owner: { ...limits, heldBytes: limits.heldBytes - heldBytes }, strangers: lowered as Limits };
}

/** The limits of the owner's callers and of strangers, for a service with or without a port for strangers. */
export function limitsOfCallers(
  options: Partial<Limits> | undefined,
  hasStrangers: boolean,
): { readonly owner: Limits; readonly strangers: Limits } {
  const whole = limitsOf(options);
  return hasStrangers ? divideLimits(whole) : { owner: whole, strangers: whole };
}

/** The cost of a batch, whatever its calls. */
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

/** Whether an address may stand for many callers: those behind a proxy, a gateway of containers, a tunnel. */
export function isPrivateAddress(address: string): boolean {
  return PRIVATE.test(address);
}

/** The number of connections that an IP address may have. */
export function connectionsOf(limits: Limits, address: string): number {
  return isPrivateAddress(address) ? limits.connectionsPerPrivateAddress : limits.connectionsPerPublicAddress;
}

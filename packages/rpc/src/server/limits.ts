/** Bounds on what callers may cost. */
export type Limits = {
  /** Bytes of a request's body. */
  readonly requestBytes: number;
  /** Bytes of an answer's body. */
  readonly answerBytes: number;
  readonly headerBytes: number;
  /** Open connections of all callers, and of one IP address, of the internet or not. */
  readonly connections: number;
  readonly connectionsPerPublicAddress: number;
  readonly connectionsPerPrivateAddress: number;
  /** Requests being answered at once. */
  readonly requests: number;
  /** Memory in bytes that requests still coming in and answers still going out may take, of all connections. */
  readonly heldBytes: number;
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
  connectionsPerPublicAddress: Number.POSITIVE_INFINITY,
  connectionsPerPrivateAddress: Number.POSITIVE_INFINITY,
  requests: 1000,
  heldBytes: 512 * MiB,
  slowMs: 30_000,
  keepAliveMs: 65_000,
};

/** Loopback, link-local and private addresses, also inside IPv6. Source: RFC 1918, RFC 4193, RFC 4291. */
const PRIVATE =
  /^(?:::ffff:)?(?:127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.)|^::1$|^f[cd][0-9a-f]{2}:|^fe[89ab][0-9a-f]:/i;

/** How many connections an IP address may have. */
export function connectionsOf(limits: Limits, address: string): number {
  return PRIVATE.test(address) ? limits.connectionsPerPrivateAddress : limits.connectionsPerPublicAddress;
}

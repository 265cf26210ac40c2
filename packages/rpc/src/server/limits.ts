/** Bounds on what callers may cost. */
export type Limits = {
  /** Bytes of a request's body. */
  readonly requestBytes: number;
  /** Bytes of an answer's body. */
  readonly answerBytes: number;
  readonly headerBytes: number;
  /** Open connections of all callers, and of one IP address. */
  readonly connections: number;
  readonly connectionsPerAddress: number;
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
  connectionsPerAddress: Number.POSITIVE_INFINITY,
  requests: 1000,
  heldBytes: 512 * MiB,
  slowMs: 30_000,
  keepAliveMs: 65_000,
};

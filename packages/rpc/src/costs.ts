import type { CostLimits } from "@anulo/limits";

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * Maximum costs of calls. A port allows less if its own limits are lower. Source: core_rpc_server.cpp
 * MAX_RPC_CONTENT_LENGTH (1 MiB per request); the rest is ours.
 */
export const costs = {
  /**
   * A record, or a few rows; the first call after a start also reads the blocks that limits of the next one depend on.
   * Also the limit of calls without a declared cost.
   */
  small: { requestBytes: MiB, memoryBytes: 4 * MiB, rows: 5000, responseBytes: 256 * KiB },
  /** A list that is limited by what a node holds in memory, or by the length of the request. */
  medium: { requestBytes: MiB, memoryBytes: 16 * MiB, rows: 20_000, responseBytes: 8 * MiB },
  /** A list as `medium`, for which any number of rows may be read. */
  picked: { requestBytes: MiB, memoryBytes: 16 * MiB, rows: 10_000_000, responseBytes: 8 * MiB },
  /** A sum over any number of rows. */
  sum: { requestBytes: MiB, memoryBytes: 4 * MiB, rows: 10_000_000, responseBytes: 256 * KiB },
  /** Any number of rows that the caller specifies. */
  large: { requestBytes: MiB, memoryBytes: 16 * MiB, rows: 10_000_000, responseBytes: 512 * MiB },
  /** Whole data of a wallet: outputs, key images, sets of transactions. */
  bulky: { requestBytes: 64 * MiB, memoryBytes: 160 * MiB, rows: 10_000_000, responseBytes: 512 * MiB },
} as const satisfies Readonly<Record<string, CostLimits>>;

/** Memory in bytes that is counted per value of parsed JSON: an empty object in a list takes about as much. */
export const BYTES_PER_VALUE = 64;

/** Whether a call may take so long that only few run at once on a port for strangers. */
export function isExpensive({ rows }: CostLimits): boolean {
  return rows > costs.small.rows;
}

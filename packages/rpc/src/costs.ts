import type { CostLimits } from "@anulo/limits";

const KiB = 1024;
const MiB = 1024 * KiB;

/**
 * What calls may cost. A port allows less where its own limits are lower. Source: core_rpc_server.cpp
 * MAX_RPC_CONTENT_LENGTH (1 MiB a request); the rest is ours.
 */
export const costs = {
  /** A record, or the few rows that were named. What is not declared costs no more. */
  small: { requestBytes: MiB, memoryBytes: 4 * MiB, rows: 1000, responseBytes: 256 * KiB },
  /** A list that is bounded by what a node holds in memory, or by the length of the request. */
  medium: { requestBytes: MiB, memoryBytes: 16 * MiB, rows: 20_000, responseBytes: 8 * MiB },
  /** A sum over as many rows as there are. */
  sum: { requestBytes: MiB, memoryBytes: 4 * MiB, rows: 10_000_000, responseBytes: 256 * KiB },
  /** As many rows as the caller names. */
  large: { requestBytes: MiB, memoryBytes: 16 * MiB, rows: 10_000_000, responseBytes: 512 * MiB },
  /** Data of a wallet, handed over whole: outputs, key images, sets of transactions. */
  bulky: { requestBytes: 64 * MiB, memoryBytes: 160 * MiB, rows: 10_000_000, responseBytes: 512 * MiB },
} as const satisfies Readonly<Record<string, CostLimits>>;

/** Memory that a value of parsed JSON is counted with, in bytes: an empty object in a list takes about as much. */
export const BYTES_PER_VALUE = 64;

/** Whether a call may take so long that only few run at once on a port for strangers. */
export function isExpensive({ rows }: CostLimits): boolean {
  return rows > costs.small.rows;
}

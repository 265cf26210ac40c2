/** The priority of a payment without one. Source: wallet2.cpp `adjust_priority`, `estimate_backlog`. */
import { checked, type Daemon } from "../daemon.ts";
import type { Preferences } from "../preferences.ts";
import { WalletRefusal } from "../refusal.ts";
import type { SeenChain } from "./fee-limits.ts";
import { feeRateOf } from "./node.ts";

/** Payments without priority pay the lowest fee, or the next one while blocks or the pool are full. */
export const QUIET_PRIORITY = 1;
const BUSY_PRIORITY = 2;
/** Number of blocks whose weights are compared, and how full they may be for the lowest fee (percent). */
const RECENT_BLOCKS = 10;
const FULL_PERCENT = 80;

/** What the choice depends on besides the node. `height`: number of blocks the wallet has scanned. */
export type PriorityParts = {
  readonly daemon: Daemon;
  readonly state: SeenChain;
  readonly preferences: Pick<Preferences, "choosesPriority">;
};

/** Whether transactions of the pool that pay at least the lowest fee fill a block of the usual size. */
async function isPoolBackedUp({ daemon, state }: PriorityParts, fullRewardZone: number): Promise<boolean> {
  const { feePerByte } = await feeRateOf(daemon, QUIET_PRIORITY, state);
  const { backlog } = await checked(daemon.client.getTxpoolBacklog());
  let ahead = 0;
  for (const { blob_size: weight, fee } of backlog)
    if (weight > 0 && fee >= feePerByte * BigInt(weight)) ahead += weight;
  return ahead >= fullRewardZone;
}

async function areBlocksFull({ daemon, state }: PriorityParts, fullRewardZone: number): Promise<boolean> {
  const range = { start_height: state.height - RECENT_BLOCKS, end_height: state.height - 1 };
  const { headers } = await checked(daemon.client.getBlockHeadersRange(range));
  if (headers.length !== RECENT_BLOCKS)
    throw new WalletRefusal("UNKNOWN_ERROR", "the node answered another number of block headers");
  const weight = headers.reduce((total, header) => total + header.block_weight, 0);
  return Math.floor((100 * weight) / (RECENT_BLOCKS * fullRewardZone)) > FULL_PERCENT;
}

async function choosePriority(parts: PriorityParts): Promise<number> {
  const { block_weight_limit: limit } = await checked(parts.daemon.client.getInfo());
  const fullRewardZone = Math.floor(limit / 2);
  if (fullRewardZone === 0 || parts.state.height < RECENT_BLOCKS) return 0;
  if (await isPoolBackedUp(parts, fullRewardZone)) return BUSY_PRIORITY;
  return (await areBlocksFull(parts, fullRewardZone)) ? BUSY_PRIORITY : QUIET_PRIORITY;
}

/**
 * Returns the requested priority; for 0, which leaves the choice to the wallet, 1 or 2. It stays 0, which pays as 1, if
 * the wallet's owner has set a default, on a chain of fewer than ten blocks, and if the node does not respond.
 */
export async function adjustPriority(parts: PriorityParts, priority: number): Promise<number> {
  if (priority !== 0 || !parts.preferences.choosesPriority) return priority;
  try {
    return await choosePriority(parts);
  } catch (error) {
    if (error instanceof WalletRefusal) return 0;
    throw error;
  }
}

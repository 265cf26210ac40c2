/** When outputs may be spent. Pure: the wallet's height and the time are arguments. */
import { MAX_BLOCK_NUMBER } from "@anulo/protocol";
import { BLOCK_SECONDS, SPENDABLE_AGE } from "./outputs/locked-places.ts";
import type { OwnedOutput } from "./outputs/owned-output.ts";
import type { NetworkName } from "./state.ts";

/** Seconds per block before hard fork 2. Source: cryptonote_config.h DIFFICULTY_TARGET_V1. */
const BLOCK_SECONDS_V1 = 60;
/** Heights of hard fork 2 as the wallet assumes them. Source: wallet2.cpp `is_tx_spendtime_unlocked`. */
const HARD_FORK_2: Record<NetworkName, number> = {
  mainnet: 1_009_827,
  testnet: 624_634,
  stagenet: 32_000,
  regtest: 1_009_827,
};

/** The facts that unlock rules need: blocks known to the wallet and seconds since 1970. */
export type Now = { readonly network: NetworkName; readonly height: number; readonly seconds: number };

/** True once `unlockTime` (a height or a time) has passed for something in block `height`. */
function isUnlockTimePassed(unlockTime: bigint, height: number, now: Now): boolean {
  if (unlockTime < MAX_BLOCK_NUMBER) return BigInt(now.height) >= unlockTime;
  const leeway = height < HARD_FORK_2[now.network] ? BLOCK_SECONDS_V1 : BLOCK_SECONDS;
  return BigInt(now.seconds + leeway) >= unlockTime;
}

/** True if the network allows it to be spent: its unlock time has passed and it is ten blocks old. */
export function isUnlocked(item: { unlockTime: bigint; height: number }, now: Now): boolean {
  return isUnlockTimePassed(item.unlockTime, item.height, now) && item.height + SPENDABLE_AGE <= now.height;
}

/**
 * Height of the block that spends it; undefined while it is unspent, and if the node reports it spent but the wallet
 * has not seen the block.
 */
export function spendingHeight({ spentHeight }: Pick<OwnedOutput, "spentHeight">): number | undefined {
  return spentHeight === 0 ? undefined : spentHeight;
}

export type SpendState = Pick<OwnedOutput, "spentHeight" | "pendingSpend">;

/** True while the output is not spent, neither in a block nor by an unconfirmed transaction. */
export function isUnspent(output: SpendState): boolean {
  return output.spentHeight === undefined && output.pendingSpend === undefined;
}

/** Blocks and seconds until the output unlocks; zeros once it has. Source: wallet2.cpp `unlocked_balance_per_subaddress`. */
export function timeToUnlock(
  output: Pick<OwnedOutput, "height" | "unlockTime">,
  now: Now,
): { blocks: number; seconds: bigint } {
  if (isUnlocked(output, now)) return { blocks: 0, seconds: 0n };
  const { unlockTime, height } = output;
  const rest = height + SPENDABLE_AGE;
  if (unlockTime >= MAX_BLOCK_NUMBER) {
    const seconds = unlockTime - BigInt(now.seconds);
    return { blocks: Math.max(0, rest - now.height), seconds: seconds > 0n ? seconds : 0n };
  }
  return { blocks: Math.max(0, Math.max(rest, Number(unlockTime)) - now.height), seconds: 0n };
}

import { MAX_AMOUNT } from "@anulo/protocol";

/**
 * Coins generated (atomic units) after a block that creates `coins`: the count stops at 2^64 - 1, where only the tail
 * emission is left. Source: blockchain.cpp `handle_block_to_main_chain`.
 */
export function generatedAfter(alreadyGenerated: bigint, coins: bigint): bigint {
  const room = MAX_AMOUNT - alreadyGenerated;
  return coins < room ? alreadyGenerated + coins : MAX_AMOUNT;
}

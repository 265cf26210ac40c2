import { digitsOfAmount, forkRules } from "@anulo/protocol";

/**
 * In hard forks 2 and 3 a miner leaves the claim modulo this number unclaimed. Source: `BASE_REWARD_CLAMP_THRESHOLD`.
 */
const CLAMP = 100_000_000n;
/** In hard fork 1 the lowest digits remain one amount up to this sum. Source: `DEFAULT_DUST_THRESHOLD`. */
const DUST_THRESHOLD = 2_000_000_000n;

/** Version of a new miner transaction: 2, without hidden amounts, as soon as there are RingCT outputs. */
export function minerTransactionVersion(hardForkVersion: number): 1 | 2 {
  return forkRules(hardForkVersion).transactionVersions.most >= 2 ? 2 : 1;
}

/**
 * Amounts (atomic units) of the outputs into which a miner splits a claim: its digits, smallest first, until RingCT
 * allowed a single output. Hard forks 2 and 3 leave the last eight digits unclaimed. Source: cryptonote_tx_utils.cpp
 * `construct_miner_tx`, `decompose_amount_into_digits`.
 */
export function minerOutputAmounts(claim: bigint, hardForkVersion: number): bigint[] {
  if (minerTransactionVersion(hardForkVersion) === 2) return [claim];
  if (forkRules(hardForkVersion).amounts !== "any") return digitsOfAmount(claim - (claim % CLAMP));
  const all = digitsOfAmount(claim);
  const isDust = (upTo: number) => all.slice(0, upTo).reduce(sum, 0n) <= DUST_THRESHOLD;
  let dust = 0;
  while (dust < all.length && isDust(dust + 1)) dust++;
  return dust === 0 ? all : [all.slice(0, dust).reduce(sum, 0n), ...all.slice(dust)];
}

const sum = (a: bigint, b: bigint): bigint => a + b;

import { blockReward, minimumFullRewardWeight, type Transaction, transactionWeight } from "@anulo/protocol";
import type { ChainView } from "./chain-view.ts";
import { MINER_TRANSACTION_RESERVE, PENALTY_FREE_ZONE } from "./constants.ts";
import { medianTimestamp } from "./timestamps.ts";

/** A pool transaction as a block template sees it. */
export interface TemplateTransaction {
  /** Bytes. */
  weight: number;
  /** Atomic units. */
  fee: bigint;
  /** Unix seconds. */
  receivedAt: number;
}

/** Reward facts for the block to build; the same for choosing transactions and for paying the miner. */
export interface TemplateEconomy {
  /** Half of the block weight limit (bytes). */
  medianWeight: number;
  /** Atomic units. */
  alreadyGenerated: bigint;
  hardForkVersion: number;
}

/** The transactions of a template. */
export interface TemplateChoice<T> {
  transactions: T[];
  /** Bytes, without the miner transaction. */
  weight: number;
  /** Atomic units. */
  fees: bigint;
  /** New coins and fees (atomic units) at this weight. */
  expectedReward: bigint;
}

/** Highest fee per byte first, then the longest waiting. Source: tx_pool.h `txCompare`. */
export function compareByFee(a: TemplateTransaction, b: TemplateTransaction): number {
  const difference = feePerByte(b) - feePerByte(a);
  return difference === 0 ? a.receivedAt - b.receivedAt : difference;
}

/** A double, as in the original, so that ties are ordered in the same way. */
function feePerByte({ fee, weight }: TemplateTransaction): number {
  return Number(fee) / Math.max(1, weight);
}

/**
 * Chooses pool transactions in the order of the input (`compareByFee`) while they fit and do not lower the miner's
 * reward; before hard fork 5 until the block passes the median. `isReady` is called last, once for each that would be
 * chosen, and may refuse it. Source: tx_pool.cpp `fill_block_template`.
 */
export function chooseTransactions<T extends TemplateTransaction>(
  sorted: Iterable<T>,
  economy: TemplateEconomy,
  isReady: (transaction: T) => boolean,
): TemplateChoice<T> {
  const { medianWeight, hardForkVersion } = economy;
  const isWeighed = minimumFullRewardWeight(hardForkVersion) === PENALTY_FREE_ZONE;
  const room =
    (isWeighed ? 2 * medianWeight : Math.floor((130 * medianWeight) / 100)) - MINER_TRANSACTION_RESERVE;
  const choice: TemplateChoice<T> = { transactions: [], weight: 0, fees: 0n, expectedReward: 0n };
  choice.expectedReward = reward(0, economy)!;
  for (const transaction of sorted) {
    const weight = choice.weight + transaction.weight;
    const fees = choice.fees + transaction.fee;
    if (weight > room) continue;
    const coins = reward(weight, economy);
    if (coins === undefined) continue;
    if (isWeighed && coins + fees < choice.expectedReward) continue;
    if (!isWeighed && choice.weight > medianWeight) break;
    if (!isReady(transaction)) continue;
    choice.transactions.push(transaction);
    Object.assign(choice, { weight, fees, expectedReward: coins + fees });
  }
  return choice;
}

function reward(weight: number, economy: TemplateEconomy): bigint | undefined {
  const { medianWeight, alreadyGenerated, hardForkVersion: version } = economy;
  return blockReward({ medianWeight, weight, alreadyGenerated, version });
}

/** Timestamp (Unix seconds) of a template: now, or the median it may not be older than. */
export function templateTimestamp(chain: ChainView, now: number): number {
  return Math.max(now, medianTimestamp(chain) ?? 0);
}

/** The facts that the miner transaction has to fit. */
export interface MinerFit {
  /** Weight (bytes) of the chosen transactions. */
  transactionsWeight: number;
  /** Their fees (atomic units). */
  fees: bigint;
  economy: TemplateEconomy;
}

/** Number of attempts at fitting. Source: blockchain.cpp `create_block_template`. */
const FITTING_ROUNDS = 10;

/**
 * Builds the miner transaction whose claim fits the weight of its block: the claim depends on the block's weight and
 * the weight on the claim, so it is built again until both agree; a lighter one is padded with zero bytes of extra.
 * `build` builds it for a claim (atomic units). Throws `RangeError` if the block is too heavy or nothing fits. Source:
 * blockchain.cpp `create_block_template`, which fails where one zero would take two bytes.
 */
export function fitMinerTransaction(build: (claim: bigint) => Transaction, fit: MinerFit): Transaction {
  let weight = fit.transactionsWeight;
  const buildFor = (blockWeight: number) => build(claimFor(blockWeight, fit));
  weight += transactionWeight(buildFor(weight));
  for (let round = 0; round < FITTING_ROUNDS; round++) {
    const transaction = buildFor(weight);
    const room = weight - fit.transactionsWeight;
    const missing = room - transactionWeight(transaction);
    const fitted = missing < 0 ? undefined : padTo(transaction, room);
    if (fitted !== undefined) return fitted;
    weight += missing < 0 ? -missing : Math.max(1, missing - 1);
  }
  throw new RangeError("no miner transaction fits this block");
}

function claimFor(blockWeight: number, { fees, economy }: MinerFit): bigint {
  const coins = reward(blockWeight, economy);
  if (coins === undefined) throw new RangeError(`a block of ${blockWeight} bytes is too heavy`);
  return coins + fees;
}

/**
 * Appends zeros to the extra until the transaction weighs `weight`; undefined if a longer length prefix skips that
 * weight.
 */
function padTo(transaction: Transaction, weight: number): Transaction | undefined {
  const missing = weight - transactionWeight(transaction);
  for (const zeros of [missing, missing - 1]) {
    if (zeros < 0) continue;
    const padded = withPadding(transaction, zeros);
    if (transactionWeight(padded) === weight) return padded;
  }
  return undefined;
}

function withPadding(transaction: Transaction, zeros: number): Transaction {
  const extra = new Uint8Array(transaction.prefix.extra.length + zeros);
  extra.set(transaction.prefix.extra);
  return { ...transaction, prefix: { ...transaction.prefix, extra } };
}

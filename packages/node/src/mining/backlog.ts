import {
  type ChainView,
  chainContext,
  feeOf,
  type Obligation,
  RuleViolation,
  type TransactionCandidate,
  verifyTransaction,
  weightLimits,
} from "@anulo/consensus";
import { equalBytes, fromHex, keyImagesOf, toHex } from "@anulo/protocol";
import { candidateOf } from "../pool/candidate.ts";
import { isPublic, type PoolEntry } from "../pool/entry.ts";

/** A transaction that a miner may put into the next block. Weight in bytes, fee in atomic units. */
export interface BacklogTransaction {
  /** 32 bytes. */
  readonly id: Uint8Array;
  /** The id in hexadecimal. */
  readonly key: string;
  readonly weight: number;
  readonly fee: bigint;
}

/** A waiting transaction, with the facts needed to check whether it still fits the chain. */
export interface WaitingTransaction extends BacklogTransaction {
  keyImages(): readonly Uint8Array[];
  candidate(): TransactionCandidate;
  /** Whether its proofs were checked on a chain that shares with this one the newest block they depend on. */
  isProvenOn(view: ChainView): boolean;
}

/** An entry of the pool. */
function waitingEntry(entry: PoolEntry): WaitingTransaction {
  const { id, key, row } = entry;
  const { weight, fee, keptByBlock, maxUsedBlockHeight: newest, maxUsedBlockHash } = row;
  return {
    id,
    key,
    weight,
    fee,
    keyImages: () => entry.keyImages.map((image) => fromHex(image)),
    candidate: () => candidateOf(entry),
    // Those of blocks came to the pool without a look at their signatures over the rings of this chain.
    isProvenOn: (view) =>
      !keptByBlock &&
      newest > 0 &&
      newest < view.height &&
      equalBytes(view.blockId(newest), maxUsedBlockHash),
  };
}

/** A transaction of a block that left the chain. */
export function waitingCandidate(candidate: TransactionCandidate): WaitingTransaction {
  const { id, weight, transaction } = candidate;
  return {
    id,
    key: toHex(id),
    weight,
    fee: feeOf(candidate),
    keyImages: () => keyImagesOf(transaction.prefix),
    candidate: () => candidate,
    isProvenOn: () => false,
  };
}

/** The public transactions of the pool, in the order of the original's table. */
export function publicEntries(entries: readonly PoolEntry[]): WaitingTransaction[] {
  return entries.filter(({ row }) => isPublic(row)).map(waitingEntry);
}

/** The chain on which a transaction was last found to fit. */
interface FittingChain {
  readonly height: number;
  readonly topId: Uint8Array;
}

/** Number of transactions remembered as fitting; beyond it all are checked again. */
const MAX_REMEMBERED = 100_000;
/** Number of transactions that are sorted by fee in one step. */
const ORDERED_AT_ONCE = 1024;

/**
 * Chooses the transactions of the pool that miners are sent: those that fit the chain, and no more than fill a block.
 * While the chain grows, the inputs of each transaction are checked once; after that only its key images. Source:
 * tx_pool.cpp `get_block_template_backlog`.
 */
export class Backlog {
  readonly #fitting = new Map<string, FittingChain>();
  readonly #now: () => number;
  readonly #open: (obligations: readonly Obligation[]) => readonly Obligation[];

  /** `now` returns Unix seconds; `open` returns the proofs that were not checked yet. */
  constructor(now: () => number, open: (obligations: readonly Obligation[]) => readonly Obligation[]) {
    this.#now = now;
    this.#open = open;
  }

  /** Records that the transaction was judged on this chain, and fits. */
  markFitting(key: string, { height, topId }: ChainView): void {
    if (this.#fitting.size >= MAX_REMEMBERED) this.#fitting.clear();
    this.#fitting.set(key, { height, topId });
  }

  /** Chooses among waiting transactions, which are in the order of the original's table. */
  choose(view: ChainView, waiting: readonly WaitingTransaction[]): BacklogTransaction[] {
    const median = weightLimits(view).effectiveMedian;
    const maxWeight = median + Math.floor(median / 8);
    const total = waiting.reduce((sum, { weight }) => sum + weight, 0);
    const selection: BacklogTransaction[] = [];
    const spent = new Set<string>();
    let weight = 0;
    for (const transaction of total > maxWeight ? byDescendingRate(waiting) : waiting) {
      if (!this.#isReady(view, transaction)) continue;
      const images = transaction.keyImages().map(toHex);
      if (images.some((image) => spent.has(image))) continue;
      for (const image of images) spent.add(image);
      selection.push(transaction);
      weight += transaction.weight;
      if (weight > maxWeight) break;
    }
    return selection;
  }

  #isReady(view: ChainView, transaction: WaitingTransaction): boolean {
    const cached = this.#fitting.get(transaction.key);
    if (cached !== undefined && hasGrownFrom(view, cached)) {
      return !transaction.keyImages().some((image) => view.isKeyImageSpent(image));
    }
    if (!this.#fits(view, transaction)) return false;
    this.markFitting(transaction.key, view);
    return true;
  }

  #fits(view: ChainView, transaction: WaitingTransaction): boolean {
    try {
      const { obligations } = verifyTransaction(transaction.candidate(), chainContext(view, this.#now()));
      return transaction.isProvenOn(view) || this.#open(obligations).length === 0;
    } catch (error) {
      if (!(error instanceof RuleViolation)) throw error;
      return false;
    }
  }
}

/** Whether the chain is the earlier one, with or without more blocks. */
function hasGrownFrom(view: ChainView, { height, topId }: FittingChain): boolean {
  if (view.height <= height) return view.height === height && equalBytes(view.topId, topId);
  return equalBytes(view.blockId(height - 1), topId);
}

function rateOf({ fee, weight }: BacklogTransaction): number {
  return Number(fee) / weight;
}

function compareRate(a: BacklogTransaction, b: BacklogTransaction): number {
  const left = a.fee * BigInt(b.weight);
  const right = b.fee * BigInt(a.weight);
  return left === right ? 0 : left > right ? -1 : 1;
}

/** Highest fee per byte first, otherwise in the order of the input; sorts only as many as are consumed. */
function* byDescendingRate(waiting: readonly WaitingTransaction[]): Iterable<WaitingTransaction> {
  const rates = Float64Array.from(waiting, rateOf).sort();
  let above = Number.POSITIVE_INFINITY;
  for (let end = rates.length; end > 0; ) {
    const lowest = rates[Math.max(0, end - ORDERED_AT_ONCE)]!;
    const limit = above;
    // Equal fractions are equal numbers, so that equal fees stay together.
    yield* waiting
      .filter((it) => rateOf(it) >= lowest && (rateOf(it) < limit || limit === Number.POSITIVE_INFINITY))
      .sort(compareRate);
    above = lowest;
    while (end > 0 && rates[end - 1]! >= lowest) end--;
  }
}

import { feeOf, type TransactionCandidate } from "@anulo/consensus";
import { readTransaction, type Transaction, toHex } from "@anulo/protocol";
import type { PoolTransaction } from "@anulo/storage";
import type { AppendedBlock } from "../chain/parts.ts";
import { isPublic, type PoolEntry } from "../pool/entry.ts";
import type { PoolNews } from "./topics.ts";

/** The same with the transaction itself, which is read when it is needed. */
export interface FullPoolNews extends PoolNews {
  transaction(): Transaction;
}

function newsOfEntry({ id, row }: PoolEntry): FullPoolNews {
  const { blob, weight, fee } = row;
  return { id, blobSize: blob.length, weight, fee, transaction: () => readTransaction(blob) };
}

function newsOfSupplied(supplied: TransactionCandidate & { readonly blob: Uint8Array }): FullPoolNews {
  const { id, blob, weight, transaction } = supplied;
  return { id, blobSize: blob.length, weight, fee: feeOf(supplied), transaction: () => transaction };
}

/** Whether a transaction is published as soon as it is in the pool, even if it is not relayed. Source: #8451. */
function isPublished(row: PoolTransaction): boolean {
  return row.doNotRelay || isPublic(row);
}

/** Number of ids remembered beyond those in the pool, before the others are forgotten. */
const SPARE_KEYS = 10_000;

/** Publishes every transaction once when it is added, and again when one that was not relayed is released. */
export class AnnouncedTransactions {
  readonly #keys = new Set<string>();
  readonly #pool: { readonly size: number; get(key: string): PoolEntry | undefined };

  /** The transactions that are in the pool already count as published. */
  constructor(pool: {
    readonly size: number;
    get(key: string): PoolEntry | undefined;
    entries(): readonly PoolEntry[];
  }) {
    this.#pool = pool;
    for (const { key, row } of pool.entries()) if (isPublished(row)) this.#keys.add(key);
  }

  /** Called when a transaction was added to the pool; returns what is to be published, if anything. */
  added(id: Uint8Array): FullPoolNews | undefined {
    const entry = this.#pool.get(toHex(id));
    if (entry === undefined || !isPublished(entry.row) || this.#keys.has(entry.key)) return undefined;
    this.#add(entry.key);
    return newsOfEntry(entry);
  }

  /** Transactions of the pool that are public from now on. */
  madePublic(ids: readonly Uint8Array[]): FullPoolNews[] {
    return ids.flatMap((id) => {
      const entry = this.#pool.get(toHex(id));
      if (entry === undefined) return [];
      this.#add(entry.key);
      return [newsOfEntry(entry)];
    });
  }

  /**
   * The transactions of a block that were not published: they were supplied with it, or were mined before their turn
   * came.
   */
  mined({ incoming, transactions, freed }: AppendedBlock): FullPoolNews[] {
    return [...transactions].flatMap(([key, entry]) => {
      if (this.#keys.has(key) || freed?.has(key) === true) return [];
      if (entry !== undefined) {
        const isLate = isPublished(entry.row) && !entry.row.keptByBlock;
        return isLate ? [newsOfEntry(entry)] : [];
      }
      const supplied = incoming.transactions?.get(key);
      return supplied === undefined ? [] : [newsOfSupplied(supplied)];
    });
  }

  #add(key: string): void {
    this.#keys.add(key);
    if (this.#keys.size <= 2 * this.#pool.size + SPARE_KEYS) return;
    for (const old of this.#keys) if (this.#pool.get(old) === undefined) this.#keys.delete(old);
  }
}

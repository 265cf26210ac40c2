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

/** Whether it is told of as soon as it is there: also what is kept here and sent to no peer. Source: #8451. */
function isPublished(row: PoolTransaction): boolean {
  return row.doNotRelay || isPublic(row);
}

/** Ids remembered beyond those in the pool before the others are forgotten. */
const SPARE_KEYS = 10_000;

/** Tells of every transaction once when it comes, and once more when it is let go that was kept here. */
export class AnnouncedTransactions {
  readonly #keys = new Set<string>();
  readonly #pool: { readonly size: number; get(key: string): PoolEntry | undefined };

  /** Those that are in the pool already are known. */
  constructor(pool: {
    readonly size: number;
    get(key: string): PoolEntry | undefined;
    entries(): readonly PoolEntry[];
  }) {
    this.#pool = pool;
    for (const { key, row } of pool.entries()) if (isPublished(row)) this.#keys.add(key);
  }

  /** A transaction came into the pool: what is to be told of it, if anything. */
  added(id: Uint8Array): FullPoolNews | undefined {
    const entry = this.#pool.get(toHex(id));
    if (entry === undefined || !isPublished(entry.row) || this.#keys.has(entry.key)) return undefined;
    this.#add(entry.key);
    return newsOfEntry(entry);
  }

  /** Transactions of the pool that everybody may know of from now on. */
  madePublic(ids: readonly Uint8Array[]): FullPoolNews[] {
    return ids.flatMap((id) => {
      const entry = this.#pool.get(toHex(id));
      if (entry === undefined) return [];
      this.#add(entry.key);
      return [newsOfEntry(entry)];
    });
  }

  /** Those of a block that were not told of: they came with it, or were so quick that their turn had not come. */
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

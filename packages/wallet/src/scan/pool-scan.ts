/** Finds the wallet's transactions in the node's pool. Runs in the scan worker. */

import { fromHex, toHex } from "@anulo/protocol";
import { LazyMap } from "../packed/lazy-map.ts";
import { describeUnpaid, pickOwn, type ScanContext, scanTransactions } from "./candidates.ts";
import type { OwnTransaction, PoolFind, PoolSnapshot } from "./messages.ts";
import { NumberSet, PoolNumbers } from "./pool-numbers.ts";
import { type RawTransaction, transactionOf } from "./raw-transaction.ts";
import type { Sifted } from "./sift.ts";

/** Pool transactions are of the newest hard fork, in which unencrypted payment ids are ignored. */
const NEWEST_BLOCK_VERSION = 255;
/**
 * Maximum number of inputs, of transactions that do not concern the wallet, that are stored until the next scan; some
 * 300 bytes each. A usual pool has some thousands.
 */
const MAX_INPUTS_KEPT = 50_000;
const NONE: ReadonlySet<string> = new Set();

/** A transaction of the pool. */
export class PoolEntry {
  readonly id: string;
  readonly raw: RawTransaction;
  readonly doubleSpendSeen: boolean;
  #stranger: PoolFind | undefined;

  constructor(id: string, raw: RawTransaction, doubleSpendSeen: boolean) {
    this.id = id;
    this.raw = raw;
    this.doubleSpendSeen = doubleSpendSeen;
  }

  /** The find of wallets that it does not concern as far as they know: one object for all of them. */
  get stranger(): PoolFind {
    const { raw, doubleSpendSeen } = this;
    this.#stranger ??= { transaction: describeUnpaid(raw), doubleSpendSeen };
    return this.#stranger;
  }
}

export class PoolScan {
  readonly #context: ScanContext;
  readonly #numbers: PoolNumbers;
  /** Transactions of the pool that concern the wallet, by id (hex), each scanned once. */
  readonly #finds = new LazyMap<string, PoolFind>();
  /** Numbers of the others that were scanned. */
  readonly #seenNumbers = new NumberSet();
  #isClosed = false;
  /**
   * Other transactions by id (hex), scanned since the last scan of blocks: they may spend an output that a scan under
   * way finds.
   */
  readonly #strangers = new LazyMap<string, PoolFind>();
  #inputsKept = 0;
  /** Ids (hex) of transactions that were created here. */
  #own: ReadonlySet<string> = NONE;
  /** Number of pool transactions for which the node has seen a double spend. */
  #contradicted = 0;

  /** `numbers`: those of all wallets whose pools are looked at together. */
  constructor(context: ScanContext, numbers: PoolNumbers = new PoolNumbers()) {
    this.#context = context;
    this.#numbers = numbers;
  }

  /** Releases what it remembers. */
  close(): void {
    this.#forgetSeen();
    this.#isClosed = true;
  }

  /** The scan context, with the view key. */
  get context(): ScanContext {
    return this.#context;
  }

  /**
   * Begins a scan: `present` are the ids (hex) in the pool, `contradicted` the number of those for which the node has
   * seen a double spend. Which ones these are is reported with each transaction: if the number changes, all are scanned
   * again.
   */
  begin(
    present: ReadonlySet<string>,
    contradicted: number | undefined,
    own: readonly OwnTransaction[],
  ): void {
    this.#own = own.length === 0 ? NONE : new Set(own.map(({ id }) => id));
    if (contradicted !== undefined && contradicted !== this.#contradicted) {
      this.#contradicted = contradicted;
      for (const id of this.#finds.keys()) if (!this.#own.has(id)) this.#finds.delete(id);
      this.#forgetSeen(this.#own);
    }
    for (const id of this.#finds.keys()) if (!present.has(id)) this.#finds.delete(id);
    for (const number of this.#seenNumbers.values(this.#numbers.absentFrom(present))) this.#forget(number);
    for (const id of this.#strangers.keys()) if (!present.has(id)) this.#dropStranger(id);
    for (const each of own) if (present.has(each.id) && this.wants(each.id)) this.#lookAtOwn(each);
  }

  /** Whether a transaction (hex) has not been scanned yet. */
  wants(id: string): boolean {
    if (this.#finds.has(id)) return false;
    const number = this.#numbers.numberOf(id);
    return number === undefined || !this.#seenNumbers.has(number);
  }

  /** Those of some transactions (hex) that any of these wallets has not scanned yet. */
  static wantedBy(pools: readonly PoolScan[], ids: readonly string[]): string[] {
    const [first] = pools;
    if (first === undefined) return [];
    const numbers = first.#numbers;
    const isShared = pools.every((pool) => pool.#numbers === numbers);
    const seenByAll = NumberSet.shared(isShared ? pools.map((pool) => pool.#seenNumbers) : []);
    return ids.filter((id) => {
      const number = numbers.numberOf(id);
      if (number !== undefined && seenByAll.has(number)) return false;
      return pools.some((pool) => pool.wants(id));
    });
  }

  /** Scans those of the transactions that have not been scanned yet. */
  take(entries: readonly PoolEntry[], siftResult: Sifted): void {
    const raw = entries.map((entry) => entry.raw);
    const finds = pickOwn(this.#context, raw, siftResult);
    const byId = new Map(finds.map((transaction) => [toHex(transaction.txHash), transaction]));
    for (const entry of entries) {
      const { id, doubleSpendSeen } = entry;
      if (!this.wants(id)) continue;
      const transaction = byId.get(id);
      if (transaction !== undefined) this.#finds.set(id, { transaction, doubleSpendSeen });
      else {
        this.#see(id);
        this.#keepStranger(id, entry.stranger);
      }
    }
  }

  /** The transactions found in the pool, in the node's order; `empty` if there are none. */
  snapshot(empty: PoolSnapshot): PoolSnapshot {
    if (this.#finds.size === 0) return empty;
    const ownFinds = new Map(this.#finds);
    const { ids } = empty;
    return { ids, finds: ownFinds.size > 1 ? inOrder(ownFinds, ids) : [...ownFinds.values()] };
  }

  /**
   * Adds the transactions that spend an output which a scan of blocks has found since. No request is sent to the node,
   * since that would show it that these blocks paid the wallet.
   */
  withFound(picture: PoolSnapshot): PoolSnapshot {
    const { knownImages } = this.#context;
    for (const [id, find] of this.#strangers)
      if (find.transaction.inputs.some(({ keyImage }) => knownImages.has(keyImage))) {
        const number = this.#numbers.numberOf(id);
        if (number !== undefined) this.#forget(number);
        this.#finds.set(id, find);
      }
    for (const id of this.#strangers.keys()) this.#dropStranger(id);
    return this.snapshot(picture.finds.length === 0 ? picture : { ids: picture.ids, finds: [] });
  }

  /** Makes the next scan include transactions that did not concern the wallet, since key images were imported. */
  forgetStrangers(): void {
    this.#forgetSeen(this.#own);
  }

  #see(id: string): void {
    const before = this.#numbers.numberOf(id);
    if (this.#isClosed || (before !== undefined && this.#seenNumbers.has(before))) return;
    this.#seenNumbers.add(this.#numbers.take(id));
  }

  #forget(number: number): void {
    if (!this.#seenNumbers.has(number)) return;
    this.#seenNumbers.delete(number);
    this.#numbers.release(number);
  }

  /** Forgets what was scanned, but for some transactions (hex). */
  #forgetSeen(except: ReadonlySet<string> = NONE): void {
    for (const number of this.#seenNumbers.values())
      if (!except.has(this.#numbers.idOf(number))) this.#forget(number);
  }

  #dropStranger(id: string): void {
    this.#inputsKept -= this.#strangers.get(id)?.transaction.inputs.length ?? 0;
    this.#strangers.delete(id);
  }

  #keepStranger(id: string, find: PoolFind): void {
    this.#dropStranger(id);
    const inputs = find.transaction.inputs.length;
    if (this.#inputsKept + inputs > MAX_INPUTS_KEPT) return; // its spends are found once it is mined
    this.#inputsKept += inputs;
    this.#strangers.set(id, find);
  }

  #lookAtOwn({ id, blob }: OwnTransaction): void {
    const [transaction] = scanTransactions(this.#context, [waiting({ id, form: "whole", blob })]);
    if (transaction === undefined) this.#see(id);
    else this.#finds.set(id, { transaction, doubleSpendSeen: false });
  }
}

function inOrder(finds: ReadonlyMap<string, PoolFind>, ids: Uint8Array): PoolFind[] {
  const hex = toHex(ids);
  const ordered: PoolFind[] = [];
  for (let at = 0; at < hex.length; at += 64) {
    const find = finds.get(hex.slice(at, at + 64));
    if (find !== undefined) ordered.push(find);
  }
  return ordered;
}

type Waiting = { readonly id: string } & Pick<RawTransaction, "form" | "blob">;

/** Parses a transaction of the pool. Throws `BadBytes`. */
export function waiting({ id, form, blob }: Waiting): RawTransaction {
  return {
    form,
    blob,
    read: transactionOf({ form, blob }),
    txHash: fromHex(id),
    globalIndices: [],
    coinbase: false,
    height: 0,
    timestamp: 0,
    blockVersion: NEWEST_BLOCK_VERSION,
  };
}

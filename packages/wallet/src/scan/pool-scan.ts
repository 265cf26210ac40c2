/** Looks for the wallet's transactions among those that wait in the node's pool. Runs in the scan worker. */
import { fromHex, toHex } from "@anulo/protocol";
import { describeUnpaid, pickOwn, type ScanContext, scanTransactions } from "./candidates.ts";
import type { OwnTransaction, PoolFind, PoolSnapshot } from "./messages.ts";
import { type RawTransaction, transactionOf } from "./raw-transaction.ts";
import type { Sifted } from "./sift.ts";

/** Pool transactions are of the newest kind, in which readable payment ids mean nothing. */
const NEWEST_BLOCK_VERSION = 255;
/** Inputs of strangers kept from one scan to the next, some 300 bytes each; a usual pool has some thousands. */
const MAX_INPUTS_KEPT = 50_000;

/** A transaction of the pool. */
export type PoolEntry = {
  readonly id: string;
  readonly raw: RawTransaction;
  readonly doubleSpendSeen: boolean;
};

export class PoolScan {
  readonly #context: ScanContext;
  /** Transactions of the pool by id (hex), each looked at once; undefined for those that don't concern the wallet. */
  readonly #seen = new Map<string, PoolFind | undefined>();
  /** Strangers by id (hex), looked at since the last scan of blocks: they may spend what a scan under way finds. */
  readonly #strangers = new Map<string, PoolFind>();
  #inputsKept = 0;
  /** Ids (hex) of transactions that were made here. */
  #own = new Set<string>();
  /** How many transactions of the pool the node has seen contradicted. */
  #contradicted = 0;

  constructor(context: ScanContext) {
    this.#context = context;
  }

  /** The view key it looks with. */
  get context(): ScanContext {
    return this.#context;
  }

  /**
   * A look begins: the pool holds these (hex), of which the node has seen so many contradicted. Which ones are
   * contradicted is told with each: where their number changes, all are looked at again.
   */
  begin(
    present: ReadonlySet<string>,
    contradicted: number | undefined,
    own: readonly OwnTransaction[],
  ): void {
    this.#own = new Set(own.map(({ id }) => id));
    if (contradicted !== undefined && contradicted !== this.#contradicted) {
      this.#contradicted = contradicted;
      for (const id of this.#seen.keys()) if (!this.#own.has(id)) this.#seen.delete(id);
    }
    for (const id of this.#seen.keys()) if (!present.has(id)) this.#seen.delete(id);
    for (const id of this.#strangers.keys()) if (!present.has(id)) this.#dropStranger(id);
    for (const each of own) if (present.has(each.id) && !this.#seen.has(each.id)) this.#lookAtOwn(each);
  }

  /** Whether a transaction (hex) is yet to be looked at. */
  wants(id: string): boolean {
    return !this.#seen.has(id);
  }

  /** Looks at those it wants. */
  take(entries: readonly PoolEntry[], sifted: Sifted, images: readonly string[]): void {
    const raw = entries.map((entry) => entry.raw);
    const found = pickOwn(this.#context, raw, sifted, images);
    const byId = new Map(found.map((transaction) => [toHex(transaction.txHash), transaction]));
    for (const { id, raw: each, doubleSpendSeen } of entries) {
      if (!this.wants(id)) continue;
      const transaction = byId.get(id);
      this.#seen.set(id, transaction && { transaction, doubleSpendSeen });
      if (transaction === undefined)
        this.#keepStranger(id, { transaction: describeUnpaid(each), doubleSpendSeen });
    }
  }

  /** What was found of the pool, in the node's order; `ids`: of 32 bytes each, end to end. */
  snapshot(ids: Uint8Array): PoolSnapshot {
    const seen = [...this.#seen].flatMap(([id, find]) => (find === undefined ? [] : [[id, find] as const]));
    return { ids, found: seen.length > 1 ? inOrder(new Map(seen), ids) : seen.map(([, find]) => find) };
  }

  /**
   * The picture with those that spend what a scan of blocks has found since. The node is not asked again: that would
   * tell it that these blocks paid the wallet.
   */
  withFound({ ids }: PoolSnapshot): PoolSnapshot {
    const { knownImages } = this.#context;
    for (const [id, find] of this.#strangers)
      if (find.transaction.inputs.some(({ keyImage }) => knownImages.has(toHex(keyImage))))
        this.#seen.set(id, find);
    for (const id of this.#strangers.keys()) this.#dropStranger(id);
    return this.snapshot(ids);
  }

  /** Has the next look include what did not concern the wallet, since key images came from elsewhere. */
  forgetStrangers(): void {
    for (const [id, find] of this.#seen) if (find === undefined && !this.#own.has(id)) this.#seen.delete(id);
  }

  #dropStranger(id: string): void {
    this.#inputsKept -= this.#strangers.get(id)?.transaction.inputs.length ?? 0;
    this.#strangers.delete(id);
  }

  #keepStranger(id: string, find: PoolFind): void {
    this.#dropStranger(id);
    const inputs = find.transaction.inputs.length;
    if (this.#inputsKept + inputs > MAX_INPUTS_KEPT) return; // what it spends is seen once it is mined
    this.#inputsKept += inputs;
    this.#strangers.set(id, find);
  }

  #lookAtOwn({ id, blob }: OwnTransaction): void {
    const [transaction] = scanTransactions(this.#context, [waiting({ id, form: "whole", blob })]);
    this.#seen.set(id, transaction && { transaction, doubleSpendSeen: false });
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

/** A transaction of the pool, read. Throws `BadBytes`. */
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

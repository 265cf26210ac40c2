/** Looks for the wallet's transactions among those that wait in the node's pool. Runs in the scan worker. */
import { fromHex, toHex } from "@anulo/protocol";
import { checked, type Daemon } from "../daemon.ts";
import { describeUnpaid, type ScanContext, scanTransactions } from "./candidates.ts";
import type { OwnTransaction, PoolFind, PoolPicture } from "./messages.ts";
import { type RawTransaction, transactionOf } from "./raw-transaction.ts";

/** What a restricted node gives in one answer. Source: core_rpc_server.cpp RESTRICTED_TRANSACTIONS_COUNT. */
const TRANSACTIONS_PER_QUESTION = 100;
/** Pool transactions are of the newest kind, in which readable payment ids mean nothing. */
const NEWEST_BLOCK_VERSION = 255;
/** Inputs of strangers kept from one scan to the next, some 300 bytes each; a usual pool has some thousands. */
const MOST_INPUTS_KEPT = 50_000;

type Entry = Awaited<ReturnType<Daemon["getTransactions"]>>["txs"][number];

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

  /**
   * What the pool holds. The node is asked for all transactions that are new in it, whoever they concern, and never
   * for the wallet's own by name: asking again for one alone would show that it concerns the wallet.
   */
  async look(daemon: Daemon, own: readonly OwnTransaction[]): Promise<PoolPicture> {
    const ids = (await daemon.getPoolHashes()).map(toHex);
    const present = new Set(ids);
    this.#own = new Set(own.map(({ id }) => id));
    if (ids.length > 0) await this.#heedContradictions(daemon);
    for (const id of this.#seen.keys()) if (!present.has(id)) this.#seen.delete(id);
    for (const id of this.#strangers.keys()) if (!present.has(id)) this.#dropStranger(id);
    for (const each of own) if (present.has(each.id) && !this.#seen.has(each.id)) this.#lookAtOwn(each);
    return this.#fill(daemon, ids);
  }

  /**
   * The picture with those that spend what a scan of blocks has found since. The node is not asked again: that would
   * tell it that these blocks paid the wallet.
   */
  heedFound({ ids }: PoolPicture): PoolPicture {
    const { knownImages } = this.#context;
    for (const [id, find] of this.#strangers)
      if (find.transaction.inputs.some(({ keyImage }) => knownImages.has(toHex(keyImage))))
        this.#seen.set(id, find);
    for (const id of this.#strangers.keys()) this.#dropStranger(id);
    return this.#picture(ids);
  }

  /** Has the next look include what did not concern the wallet, since key images came from elsewhere. */
  forgetStrangers(): void {
    for (const [id, find] of this.#seen) if (find === undefined && !this.#own.has(id)) this.#seen.delete(id);
  }

  #dropStranger(id: string): void {
    this.#inputsKept -= this.#strangers.get(id)?.transaction.inputs.length ?? 0;
    this.#strangers.delete(id);
  }

  async #fill(daemon: Daemon, ids: readonly string[]): Promise<PoolPicture> {
    const wanted = ids.filter((id) => !this.#seen.has(id));
    for (let at = 0; at < wanted.length; at += TRANSACTIONS_PER_QUESTION) {
      const txs_hashes = wanted.slice(at, at + TRANSACTIONS_PER_QUESTION);
      const { txs } = await daemon.getTransactions({ txs_hashes, prune: true });
      for (const entry of txs) if (entry.in_pool) this.#lookAt(entry);
    }
    return this.#picture(ids);
  }

  #picture(ids: readonly string[]): PoolPicture {
    return { ids, found: ids.flatMap((id) => this.#seen.get(id) ?? []) };
  }

  #lookAt({
    tx_hash: id,
    double_spend_seen: doubleSpendSeen,
    pruned_as_hex: pruned,
    as_hex: whole,
  }: Entry): void {
    const form = pruned === "" ? "whole" : "pruned";
    const raw = waiting({ id, form, blob: fromHex(form === "whole" ? whole : pruned) });
    const [transaction] = scanTransactions(this.#context, [raw]);
    this.#seen.set(id, transaction && { transaction, doubleSpendSeen });
    if (transaction === undefined)
      this.#keepStranger(id, { transaction: describeUnpaid(raw), doubleSpendSeen });
  }

  #keepStranger(id: string, find: PoolFind): void {
    this.#dropStranger(id);
    const inputs = find.transaction.inputs.length;
    if (this.#inputsKept + inputs > MOST_INPUTS_KEPT) return; // what it spends is seen once it is mined
    this.#inputsKept += inputs;
    this.#strangers.set(id, find);
  }

  /** Which ones are contradicted is told with each: where their number changes, all are looked at again. */
  async #heedContradictions(daemon: Daemon): Promise<void> {
    const { pool_stats } = await checked(daemon.client.getTransactionPoolStats());
    if (pool_stats.num_double_spends === this.#contradicted) return;
    this.#contradicted = pool_stats.num_double_spends;
    for (const id of this.#seen.keys()) if (!this.#own.has(id)) this.#seen.delete(id);
  }

  #lookAtOwn({ id, blob }: OwnTransaction): void {
    const [transaction] = scanTransactions(this.#context, [waiting({ id, form: "whole", blob })]);
    this.#seen.set(id, transaction && { transaction, doubleSpendSeen: false });
  }
}

type Waiting = { readonly id: string } & Pick<RawTransaction, "form" | "blob">;

/** A transaction of the pool, read. */
function waiting({ id, form, blob }: Waiting): RawTransaction {
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

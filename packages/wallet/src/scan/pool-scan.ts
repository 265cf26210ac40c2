/** Looks for the wallet's transactions among those that wait in the node's pool. Runs in the scan worker. */
import { fromHex, toHex } from "@anulo/protocol";
import type { ScannedTransaction } from "../changes.ts";
import { checked, type Daemon } from "../daemon.ts";
import { type ScanContext, scanTransactions } from "./candidates.ts";
import type { OwnTransaction, PoolFind, PoolPicture } from "./messages.ts";
import type { RawTransaction } from "./raw-transaction.ts";

/** What a restricted node gives in one answer. Source: core_rpc_server.cpp RESTRICTED_TRANSACTIONS_COUNT. */
const TRANSACTIONS_PER_QUESTION = 100;
/** Pool transactions are of the newest kind, in which readable payment ids mean nothing. */
const NEWEST_BLOCK_VERSION = 255;

type Entry = Awaited<ReturnType<Daemon["getTransactions"]>>["txs"][number];

export class PoolScan {
  readonly #context: ScanContext;
  /** Transactions of the pool by id (hex), each looked at once; undefined for those that don't concern the wallet. */
  readonly #seen = new Map<string, PoolFind | undefined>();
  /** Ids (hex) of the wallet's own transactions. */
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
    for (const each of own) if (present.has(each.id) && !this.#seen.has(each.id)) this.#lookAtOwn(each);
    return this.#fill(daemon, ids);
  }

  async #fill(daemon: Daemon, ids: readonly string[]): Promise<PoolPicture> {
    const wanted = ids.filter((id) => !this.#seen.has(id));
    for (let at = 0; at < wanted.length; at += TRANSACTIONS_PER_QUESTION) {
      const txs_hashes = wanted.slice(at, at + TRANSACTIONS_PER_QUESTION);
      const { txs } = await daemon.getTransactions({ txs_hashes, prune: true });
      for (const entry of txs)
        if (entry.in_pool) this.#seen.set(entry.tx_hash, scanEntry(this.#context, entry));
    }
    return { ids, found: ids.flatMap((id) => this.#seen.get(id) ?? []) };
  }

  /** Which ones are contradicted is told with each: where their number changes, all are looked at again. */
  async #heedContradictions(daemon: Daemon): Promise<void> {
    const { pool_stats } = await checked(daemon.client.getTransactionPoolStats());
    if (pool_stats.num_double_spends === this.#contradicted) return;
    this.#contradicted = pool_stats.num_double_spends;
    for (const id of this.#seen.keys()) if (!this.#own.has(id)) this.#seen.delete(id);
  }

  #lookAtOwn({ id, blob }: OwnTransaction): void {
    const found = blob === undefined ? undefined : scanBlob(this.#context, { id, form: "whole", blob });
    this.#seen.set(id, found && { transaction: found, doubleSpendSeen: false });
  }
}

function scanEntry(context: ScanContext, entry: Entry): PoolFind | undefined {
  const form = entry.pruned_as_hex === "" ? "whole" : "pruned";
  const blob = fromHex(form === "whole" ? entry.as_hex : entry.pruned_as_hex);
  const transaction = scanBlob(context, { id: entry.tx_hash, form, blob });
  return transaction && { transaction, doubleSpendSeen: entry.double_spend_seen };
}

type Waiting = { readonly id: string } & Pick<RawTransaction, "form" | "blob">;

function scanBlob(context: ScanContext, { id, form, blob }: Waiting): ScannedTransaction | undefined {
  const [scanned] = scanTransactions(context, [
    {
      form,
      blob,
      txHash: fromHex(id),
      globalIndices: [],
      coinbase: false,
      height: 0,
      timestamp: 0,
      blockVersion: NEWEST_BLOCK_VERSION,
    },
  ]);
  return scanned;
}

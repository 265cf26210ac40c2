/** Looks for the wallet's transactions among those that wait in the node's pool. Runs in the scan worker. */
import { fromHex, toHex } from "@anulo/protocol";
import type { ScannedTransaction } from "../changes.ts";
import type { Daemon } from "../daemon.ts";
import { type ScanContext, scanTransactions } from "./candidates.ts";
import type { PoolFind, PoolPicture } from "./messages.ts";

/** What a restricted node gives in one answer. Source: core_rpc_server.cpp RESTRICTED_TRANSACTIONS_COUNT. */
const TRANSACTIONS_PER_QUESTION = 100;
/** Pool transactions are of the newest kind, in which readable payment ids mean nothing. */
const NEWEST_BLOCK_VERSION = 255;

type Entry = Awaited<ReturnType<Daemon["getTransactions"]>>["txs"][number];

export class PoolScan {
  readonly #context: ScanContext;
  /** Ids (hex) already looked at that don't concern the wallet. */
  #strangers = new Set<string>();

  constructor(context: ScanContext) {
    this.#context = context;
  }

  async look(daemon: Daemon): Promise<PoolPicture> {
    const ids = (await daemon.getPoolHashes()).map(toHex);
    this.#strangers = new Set(ids.filter((id) => this.#strangers.has(id)));
    const wanted = ids.filter((id) => !this.#strangers.has(id));
    const found: PoolFind[] = [];
    for (let at = 0; at < wanted.length; at += TRANSACTIONS_PER_QUESTION) {
      const txs_hashes = wanted.slice(at, at + TRANSACTIONS_PER_QUESTION);
      const { txs } = await daemon.getTransactions({ txs_hashes, prune: true });
      for (const entry of txs) if (entry.in_pool) found.push(...this.#scan(entry));
    }
    return { ids, found };
  }

  #scan(entry: Entry): PoolFind[] {
    const transaction = scanEntry(this.#context, entry);
    if (transaction === undefined) this.#strangers.add(entry.tx_hash);
    return transaction === undefined ? [] : [{ transaction, doubleSpendSeen: entry.double_spend_seen }];
  }
}

function scanEntry(context: ScanContext, entry: Entry): ScannedTransaction | undefined {
  const isPruned = entry.pruned_as_hex !== "";
  const [scanned] = scanTransactions(context, [
    {
      form: isPruned ? "pruned" : "whole",
      blob: fromHex(isPruned ? entry.pruned_as_hex : entry.as_hex),
      txHash: fromHex(entry.tx_hash),
      globalIndices: [],
      coinbase: false,
      height: 0,
      timestamp: 0,
      blockVersion: NEWEST_BLOCK_VERSION,
    },
  ]);
  return scanned;
}

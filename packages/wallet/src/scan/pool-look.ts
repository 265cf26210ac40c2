/** One scan of a node's pool for all wallets that request it at the same time. Runs in a scan thread. */
import { fromHex, toHex } from "@anulo/protocol";
import { checked, type Daemon } from "../daemon.ts";
import { secretsAtOnce, siftHere } from "./followers.ts";
import type { OwnTransaction, PoolSnapshot } from "./messages.ts";
import { PoolEntry, PoolScan, waiting } from "./pool-scan.ts";
import { readKeys, type Sifted } from "./sift.ts";

/**
 * Maximum number of transactions in one response of a restricted node. Source: core_rpc_server.cpp
 * RESTRICTED_TRANSACTIONS_COUNT.
 */
const TRANSACTIONS_PER_QUESTION = 100;

type Entry = Awaited<ReturnType<Daemon["getTransactions"]>>["txs"][number];

/** A wallet that scans the pool, and its unconfirmed transactions that were created here. */
export type Looker = { readonly pool: PoolScan; readonly own: readonly OwnTransaction[] };

/**
 * Returns for each wallet a function that returns its part of the pool, or throws the error of that part. All
 * transactions that are new to any of the wallets are requested, whomever they concern, and never a wallet's own alone:
 * such a request would show the node that the transaction concerns the wallet.
 * Throws errors that the node causes.
 */
export async function lookTogether(
  daemon: Daemon,
  lookers: readonly Looker[],
): Promise<(() => PoolSnapshot)[]> {
  const failed = new Map<Looker, unknown>();
  const hashes = await daemon.getPoolHashes();
  const ids = hashes.map(toHex);
  const contradicted = ids.length > 0 ? await contradictedAt(daemon) : undefined;
  const present = new Set(ids);
  const each = (some: readonly Looker[], step: (looker: Looker, i: number) => void) => {
    for (const [i, looker] of some.entries()) {
      try {
        step(looker, i);
      } catch (error) {
        failed.set(looker, error);
      }
    }
  };
  each(lookers, ({ pool, own }) => pool.begin(present, contradicted, own));
  const unknownIds = PoolScan.wantedBy(
    lookers.map(({ pool }) => pool),
    ids,
  );
  for (let at = 0; at < unknownIds.length; at += TRANSACTIONS_PER_QUESTION) {
    const txs_hashes = unknownIds.slice(at, at + TRANSACTIONS_PER_QUESTION);
    const { txs } = await daemon.getTransactions({ txs_hashes, prune: true });
    const requestedIds = new Set(txs_hashes);
    const entries = txs.filter(({ in_pool, tx_hash }) => in_pool && requestedIds.has(tx_hash)).map(entryOf);
    await siftFor(lookers, entries, (some, siftResults) =>
      each(some, ({ pool }, i) => pool.take(entries, siftResults[i]!)),
    );
  }
  const shared = new Uint8Array(new SharedArrayBuffer(32 * hashes.length));
  for (const [i, hash] of hashes.entries()) shared.set(hash, 32 * i);
  const empty: PoolSnapshot = { ids: shared, finds: [] };
  return lookers.map((looker) => () => {
    if (failed.has(looker)) throw failed.get(looker);
    return looker.pool.snapshot(empty);
  });
}

async function contradictedAt(daemon: Daemon): Promise<number> {
  const { pool_stats } = await checked(daemon.client.getTransactionPoolStats());
  return pool_stats.num_double_spends;
}

function entryOf({
  tx_hash: id,
  double_spend_seen: doubleSpendSeen,
  pruned_as_hex: pruned,
  as_hex: whole,
}: Entry): PoolEntry {
  const form = pruned === "" ? "whole" : "pruned";
  return new PoolEntry(id, waiting({ id, form, blob: fromHex(pruned || whole) }), doubleSpendSeen);
}

/** Sifts the entries for the wallets that need one of them, many wallets at once. */
async function siftFor(
  lookers: readonly Looker[],
  entries: readonly PoolEntry[],
  give: (some: readonly Looker[], siftResults: readonly Sifted[]) => void,
): Promise<void> {
  const keys = readKeys(entries.map(({ raw }) => raw));
  const wanting = lookers.filter(({ pool }) => entries.some(({ id }) => pool.wants(id)));
  const atOnce = secretsAtOnce(keys);
  for (let at = 0; at < wanting.length; at += atOnce) {
    const some = wanting.slice(at, at + atOnce);
    const pools = some.map(({ pool }) => pool);
    give(some, await siftHere(pools, keys));
  }
}

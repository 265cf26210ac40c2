/** One look at a node's pool for all wallets that ask at the same time. Runs in a scan thread. */
import { fromHex, toHex } from "@anulo/protocol";
import { checked, type Daemon } from "../daemon.ts";
import { imageNames } from "./candidates.ts";
import { secretsAtOnce, siftHere } from "./followers.ts";
import type { OwnTransaction, PoolSnapshot } from "./messages.ts";
import { type PoolEntry, type PoolScan, waiting } from "./pool-scan.ts";
import { readKeys, type Sifted } from "./sift.ts";

/** What a restricted node gives in one answer. Source: core_rpc_server.cpp RESTRICTED_TRANSACTIONS_COUNT. */
const TRANSACTIONS_PER_QUESTION = 100;

type Entry = Awaited<ReturnType<Daemon["getTransactions"]>>["txs"][number];

/** A wallet that looks, and its unconfirmed transactions that were made here. */
export type Looker = { readonly pool: PoolScan; readonly own: readonly OwnTransaction[] };

/**
 * What the pool holds, to be asked for by each: one may be told that its own part failed. The node is asked for all transactions that are new in it for any of them, whoever they
 * concern, and never for a wallet's own by name: asking again for one alone would show that it concerns the wallet.
 * Throws what the node makes wrong.
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
  const wanted = ids.filter((id) => lookers.some(({ pool }) => pool.wants(id)));
  for (let at = 0; at < wanted.length; at += TRANSACTIONS_PER_QUESTION) {
    const txs_hashes = wanted.slice(at, at + TRANSACTIONS_PER_QUESTION);
    const { txs } = await daemon.getTransactions({ txs_hashes, prune: true });
    const asked = new Set(txs_hashes);
    const entries = txs.filter(({ in_pool, tx_hash }) => in_pool && asked.has(tx_hash)).map(entryOf);
    await siftFor(lookers, entries, (some, sifted, images) =>
      each(some, ({ pool }, i) => pool.take(entries, sifted[i]!, images)),
    );
  }
  const shared = new Uint8Array(new SharedArrayBuffer(32 * hashes.length));
  for (const [i, hash] of hashes.entries()) shared.set(hash, 32 * i);
  return lookers.map((looker) => () => {
    if (failed.has(looker)) throw failed.get(looker);
    return looker.pool.snapshot(shared);
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
  return { id, doubleSpendSeen, raw: waiting({ id, form, blob: fromHex(pruned || whole) }) };
}

/** Sifts the entries for those who want one of them, many at once. */
async function siftFor(
  lookers: readonly Looker[],
  entries: readonly PoolEntry[],
  give: (some: readonly Looker[], sifted: readonly Sifted[], images: readonly string[]) => void,
): Promise<void> {
  const keys = readKeys(entries.map(({ raw }) => raw));
  const images = imageNames(keys.keyImages);
  const wanting = lookers.filter(({ pool }) => entries.some(({ id }) => pool.wants(id)));
  const atOnce = secretsAtOnce(keys);
  for (let at = 0; at < wanting.length; at += atOnce) {
    const some = wanting.slice(at, at + atOnce);
    const pools = some.map(({ pool }) => pool);
    give(some, await siftHere(pools, keys), images);
  }
}

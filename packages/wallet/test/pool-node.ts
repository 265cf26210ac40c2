/** A node of which only the pool is asked for: that of the recorded chain. */
import { fromHex, toHex, transactionHash, writePrunedTransaction } from "@anulo/protocol";
import type { Daemon } from "../src/daemon.ts";
import { recordedPool } from "./recorded-node.ts";

/** Of the transactions in the pool, in hex. */
export const ids = recordedPool.map((tx) => toHex(transactionHash(tx)));

/** A node with the recorded pool; `asked`: every transaction it was asked for. */
export function createNode() {
  const asked: string[] = [];
  const node = { waiting: ids, asked };
  const daemon = {
    getPoolHashes: async () => node.waiting.map((id) => fromHex(id)),
    client: {
      getTransactionPoolStats: async () => ({ status: "OK", pool_stats: { num_double_spends: 0 } }),
    },
    getTransactions: async ({ txs_hashes }: { txs_hashes: string[] }) => {
      asked.push(...txs_hashes);
      const txs = recordedPool
        .filter((tx) => txs_hashes.includes(toHex(transactionHash(tx))))
        .map((tx) => ({
          tx_hash: toHex(transactionHash(tx)),
          in_pool: true,
          double_spend_seen: false,
          as_hex: "",
          pruned_as_hex: toHex(writePrunedTransaction(tx)),
        }));
      return { txs };
    },
  };
  return { ...node, node, daemon: daemon as unknown as Daemon };
}

/** Key image (hex) that a transaction of the pool spends. */
export function imageOf(place: number): string {
  const [input] = recordedPool[place]!.prefix.inputs;
  if (input?.type !== "key") throw new Error("no key image");
  return toHex(input.keyImage);
}

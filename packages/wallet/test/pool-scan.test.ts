import assert from "node:assert/strict";
import { randomFillSync } from "node:crypto";
import { test } from "node:test";
import { fromHex, toHex, transactionHash, writePrunedTransaction } from "@anulo/protocol";
import type { Daemon } from "../src/daemon.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { KeyHashes, KeySet } from "../src/outputs/key-set.ts";
import type { ScanContext } from "../src/scan/candidates.ts";
import { lookTogether } from "../src/scan/pool-look.ts";
import { PoolScan } from "../src/scan/pool-scan.ts";
import { SubaddressTable } from "../src/scan/subaddress-table.ts";
import { recordedPool } from "./recorded-node.ts";
import { seededRandom } from "./transfer-fixture.ts";

const keys = createKeys(seededRandom("pool scan"));
const ids = recordedPool.map((tx) => toHex(transactionHash(tx)));

/** A wallet that nothing of the pool concerns. */
function createContext(): ScanContext {
  const table = new SubaddressTable({ accounts: 1, addresses: 1 });
  const rest = { cover: () => undefined, keyImages: new Map(), skipsCoinbase: false };
  return { keys, table, knownImages: new KeySet(new KeyHashes(randomFillSync)), ...rest };
}

/** A node with the recorded pool; `asked`: every transaction it was asked for. */
function createNode() {
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

async function look(daemon: Daemon, pool: PoolScan) {
  const [picture] = await lookTogether(daemon, [{ pool, own: [] }]);
  return picture!();
}

const bytesOf = (all: readonly string[]) => fromHex(all.join(""));

function imageOf(place: number): string {
  const [input] = recordedPool[place]!.prefix.inputs;
  if (input?.type !== "key") throw new Error("no key image");
  return toHex(input.keyImage);
}

test("what spends an output that the blocks bring is found without asking the node again", async () => {
  const context = createContext();
  const pool = new PoolScan(context);
  const { daemon, asked } = createNode();
  const picture = await look(daemon, pool);
  assert.deepEqual([new Uint8Array(picture.ids), picture.finds], [bytesOf(ids), []]);
  context.knownImages.add(fromHex(imageOf(1))); // as a scan of blocks does for each output it finds
  const [find, ...others] = pool.withFound(picture).finds;
  assert.equal(toHex(find!.transaction.txHash), ids[1]);
  assert.equal(toHex(find!.transaction.inputs[0]!.keyImage), imageOf(1));
  assert.deepEqual(others, []);
  assert.deepEqual((await look(daemon, pool)).finds, [find], "and stays found");
  assert.deepEqual(asked.toSorted(), ids.toSorted(), "each was asked for once");
});

test("strangers are kept for one scan of blocks, and no longer than they wait", async () => {
  const context = createContext();
  const pool = new PoolScan(context);
  const { daemon, node } = createNode();
  pool.withFound(await look(daemon, pool));
  context.knownImages.add(fromHex(imageOf(0)));
  assert.deepEqual(pool.withFound(await look(daemon, pool)).finds, [], "it was there before the blocks");
  const other = new PoolScan(context);
  await look(daemon, other);
  context.knownImages.add(fromHex(imageOf(1)));
  node.waiting = [];
  assert.deepEqual(other.withFound(await look(daemon, other)), { ids: new Uint8Array(), finds: [] });
});

test("key images that came from elsewhere have all strangers asked for again, not those they concern", async () => {
  const context = createContext();
  const pool = new PoolScan(context);
  const { daemon, asked } = createNode();
  pool.withFound(await look(daemon, pool));
  context.knownImages.add(fromHex(imageOf(1)));
  pool.forgetStrangers();
  const { finds } = await look(daemon, pool);
  assert.deepEqual(
    finds.map(({ transaction }) => toHex(transaction.txHash)),
    [ids[1]],
  );
  assert.deepEqual(asked.toSorted(), [...ids, ...ids].toSorted());
});

import { call, type ExactObject, post, sendTransaction, submitBlock } from "@anulo/testkit";
import { accountOf } from "../account.ts";
import { listOf, type Side, type Stage } from "../actors.ts";
import type { RealChain } from "./recordings.ts";

/** Feeds a chain to a node of one side, restores its wallets, and returns all responses of both programs about it. */
export async function observe(stage: Stage, side: Side, chain: RealChain): Promise<ExactObject> {
  const { url, port } = await stage.daemon(side, "upstream");
  const headers: ExactObject[] = [];
  for (const { blob, txs } of chain.blocks) {
    for (const hex of txs) await sendTransaction(url, hex);
    await submitBlock(url, blob);
    headers.push((await call(url, "get_last_block_header")).block_header as ExactObject);
  }
  for (const blob of chain.sideBlocks) await submitBlock(url, blob);
  for (const hex of chain.pool) await sendTransaction(url, hex);
  const wallets: ExactObject = {};
  for (const [name, { mnemonic }] of Object.entries(chain.wallets)) {
    wallets[name] = await accountOf(await stage.wallet(side, { mnemonic, daemonPort: port }));
  }
  return { headers, state: await stateOf(url), wallets };
}

/** Fields of `get_info` that follow from the chain alone. */
const infoFields = [
  ...["height", "top_block_hash", "cumulative_difficulty", "difficulty", "tx_count", "tx_pool_size"],
  ...[
    "alt_blocks_count",
    "block_size_limit",
    "block_size_median",
    "block_weight_limit",
    "block_weight_median",
  ],
];

async function stateOf(url: string): Promise<ExactObject> {
  const info = await call(url, "get_info");
  const { chains } = await call(url, "get_alternate_chains");
  const { transactions } = await post(`${url}/get_transaction_pool`);
  const sum = await call(url, "get_coinbase_tx_sum", { height: 0, count: Number(info.height) });
  return {
    info: Object.fromEntries(infoFields.map((name) => [name, info[name] ?? null])),
    sum,
    fees: await call(url, "get_fee_estimate"),
    hardFork: await call(url, "hard_fork_info"),
    sideChains: listOf(chains),
    pool: listOf(transactions)
      .map(
        ({ id_hash, fee, weight, blob_size, tx_blob }) =>
          ({ id_hash, fee, weight, blob_size, tx_blob }) as ExactObject,
      )
      .sort((a, b) => (String(a.id_hash) < String(b.id_hash) ? -1 : 1)),
  };
}

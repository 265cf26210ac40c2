/** What a devnet asks of its node, whosever program that is. */
import { setTimeout as delay } from "node:timers/promises";
import { type Block, baseReward, fromHex, readBlock, toHex, writeBlock } from "@anulo/protocol";
import { call, post } from "./call.ts";
import type { ExactObject } from "./exact-json.ts";

/** Number of blocks. */
export async function heightOf(nodeUrl: string): Promise<number> {
  const { height } = await call(nodeUrl, "get_info");
  return Number(height);
}

const RELAY_POLL_MS = 10;
const MAX_RELAY_LOOKS = 200;

/**
 * Waits until the node has relayed what its wallets sent: it does so after it answered them, and mines only what is
 * relayed. Transactions that are never to be relayed are not waited for. Source: tx_pool.cpp `fill_block_template`.
 */
async function waitForRelay(nodeUrl: string): Promise<void> {
  for (let looks = 0; looks < MAX_RELAY_LOOKS; looks++) {
    const stats = await post(`${nodeUrl}/get_transaction_pool_stats`, {});
    const { num_not_relayed: waiting = 0 } = stats.pool_stats as ExactObject;
    if (Number(waiting) === 0) return;
    const { transactions = [] } = await post(`${nodeUrl}/get_transaction_pool`, {});
    const isWaiting = (it: ExactObject) => it.relayed !== true && it.do_not_relay !== true;
    if (!(transactions as readonly ExactObject[]).some(isWaiting)) return;
    await delay(RELAY_POLL_MS);
  }
}

/** Mines blocks on the top, with what waits in the pool; returns the new height. */
export async function mineBlocks(nodeUrl: string, blocks: number, address: string): Promise<number> {
  if (!Number.isSafeInteger(blocks) || blocks < 0)
    throw new RangeError("a number of blocks is a whole number");
  if (blocks === 0) return heightOf(nodeUrl);
  await waitForRelay(nodeUrl);
  const params = { amount_of_blocks: blocks, wallet_address: address };
  const { height } = await call(nodeUrl, "generateblocks", params);
  return Number(height) + 1;
}

/** A block to mine, which pays this address. */
export async function templateOf(nodeUrl: string, address: string): Promise<Block> {
  const template = await call(nodeUrl, "get_block_template", { wallet_address: address, reserve_size: 0 });
  return readBlock(fromHex(String(template.blocktemplate_blob)));
}

export async function submitBlock(nodeUrl: string, block: Block): Promise<void> {
  await call(nodeUrl, "submit_block", [toHex(writeBlock(block))]);
}

/** Mines blocks without transactions, though some may wait; returns the new height. */
export async function mineEmptyBlocks(nodeUrl: string, blocks: number, address: string): Promise<number> {
  for (let mined = 0; mined < blocks; mined++) {
    const block = await templateOf(nodeUrl, address);
    const { already_generated_coins: generated } = await call(nodeUrl, "get_miner_data");
    const { minerTransaction, header } = block;
    const [output] = minerTransaction.prefix.outputs;
    const alreadyGenerated = BigInt(String(generated));
    const amount = baseReward({ alreadyGenerated, version: header.majorVersion });
    const prefix = { ...minerTransaction.prefix, outputs: [{ ...output!, amount }] };
    const empty: Block = {
      ...block,
      minerTransaction: { ...minerTransaction, prefix },
      transactionHashes: [],
    };
    await submitBlock(nodeUrl, empty);
  }
  return heightOf(nodeUrl);
}

/** Removes the newest blocks; their transactions wait in the pool again. Throws a RangeError where there are not as many. */
export async function popBlocks(nodeUrl: string, depth: number): Promise<ExactObject> {
  const height = await heightOf(nodeUrl);
  if (!Number.isInteger(depth) || depth < 1 || depth >= height)
    throw new RangeError(`a chain of ${height} blocks has no ${depth} to replace`);
  return await post(`${nodeUrl}/pop_blocks`, { nblocks: depth });
}

import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { call, post } from "@anulo/devnet";
import { acceptBlock, createNode, popBlocks, readBlockWithTransactions } from "@anulo/node";
import { fromHex } from "@anulo/protocol";
import type { RecordedBlock } from "./fixtures.ts";

/** Sends one transaction (hex) to a node's pool. Throws with the node's reason if it is refused. */
export async function sendTransaction(url: string, hex: string): Promise<void> {
  const answer = await post(`${url}/send_raw_transaction`, { tx_as_hex: hex, do_sanity_checks: false });
  if (answer.status !== "OK") throw new Error(`transaction refused: ${JSON.stringify(answer)}`);
}

/** Submits one block (hex). Throws if the node doesn't accept it. */
export async function submitBlock(url: string, blob: string): Promise<void> {
  const { status } = await call(url, "submit_block", [blob]);
  if (status !== "OK") throw new Error(`block refused: ${status}`);
}

/** Feeds blocks to a node, each after its transactions, as peers would: everything is verified. */
export async function loadBlocks(url: string, blocks: Iterable<RecordedBlock>): Promise<void> {
  for (const { blob, txs } of blocks) {
    for (const hex of txs) await sendTransaction(url, hex);
    await submitBlock(url, blob);
  }
}

/**
 * Begins a data folder of ours, for a regtest chain of difficulty 1, whose pool holds the payments of these blocks:
 * the blocks come with their transactions, as peers send them, and are undone. So they can be loaded by RPC, though
 * the pool takes some of their payments from blocks alone. Everything is verified.
 */
export async function fillPoolFromBlocks(folder: string, blocks: Iterable<RecordedBlock>): Promise<void> {
  const databasePath = join(folder, "regtest", "chain.mdb");
  mkdirSync(dirname(databasePath), { recursive: true });
  const node = createNode({ network: "regtest", fixedDifficulty: 1n, offline: true, databasePath });
  await node.start();
  try {
    let count = 0;
    for (const { blob, txs } of blocks) {
      const payments = txs.map((hex) => fromHex(hex));
      await acceptBlock(node.chain, await readBlockWithTransactions(fromHex(blob), payments));
      count++;
    }
    await popBlocks(node.chain, count);
  } finally {
    await node.stop();
  }
}

/** Hash of the newest block. */
export async function topHash(url: string): Promise<string> {
  const { top_block_hash } = await call(url, "get_info");
  return String(top_block_hash);
}

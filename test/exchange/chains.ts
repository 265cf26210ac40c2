import { writeFileSync } from "node:fs";
import { createNode, type ImportOptions, importChain, readIncomingBlock } from "@anulo/node";
import {
  fromHex,
  genesisBlock,
  networks,
  writeBlock,
  writeBlockPackage,
  writeChainFileHeader,
} from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import { call, loadChain } from "@anulo/testkit";
import type { MonerodBlock } from "./monerod-file.ts";

/** A block and its transactions, as bytes. */
export interface Packaged {
  readonly blob: Uint8Array;
  readonly transactions: readonly Uint8Array[];
}

const recorded = loadChain();

/** The recorded chain from genesis on. */
export const recordedBlocks: readonly Packaged[] = [
  { blob: writeBlock(genesisBlock(networks.regtest)), transactions: [] },
  ...recorded.blocks.map(({ blob, txs }) => ({
    blob: fromHex(blob),
    transactions: txs.map((tx) => fromHex(tx)),
  })),
];

/** Writes blocks as `blockchain.raw`, with totals that nobody may believe; where each chunk's bytes begin. */
export function writeRaw(path: string, blocks: readonly Packaged[]): number[] {
  const parts: Uint8Array[] = [writeChainFileHeader({ first: 0, last: blocks.length - 1 })];
  const offsets: number[] = [];
  let at = parts[0]!.length;
  for (const block of blocks) {
    const bytes = writeBlockPackage({ ...block, weight: 1, cumulativeDifficulty: 1n, generated: 1n });
    const size = Buffer.alloc(4);
    size.writeUInt32LE(bytes.length);
    offsets.push(at + 4);
    at += 4 + bytes.length;
    parts.push(size, bytes);
  }
  writeFileSync(path, Buffer.concat(parts));
  return offsets;
}

/** Imports into a regtest chain, proofs checked in this thread. */
export function importInto(
  databasePath: string,
  options: Partial<ImportOptions> & Pick<ImportOptions, "from">,
) {
  return importChain({ network: "regtest", fixedDifficulty: 1n, verifyThreads: 0, databasePath, ...options });
}

/** Reads a chain with a node that is started on it, after `change`. */
export async function withChain<T>(
  databasePath: string,
  read: (reader: ChainReader) => T,
  blocksToAdd = 0,
): Promise<T> {
  const node = createNode({ network: "regtest", fixedDifficulty: 1n, verifyThreads: 0, databasePath });
  await node.start();
  try {
    const order = { amount_of_blocks: blocksToAdd, wallet_address: recorded.wallets.alice.address };
    if (blocksToAdd > 0) await call(node.urls[0]!, "generateblocks", order);
    return read(node.chain.store.read);
  } finally {
    await node.stop();
  }
}

/** The blocks of a chain as a monerod keeps them; of those at which `isPruned`, payments without signatures. */
export function monerodBlocks(reader: ChainReader, isPruned: (height: number) => boolean): MonerodBlock[] {
  return reader
    .blockInfos(0, reader.height())
    .map(({ firstTransactionId, transactionCount, weight }, height) => ({
      blob: Buffer.from(reader.blockBlob(height)!),
      weight,
      transactions: Array.from({ length: transactionCount }, (_, i) => {
        const id = firstTransactionId + i;
        return {
          pruned: Buffer.from(reader.prunedTransaction(id)!),
          prunable: i > 0 && isPruned(height) ? undefined : Buffer.from(reader.prunablePart(id)!),
          prunableHash: Buffer.from(reader.transactionById(id)!.prunableHash),
        };
      }),
    }));
}

/** The ids of recorded blocks, in hexadecimal, from genesis on. */
export const recordedIds: readonly string[] = recordedBlocks.map(({ blob }) => readIncomingBlock(blob).key);

import { randomBytes } from "node:crypto";
import {
  concatBytes,
  fromHex,
  readBlock,
  readTransaction,
  transactionHash,
  writeBlock,
  writeTransaction,
} from "@anulo/protocol";
import type { RecordedChain } from "../fixtures.ts";
import { boolEntry, message, objectEntry, stringEntry, stringsEntry, uint64Entry } from "./portable-bytes.ts";

/** The payload of a message of new transactions. */
export function transactionsPayload(txs: readonly Uint8Array[]): Buffer {
  return message(
    stringsEntry("txs", txs),
    stringEntry("_", Buffer.alloc(0)),
    boolEntry("dandelionpp_fluff", true),
  );
}

/** Payments that were mined, as bytes. */
export function minedPayments({ blocks }: RecordedChain): Uint8Array[] {
  return blocks.flatMap(({ txs }) => txs.map((hex) => fromHex(hex)));
}

/** Payments that are valid on the recorded chain and wait for a block. */
export const waitingPayments = ({ poolTransactions }: RecordedChain) =>
  poolTransactions.map(({ hex }) => fromHex(hex));

/** The same payment with a few more bytes in its extra field: another hash, and signatures that do not fit. */
export function altered(blob: Uint8Array): Uint8Array {
  const tx = readTransaction(blob);
  const extra = concatBytes(tx.prefix.extra, Uint8Array.of(2, 8), randomBytes(8));
  return writeTransaction({ ...tx, prefix: { ...tx.prefix, extra } });
}

/** The same payment with another byte in the middle of its proofs. */
export function withWrongProof(blob: Uint8Array): Uint8Array {
  const bytes = altered(blob);
  const at = Math.floor(bytes.length * 0.6);
  bytes[at] = bytes[at]! ^ 1;
  return bytes;
}

export interface Forgery {
  readonly previousId?: Uint8Array;
  readonly timestamp?: number;
  readonly transactions?: readonly Uint8Array[];
  /** Ids in the block of transactions that nobody has. */
  readonly missing?: number;
}

/** A block like the recorded one of that height, with something changed. */
export function forgedBlock(chain: RecordedChain, height: number, forgery: Forgery): Uint8Array {
  const block = readBlock(fromHex(chain.blocks[height - 1]!.blob));
  const { previousId, timestamp, transactions = [], missing = 0 } = forgery;
  const header = {
    ...block.header,
    nonce: randomBytes(4).readUInt32LE(),
    ...(previousId !== undefined && { previousId }),
    ...(timestamp !== undefined && { timestamp }),
  };
  const transactionHashes = [
    ...transactions.map((blob) => transactionHash(readTransaction(blob))),
    ...Array.from({ length: missing }, () => new Uint8Array(randomBytes(32))),
  ];
  return writeBlock({ ...block, header, transactionHashes });
}

/** The payload of a new block with its transactions. */
export function blockPayload(block: Uint8Array, txs: readonly Uint8Array[], height: number): Buffer {
  return message(
    objectEntry("b", stringEntry("block", block), stringsEntry("txs", txs)),
    uint64Entry("current_blockchain_height", BigInt(height)),
  );
}

export interface ChainClaim {
  readonly startHeight: number;
  readonly totalHeight: number;
  readonly difficulty: bigint;
  readonly ids: readonly Uint8Array[];
  readonly weights?: readonly number[];
}

/** The payload that answers a request for a chain. */
export function chainPayload({
  startHeight,
  totalHeight,
  difficulty,
  ids,
  weights = [],
}: ChainClaim): Buffer {
  const packed = Buffer.alloc(8 * weights.length);
  for (const [i, weight] of weights.entries()) packed.writeBigUInt64LE(BigInt(weight), 8 * i);
  return message(
    uint64Entry("start_height", BigInt(startHeight)),
    uint64Entry("total_height", BigInt(totalHeight)),
    uint64Entry("cumulative_difficulty", difficulty),
    uint64Entry("cumulative_difficulty_top64", 0n),
    stringEntry("m_block_ids", Buffer.concat(ids)),
    ...(weights.length > 0 ? [stringEntry("m_block_weights", packed)] : []),
  );
}

export const recordedId = (chain: RecordedChain, height: number) => fromHex(chain.hashes[height - 1]!);

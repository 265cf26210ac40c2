import { NULL_HASH, readTransaction, writeTransaction } from "@anulo/protocol";
import type { PoolTransaction } from "@anulo/storage";
import { type PoolParts, transact } from "../src/pool/parts.ts";
import { goldenState } from "./recorded-chains.ts";

const template = readTransaction(goldenState().blocks.flatMap((block) => block.transactions)[0]!);

/** The number as 32 bytes, in a place that matters for every order. */
export function bytesOf(number: number): Uint8Array {
  const bytes = Buffer.alloc(32);
  bytes.writeUInt32LE(number, 28);
  return bytes;
}

/** A row of the pool, with a fee and key images of its number. */
export function waiting(number: number, more: Partial<PoolTransaction> = {}): PoolTransaction {
  const { prefix } = template;
  const inputs = prefix.inputs.map((input, i) => ({ ...input, keyImage: bytesOf(10 * number + i) }));
  return {
    weight: 2000,
    fee: BigInt(1 + ((number * 7919) % 1000)),
    receiveTime: number,
    lastRelayedTime: 0n,
    maxUsedBlockHeight: 0,
    maxUsedBlockHash: NULL_HASH,
    lastFailedHeight: 0,
    lastFailedHash: NULL_HASH,
    keptByBlock: false,
    relayed: true,
    doNotRelay: false,
    doubleSpendSeen: false,
    phase: "fluff",
    blob: writeTransaction({ ...template, prefix: { ...prefix, inputs } } as typeof template),
    ...more,
  };
}

/** Adds such rows to a pool, each under the id of its number. */
export function putWaiting(
  parts: Pick<PoolParts, "store" | "state" | "pool">,
  rows: ReadonlyMap<number, Partial<PoolTransaction>>,
): void {
  transact(parts, (writer) => {
    for (const [number, more] of rows) parts.pool.add(writer, bytesOf(number), waiting(number, more));
  });
}

import type { PoolTransaction } from "../src/tables.ts";

const NO_HASH = new Uint8Array(32);

/** A transaction waiting for a block, of so many bytes. */
export function waitingTransaction(bytes: number): PoolTransaction {
  return {
    weight: bytes,
    fee: 1n,
    receiveTime: 1,
    lastRelayedTime: 1n,
    maxUsedBlockHeight: 0,
    maxUsedBlockHash: NO_HASH,
    lastFailedHeight: 0,
    lastFailedHash: NO_HASH,
    keptByBlock: false,
    relayed: true,
    doNotRelay: false,
    doubleSpendSeen: false,
    phase: "fluff",
    blob: new Uint8Array(bytes),
  };
}

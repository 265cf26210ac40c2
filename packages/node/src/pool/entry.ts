import type { PoolTransaction } from "@anulo/storage";

/** The `lastRelayedTime` that means never. */
export const NEVER = 2n ** 64n - 1n;

/** A transaction waiting for a block. */
export interface PoolEntry {
  /** 32 bytes. */
  readonly id: Uint8Array;
  /** The id in hexadecimal. */
  readonly key: string;
  readonly row: PoolTransaction;
  /** Key images it spends, in hexadecimal, in the order of its inputs. */
  readonly keyImages: readonly string[];
}

/** Whether a transaction is public: it was relayed to all, or was in a block. */
export function isPublic({ keptByBlock, doNotRelay, phase }: PoolTransaction): boolean {
  return keptByBlock || (!doNotRelay && phase === "fluff");
}

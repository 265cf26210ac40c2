/** One output of the chain that belongs to a wallet. */

/** Account (major) and address (minor) numbers; 0/0 is the primary address. */
export type SubaddressIndex = { readonly major: number; readonly minor: number };

/** Stands for the unknown id of a transaction that spends an output and was not created here. */
export const SOMEBODY = "";

/** A copy of the wallet's data about one output; it does not change when the wallet does. */
export type OwnedOutput = {
  /** Transaction id, 32 bytes. */
  readonly txHash: Uint8Array;
  /** Index among the outputs of its transaction. */
  readonly outputIndex: number;
  /** Index among all outputs of its amount (amount 0 for RingCT). */
  readonly globalIndex: bigint;
  /** Atomic units. */
  readonly amount: bigint;
  /** Mask of the commitment, 32 bytes; the scalar 1 where the amount is public. */
  readonly mask: Uint8Array;
  /** True if rings for it are built of RingCT outputs (version 2 coinbase included). */
  readonly rct: boolean;
  /** The output's public key, 32 bytes. */
  readonly oneTimeKey: Uint8Array;
  /** Transaction public key of the derivation (main or additional), 32 bytes. */
  readonly txPublicKey: Uint8Array;
  /** Key image, 32 bytes; undefined in a view-only wallet that has not imported it. */
  readonly keyImage: Uint8Array | undefined;
  readonly subaddress: SubaddressIndex;
  /** Height of the containing block. */
  readonly height: number;
  /** Seconds since 1970, as in the block header. */
  readonly timestamp: number;
  readonly unlockTime: bigint;
  readonly coinbase: boolean;
  /** Size of the transaction blob in bytes; 0 when not known. */
  readonly txSize: number;
  /** Excluded from spending by the user. */
  readonly frozen: boolean;
  /** Height of the block that spends it; undefined while it is not spent in a block. */
  readonly spentHeight: number | undefined;
  /**
   * Hex id of our own unconfirmed transaction that spends it; `SOMEBODY` if a pool transaction not created here does.
   */
  readonly pendingSpend: string | undefined;
  /** A smaller output with the same one-time key, of which only one can ever be spent ("burning bug"). */
  readonly replaces: OwnedOutput | undefined;
};

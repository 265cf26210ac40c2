/** A wallet's data about payments to it and from it, and about the calls that made them. */
import type { SubaddressIndex } from "./outputs/owned-output.ts";
import type { RefusalKind } from "./refusal.ts";

/** Amount received by one subaddress in one transaction, change excluded. */
export type IncomingPayment = {
  readonly txHash: Uint8Array;
  /** 32 bytes; a short payment id fills the first 8. All zero if there is none. */
  readonly paymentId: Uint8Array;
  readonly amount: bigint;
  /** Amounts of the single outputs, atomic units. */
  readonly amounts: readonly bigint[];
  readonly fee: bigint;
  /** Height of the containing block; 0 in the pool. */
  readonly height: number;
  readonly timestamp: number;
  readonly unlockTime: bigint;
  readonly coinbase: boolean;
  readonly subaddress: SubaddressIndex;
};

/** A payment that waits in the pool of the node. */
export type PoolPayment = IncomingPayment & { readonly doubleSpendSeen: boolean };

/** `address` is the text the caller sent (it may be an integrated address). */
export type PaymentDestination = { readonly address: string; readonly amount: bigint };

/**
 * `signed`: stored, maybe not sent yet · `pending`: sent to the node · `missing`: no longer in the node's pool ·
 * `failed`: given up, its inputs are free again · `confirmed`: in a block · `forgotten`: still unconfirmed when a
 * rescan was requested; it is not shown until it is seen in the pool again, but it reserves its inputs.
 */
export type OutgoingState = "signed" | "pending" | "missing" | "failed" | "confirmed" | "forgotten";

/** A transaction that spends outputs of this wallet, created here or seen in the chain. */
export type OutgoingPayment = {
  readonly txHash: Uint8Array;
  readonly state: OutgoingState;
  /**
   * The whole transaction as sent, to send it again; undefined if it was not created here or is deep enough in the
   * chain.
   */
  readonly blob: Uint8Array | undefined;
  readonly amountIn: bigint;
  /** Sum of all outputs, change included: `amountIn - fee`. */
  readonly amountOut: bigint;
  readonly change: bigint;
  readonly destinations: readonly PaymentDestination[];
  /** 32 bytes, as in IncomingPayment. */
  readonly paymentId: Uint8Array;
  /** Account that paid, and those of its addresses whose outputs were spent. */
  readonly account: number;
  readonly subaddressIndices: readonly number[];
  /** Key images of all inputs, 32 bytes each. */
  readonly keyImages: readonly Uint8Array[];
  readonly unlockTime: bigint;
  /** When it was created (seconds since 1970). */
  readonly createdAt: number;
  /** Block time once confirmed, else `createdAt`. */
  readonly timestamp: number;
  /** Height of the containing block; 0 while unconfirmed. */
  readonly height: number;
  /** True if it was in a block that a reorganisation has undone, and has been in none since. */
  readonly isUndone?: boolean;
  /** True if it was created here and has been in the node's pool. */
  readonly isSeen?: boolean;
};

/**
 * What a payment has paid to others, in atomic units, without fee and change. If some of its inputs are unknown, its
 * change may exceed the amount that was seen to leave.
 */
export function paidBy({ amountOut, change }: Pick<OutgoingPayment, "amountOut" | "change">): bigint {
  return amountOut > change ? amountOut - change : 0n;
}

/** The fee of a payment in atomic units. */
export function feePaid({ amountIn, amountOut }: Pick<OutgoingPayment, "amountIn" | "amountOut">): bigint {
  return amountIn > amountOut ? amountIn - amountOut : 0n;
}

/** A call that spends, identified by its caller's key. */
export type IntentHead = {
  /** The caller's key; generated here if the caller sent none. */
  readonly key: string;
  /**
   * SHA-256 of the call's name and params, 32 bytes; empty if the caller sent no key, so that no call can repeat it.
   */
  readonly asked: Uint8Array;
  /** The call's name. */
  readonly method: string;
  /** Seconds since 1970. */
  readonly createdAt: number;
};

/**
 * The outcome of the call. `sending`: signed and stored, and sent again until it is final · `handedOut`: returned to
 * the caller, to sign or to send it · `refused`: the node rejected it, and this wallet never sends it again.
 * `txHashes`: ids (32 bytes) of what is signed, or, of a refused call, of transactions that may reach the network all
 * the same. `answer`: the compressed response, if the caller sent a key.
 */
export type IntentOutcome =
  | {
      readonly kind: "sending" | "handedOut";
      readonly txHashes: readonly Uint8Array[];
      readonly answer: Uint8Array | undefined;
    }
  | {
      readonly kind: "refused";
      readonly txHashes: readonly Uint8Array[];
      readonly refusal: RefusalKind;
      readonly message: string;
    };

/** `outcome` is undefined until the transactions are signed. */
export type Intent = IntentHead & { outcome: IntentOutcome | undefined };

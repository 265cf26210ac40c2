/**
 * A transfer is a value that goes through stages: planned (what is spent and paid), ringed (with decoys from the
 * node), signed (bytes to relay). Each stage is plain data, so it can wait, travel or be inspected.
 */
import type { RandomSource } from "@anulo/crypto";
import type { Transaction } from "@anulo/protocol";
import type { OwnedOutput, WalletKeys } from "../state.ts";

/** Members of every ring, the real output included. Source: blockchain.cpp, hard fork 15 on. */
export const RING_SIZE = 16;

export type FeeRate = {
  /** Atomic units per byte of weight. */
  readonly feePerByte: bigint;
  /** Fees are multiples of this many atomic units. */
  readonly quantizationMask: bigint;
};

/** Public keys (32 bytes each) that money goes to. */
export type Receiver = {
  readonly spendPublic: Uint8Array;
  readonly viewPublic: Uint8Array;
  readonly isSubaddress: boolean;
};

/** Someone who is paid. */
export type Destination = Receiver & {
  /** The text the caller gave. */
  readonly address: string;
  /** 8 bytes of an integrated address. */
  readonly paymentId: Uint8Array | undefined;
  /** Atomic units. */
  readonly amount: bigint;
  /** True where the fee, or a share of it, is taken from this amount. */
  readonly paysFee?: boolean;
  /** Among the destinations of the request. */
  readonly place?: number;
};

/** Amounts in atomic units; `inputs` are of one account; their sum is destinations + change + fee. */
export type PlannedTransaction = {
  readonly inputs: readonly OwnedOutput[];
  readonly destinations: readonly Destination[];
  readonly change: bigint;
  readonly fee: bigint;
};

/** An output in a ring: its global index, one-time key and commitment (32 bytes each). */
export type RingMember = {
  readonly globalIndex: number;
  readonly key: Uint8Array;
  readonly commitment: Uint8Array;
};

/** Members ascend by global index; `realIndex` is the place of the output that is spent. */
export type Ring = { readonly members: readonly RingMember[]; readonly realIndex: number };

/** An output to spend, and what hides it. */
export type Input = { readonly output: OwnedOutput; readonly ring: Ring };

/** The amount by which the chain lists an output: 0 for RingCT. */
export const listedAmount = ({ rct, amount }: OwnedOutput): bigint => (rct ? 0n : amount);

/** Who signs. `change`: address 0 of the paying account. */
export type Signer = {
  readonly keys: WalletKeys;
  readonly change: Receiver;
  readonly random: RandomSource;
};

/** `rings[i]` hides `inputs[i]`. */
export type RingedTransaction = PlannedTransaction & {
  readonly rings: readonly Ring[];
  /** 0: nodes relay nothing else. */
  readonly unlockTime: bigint;
  /** True for a transaction as before RingCT, its amounts for all to see. */
  readonly isVisible?: boolean;
};

/** Ready to relay. `txKeys`: secret transaction key r, then the additional ones (32 bytes each). */
export type SignedTransaction = RingedTransaction & {
  readonly transaction: Transaction;
  readonly blob: Uint8Array;
  readonly txHash: Uint8Array;
  readonly weight: number;
  readonly txKeys: readonly Uint8Array[];
};

/**
 * A transfer is a value that goes through stages: planned (inputs and outputs are chosen), ringed (with decoys from the
 * node), signed (bytes to relay). Each stage is plain data, so it can be stored, sent or inspected.
 */
import type { RandomSource } from "@anulo/crypto";
import type { Transaction } from "@anulo/protocol";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import type { SpendKeys } from "../state.ts";

/** Members of every ring, the real output included. Source: blockchain.cpp, hard fork 15 on. */
export const RING_SIZE = 16;

export type FeeRate = {
  /** Atomic units per byte of weight. */
  readonly feePerByte: bigint;
  /** Fees are multiples of this many atomic units. */
  readonly quantizationMask: bigint;
};

/** Public keys (32 bytes each) of the address that receives an output. */
export type Receiver = {
  readonly spendPublic: Uint8Array;
  readonly viewPublic: Uint8Array;
  readonly isSubaddress: boolean;
};

/** One recipient of a payment. */
export type Destination = Receiver & {
  /** The caller's text. */
  readonly address: string;
  /** 8 bytes of an integrated address. */
  readonly paymentId: Uint8Array | undefined;
  /** Atomic units. */
  readonly amount: bigint;
  /** True if the fee, or a share of it, is subtracted from this amount. */
  readonly paysFee?: boolean;
  /** Index among the destinations of the request. */
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

/** Members ascend by global index; `realIndex` is the index of the output that is spent. */
export type Ring = { readonly members: readonly RingMember[]; readonly realIndex: number };

/** An output to spend, and its ring. */
export type Input = { readonly output: OwnedOutput; readonly ring: Ring };

/** The amount by which the chain lists an output: 0 for RingCT. */
export const listedAmount = ({ rct, amount }: OwnedOutput): bigint => (rct ? 0n : amount);

/** The keys that sign. `change`: address 0 of the paying account. */
export type SigningKeys = {
  readonly keys: SpendKeys;
  readonly change: Receiver;
  readonly random: RandomSource;
};

/** `rings[i]` contains the output of `inputs[i]`. */
export type RingedTransaction = PlannedTransaction & {
  readonly rings: readonly Ring[];
  /** 0, since nodes relay no other unlock time. */
  readonly unlockTime: bigint;
  /** True for a transaction as before RingCT, with public amounts. */
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

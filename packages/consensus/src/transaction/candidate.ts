import type { KeyInput, Transaction } from "@anulo/protocol";
import type { ChainView } from "../chain-view.ts";
import type { WeightLimits } from "../weights.ts";

/** A transaction to judge, with the facts that were computed when it was read. */
export interface TransactionCandidate {
  transaction: Transaction;
  /** 32 bytes. */
  id: Uint8Array;
  /** `transactionWeight` (bytes). */
  weight: number;
}

/** The chain that a transaction is judged against, with facts derived once for many transactions. */
export interface ChainContext {
  chain: ChainView;
  limits: WeightLimits;
  /** Unix seconds. */
  now: number;
}

/** What decides whether outputs with an unlock time may be spent: the chain, and the clock (`now`, Unix seconds). */
export interface UnlockContext {
  readonly chain: Pick<ChainView, "height" | "hardForkVersion" | "recentTimestamps">;
  readonly now: number;
}

/** The inputs of a transaction whose input types were checked. */
export function keyInputs({ prefix }: Transaction): KeyInput[] {
  return prefix.inputs.filter((input): input is KeyInput => input.type === "key");
}

/** What a node answers about transactions, and what of it the checks of proofs read. */
import { commit, commitmentMask, decodeAmount, decodeMaskAndAmount, derivationToScalar } from "@anulo/crypto";
import {
  additionalPublicKeys,
  equalBytes,
  fromHex,
  parseExtra,
  readTransaction,
  type Transaction,
  toHex,
  transactionHash,
  txPublicKey,
} from "@anulo/protocol";
import { askNode, CallFailed } from "../rpc.ts";

/** The most a restricted node answers at once. */
export const TRANSACTIONS_PER_CALL = 100;

/** Lets the page draw and react between two pieces of work. */
export const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** A transaction in hex, and where the node says it is. */
export type NodeTransaction = {
  readonly hex: string;
  readonly inPool: boolean;
  /** Blocks from the one that has it on; 0 in the pool. */
  readonly confirmations: number;
};

/** The node's answers about transactions (64 hex digits each, each once), in their order. Throws where one is missing. */
export async function askTransactions(ids: readonly string[]): Promise<NodeTransaction[]> {
  const { txs = [] } = await askNode("/get_transactions", { txs_hashes: ids });
  if (txs.length !== ids.length) throw new CallFailed("This node knows no such transaction.");
  return txs.map((entry) => ({
    hex: entry.as_hex || entry.pruned_as_hex + entry.prunable_as_hex,
    inPool: entry.in_pool,
    confirmations: Number(entry.confirmations ?? 0),
  }));
}

/** The whole transaction in hex, from anybody, if it is the one with this id (64 hex digits). Throws otherwise. */
export function transactionOf(hex: string, txid: string): Transaction {
  const tx = readTransaction(fromHex(hex));
  if (toHex(transactionHash(tx)) !== txid.trim().toLowerCase())
    throw new Error("The node gave another transaction than the one asked for.");
  return tx;
}

/** Main public key first, then the additional ones. */
export function publicKeysOf({ prefix }: Transaction): Uint8Array[] {
  const fields = parseExtra(prefix.extra);
  const main = txPublicKey(fields);
  if (main === undefined) throw new Error("The transaction names no public key.");
  return [main, ...additionalPublicKeys(fields)];
}

/** Atomic units of output `index` under a derivation that fits it; 0 where they do not open its commitment. */
export function amountOf({ prefix, ringct }: Transaction, index: number, derivation: Uint8Array): bigint {
  if (prefix.version === 1 || ringct === undefined || ringct.type === 0) return prefix.outputs[index]!.amount;
  const info = ringct.ecdhInfo[index];
  const commitment = ringct.outputCommitments[index];
  if (info === undefined || commitment === undefined) return 0n;
  const amountKey = derivationToScalar(derivation, index);
  const opening =
    "mask" in info
      ? decodeMaskAndAmount(info, amountKey)
      : { mask: commitmentMask(amountKey), amount: decodeAmount(info.amount, amountKey) };
  return equalBytes(commit(opening.mask, opening.amount), commitment) ? opening.amount : 0n;
}

/** Requests the transactions and outputs of a proof from the node. Source: wallet2.cpp `get_pruned_tx`. */
import {
  absoluteOffsets,
  BadBytes,
  BadHex,
  equalBytes,
  fromHex,
  keyInputs,
  readTransaction,
  type Transaction,
  toHex,
  transactionHash,
} from "@anulo/protocol";
import { checked, type Daemon } from "../daemon.ts";
import { WalletRefusal } from "../refusal.ts";
import { proofRefusal } from "./text.ts";

/** A transaction with its position as the node reports it. */
export type FoundTransaction = {
  readonly txHash: Uint8Array;
  readonly transaction: Transaction;
  readonly inPool: boolean;
  /** Number of blocks from the containing one on; 0 in the pool. */
  readonly confirmations: number;
};

/** The node's response about a transaction. */
export type NodeAnswer = Pick<
  Awaited<ReturnType<Daemon["getTransactions"]>>["txs"][number],
  "as_hex" | "confirmations" | "in_pool" | "prunable_as_hex" | "prunable_hash" | "pruned_as_hex" | "tx_hash"
>;

/** Number of transactions per request: the maximum of a restricted node's response. */
export const TRANSACTIONS_PER_CALL = 100;

/**
 * Parses a whole or pruned transaction. The id of a pruned version 1 transaction cannot be verified: the node is
 * trusted, as in the original.
 */
function parseAnswer(answer: NodeAnswer): { transaction: Transaction; txHash: Uint8Array } {
  const whole = answer.as_hex || (answer.prunable_as_hex && answer.pruned_as_hex + answer.prunable_as_hex);
  if (whole !== "") {
    const transaction = readTransaction(fromHex(whole));
    return { transaction, txHash: transactionHash(transaction) };
  }
  const transaction = readTransaction(fromHex(answer.pruned_as_hex), { pruned: true });
  if (transaction.prefix.version === 1) return { transaction, txHash: fromHex(answer.tx_hash) };
  return { transaction, txHash: transactionHash(transaction, fromHex(answer.prunable_hash)) };
}

/** The transaction of a response, which must be the requested one (id, 32 bytes). Throws `WalletRefusal`. */
export function checkAnswer(answer: NodeAnswer, id: Uint8Array): FoundTransaction {
  try {
    const { transaction, txHash } = parseAnswer(answer);
    if (!equalBytes(txHash, id)) throw proofRefusal("Failed to get the right transaction from daemon");
    const confirmations = answer.in_pool ? 0 : (answer.confirmations ?? 0);
    return { txHash, transaction, inPool: answer.in_pool, confirmations };
  } catch (error) {
    if (error instanceof BadBytes || error instanceof BadHex)
      throw proofRefusal("Failed to parse transaction from daemon");
    throw error;
  }
}

/** The node's responses about transactions by id (hex, each once), in order. Throws `WalletRefusal`. */
export async function askTransactions(
  daemon: Daemon,
  txHashes: readonly string[],
): Promise<readonly NodeAnswer[]> {
  const { txs } = await daemon.getTransactions({ txs_hashes: [...txHashes], prune: true });
  if (txs.length !== txHashes.length) throw proofRefusal(FAILED);
  return txs;
}

/** Transactions by id (32 bytes each), in order; each is requested once. Throws `WalletRefusal`. */
export async function fetchTransactions(
  daemon: Daemon,
  txHashes: readonly Uint8Array[],
): Promise<FoundTransaction[]> {
  const transactions = new Map<string, FoundTransaction>();
  const ids = [...new Set(txHashes.map(toHex))];
  for (let at = 0; at < ids.length; at += TRANSACTIONS_PER_CALL) {
    const batch = ids.slice(at, at + TRANSACTIONS_PER_CALL);
    const answers = await askTransactions(daemon, batch);
    for (const [i, answer] of answers.entries())
      transactions.set(batch[i]!, checkAnswer(answer, fromHex(batch[i]!)));
  }
  return txHashes.map((txHash) => transactions.get(toHex(txHash))!);
}

/** The message if the node has no such transaction, or can't be reached. */
export const FAILED = "Failed to get transaction from daemon";

/** If the node can't be reached, callers receive code -1. Source: wallet_rpc_server.cpp `on_check_tx_proof`. */
export async function refuseWhenUnreachable<T>(response: Promise<T>, unreachable: string): Promise<T> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof WalletRefusal && error.kind === "NO_DAEMON_CONNECTION")
      throw proofRefusal(unreachable);
    throw error;
  }
}

/**
 * One transaction by id. `absent`, `unreachable`: the messages if the node doesn't have it, or can't be reached. Throws
 * `WalletRefusal`.
 */
export async function fetchTransaction(
  daemon: Daemon,
  txHash: Uint8Array,
  { absent, unreachable } = { absent: FAILED, unreachable: FAILED },
): Promise<FoundTransaction> {
  const response = daemon.getTransactions({ txs_hashes: [toHex(txHash)], prune: true });
  const { txs } = await refuseWhenUnreachable(response, unreachable);
  if (txs.length !== 1) throw proofRefusal(absent);
  return checkAnswer(txs[0]!, txHash);
}

/** One input: its key image and the one-time keys of its ring, 32 bytes each. */
export type RingOfInput = { readonly keyImage: Uint8Array; readonly keys: readonly Uint8Array[] };

/** Number of outputs per request. */
const OUTPUTS_PER_CALL = 1000;

/** Rings of all inputs that have one, in order. Throws `WalletRefusal`. */
export async function fetchRings(daemon: Daemon, { prefix }: Transaction): Promise<RingOfInput[]> {
  const inputs = keyInputs(prefix);
  const names = inputs.flatMap(({ amount, keyOffsets }) =>
    absoluteOffsets(keyOffsets).map((index) => ({ amount, index })),
  );
  const keys: Uint8Array[] = [];
  for (let at = 0; at < names.length; at += OUTPUTS_PER_CALL) {
    const outputs = names.slice(at, at + OUTPUTS_PER_CALL);
    const { outs } = await checked(daemon.client.getOutsBin({ outputs, get_txid: false }));
    if (outs.length !== outputs.length) {
      throw proofRefusal("daemon returned wrong response for get_outs.bin, wrong amounts count");
    }
    keys.push(...outs.map(({ key }) => key));
  }
  let next = 0;
  return inputs.map(({ keyImage, keyOffsets }) => {
    const ring = keys.slice(next, next + keyOffsets.length);
    next += keyOffsets.length;
    return { keyImage, keys: ring };
  });
}

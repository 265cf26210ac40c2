import {
  NULL_HASH,
  prunableHash,
  readTransaction,
  type Transaction,
  toHex,
  writePrunedTransaction,
} from "@anulo/protocol";
import type { StoredTransaction } from "@anulo/storage";
import type { PoolEntry } from "../pool/pool.ts";
import { transactionJson } from "./chain-json.ts";
import type { NodeContext } from "./context.ts";

/** A transaction of the chain or the pool, its bytes cut where the prunable part begins. */
export interface FoundTransaction {
  readonly pruned: Uint8Array;
  /** Empty where it was pruned. */
  readonly prunable: Uint8Array;
  /** 32 bytes. */
  readonly prunableHash: Uint8Array;
  readonly place: { readonly stored: StoredTransaction } | { readonly waiting: PoolEntry };
}

const NOTHING = new Uint8Array(0);

/** Finds a transaction by its id (32 bytes); a restricted port does not show what is not to be relayed. */
export function findTransaction(
  { parts, restricted }: NodeContext,
  id: Uint8Array,
): FoundTransaction | undefined {
  const { read } = parts.store;
  const stored = read.transaction(id);
  if (stored !== undefined) {
    const pruned = read.prunedTransaction(stored.id)!;
    const prunable = read.prunablePart(stored.id) ?? NOTHING;
    return { pruned, prunable, prunableHash: stored.prunableHash, place: { stored } };
  }
  const waiting = parts.pool.get(toHex(id));
  if (waiting === undefined || (restricted && waiting.row.doNotRelay)) return undefined;
  const { blob } = waiting.row;
  const transaction = readTransaction(blob);
  const pruned = writePrunedTransaction(transaction);
  const hash = transaction.prefix.version === 1 ? NULL_HASH : prunableHash(transaction);
  return { pruned, prunable: blob.subarray(pruned.length), prunableHash: hash, place: { waiting } };
}

interface EntryOptions {
  /** The id as the caller wrote it. */
  readonly text: string;
  readonly decode_as_json: boolean;
  readonly prune: boolean;
  readonly split: boolean;
}

/** An element of `txs`: whole in `as_hex`, or in two parts where asked for or where nothing is prunable. */
export function describeTransaction(context: NodeContext, found: FoundTransaction, options: EntryOptions) {
  const { pruned, prunable } = found;
  const { prune, split, decode_as_json, text } = options;
  const inParts = split || prune || prunable.length === 0;
  return {
    as_hex: inParts ? "" : toHex(pruned) + toHex(prunable),
    as_json: decode_as_json ? jsonOf(found, prune) : "",
    pruned_as_hex: inParts ? toHex(pruned) : "",
    prunable_as_hex: inParts && !prune ? toHex(prunable) : "",
    prunable_hash: toHex(found.prunableHash),
    tx_hash: text,
    ...describePlace(context, found),
  };
}

function jsonOf({ pruned, prunable }: FoundTransaction, prune: boolean): string {
  if (prune || prunable.length === 0) {
    return transactionJson(readTransaction(pruned, { pruned: true }), { pruned: true });
  }
  return transactionJson(wholeTransaction(pruned, prunable));
}

function wholeTransaction(pruned: Uint8Array, prunable: Uint8Array): Transaction {
  return readTransaction(Buffer.concat([pruned, prunable]));
}

function describePlace({ parts, restricted }: NodeContext, { place }: FoundTransaction) {
  const { read } = parts.store;
  if ("waiting" in place) {
    const { row } = place.waiting;
    return {
      in_pool: true,
      double_spend_seen: row.doubleSpendSeen,
      received_timestamp: restricted ? 0 : row.receiveTime,
      relayed: row.relayed,
    };
  }
  const { height, id } = place.stored;
  return {
    in_pool: false,
    double_spend_seen: false,
    block_height: height,
    block_timestamp: read.blockInfo(height)!.timestamp,
    confirmations: read.height() - height,
    output_indices: [...(read.outputIndices(id) ?? [])],
  };
}

import { keccak256 } from "@anulo/crypto";
import {
  describeTransaction,
  equalBytes,
  NULL_HASH,
  prunableHash,
  readTransaction,
  type Transaction,
  toHex,
  writePrunedTransaction,
} from "@anulo/protocol";
import { lasting, quoted } from "@anulo/rpc";
import type { ChainReader, StoredTransaction } from "@anulo/storage";
import { isPublic, type PoolEntry } from "../pool/entry.ts";
import type { ChainCallContext } from "./chain-call-context.ts";
import type { TransactionText } from "./transaction-text.ts";

/** Where a transaction was found. */
export type TransactionPlace = { readonly stored: StoredTransaction } | { readonly waiting: PoolEntry };

/** The bytes of a transaction, cut where the prunable part begins. */
interface TransactionBytes {
  readonly pruned: Uint8Array;
  /** Empty where it was pruned. */
  readonly prunable: Uint8Array;
  /** 32 bytes. */
  readonly prunableHash: Uint8Array;
}

const NOTHING = new Uint8Array(0);
const noText = quoted("");

/** Finds a transaction by its id (32 bytes); a restricted port shows none before everybody may know it. */
export function findTransaction(
  { parts, restricted }: ChainCallContext,
  id: Uint8Array,
): TransactionPlace | undefined {
  const stored = parts.store.read.transaction(id);
  if (stored !== undefined) return { stored };
  const waiting = parts.pool.get(toHex(id));
  return waiting === undefined || (restricted && !isPublic(waiting.row)) ? undefined : { waiting };
}

/** Of a prunable part of no bytes: those of miners from version 2 on. The original hashes even that. */
const hashOfNothing = keccak256();

function bytesOf(read: ChainReader, place: TransactionPlace): TransactionBytes {
  if ("stored" in place) {
    const { id, prunableHash: hash } = place.stored;
    const pruned = read.prunedTransaction(id)!;
    const hasNothing = pruned[0] !== 1 && equalBytes(hash, NULL_HASH);
    return {
      pruned,
      prunable: hasNothing ? NOTHING : (read.prunablePart(id) ?? NOTHING),
      prunableHash: hasNothing ? hashOfNothing : hash,
    };
  }
  const { blob } = place.waiting.row;
  const transaction = readTransaction(blob);
  const pruned = writePrunedTransaction(transaction);
  const hash = transaction.prefix.version === 1 ? NULL_HASH : prunableHash(transaction);
  return { pruned, prunable: blob.subarray(pruned.length), prunableHash: hash };
}

interface EntryOptions {
  /** The id as the caller wrote it. */
  readonly text: string;
  readonly decode_as_json: boolean;
  readonly prune: boolean;
  readonly split: boolean;
}

/** Whole in `as_hex`, or in two parts if requested or if nothing is prunable. */
function transactionText(transactionBytes: TransactionBytes, options: EntryOptions): TransactionText {
  const { pruned, prunable, prunableHash: hash } = transactionBytes;
  const { prune, split, decode_as_json, text } = options;
  const inParts = split || prune || prunable.length === 0;
  const fields = {
    as_hex: inParts ? NOTHING : Buffer.concat([pruned, prunable]),
    as_json: decode_as_json ? quoted(jsonOf(transactionBytes, prune)) : noText,
    pruned_as_hex: inParts ? pruned : NOTHING,
    prunable_as_hex: inParts && !prune ? prunable : NOTHING,
    prunable_hash: hash,
    tx_hash: text,
  };
  // Remembered are the bytes, and the template of the entry, in which they are hexadecimal digits.
  const templateBytes = 2 * (pruned.length + prunable.length) + fields.as_json.json.length;
  const bytes = 1000 + pruned.length + prunable.length + 2 * fields.as_json.json.length + templateBytes;
  return { fields, isRemembered: prunable.length > 0, bytes };
}

/** An element of `txs`. */
export function transactionEntry(context: ChainCallContext, place: TransactionPlace, options: EntryOptions) {
  const { fields, isRemembered } = knownText(context, place, options);
  const where = describePlace(context, place);
  return { fields, entry: isRemembered ? lasting(fields, where) : Object.assign({}, fields, where) };
}

/** What is prunable may be dropped and come back: only texts of whole transactions are remembered. */
function knownText(
  { memory, parts }: ChainCallContext,
  place: TransactionPlace,
  options: EntryOptions,
): TransactionText {
  const { text, decode_as_json, prune, split } = options;
  const key = `${text}${decode_as_json ? "j" : ""}${prune ? "p" : ""}${split ? "s" : ""}`;
  const cached = memory.transactions.get(key);
  if (cached !== undefined) return cached;
  const entry = transactionText(bytesOf(parts.store.read, place), options);
  if (entry.isRemembered) memory.transactions.set(key, entry);
  return entry;
}

function jsonOf({ pruned, prunable }: TransactionBytes, prune: boolean): string {
  if (prune || prunable.length === 0) {
    return describeTransaction(readTransaction(pruned, { pruned: true }));
  }
  return describeTransaction(wholeTransaction(pruned, prunable));
}

function wholeTransaction(pruned: Uint8Array, prunable: Uint8Array): Transaction {
  return readTransaction(Buffer.concat([pruned, prunable]));
}

function describePlace({ parts, restricted }: ChainCallContext, place: TransactionPlace) {
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
    block_timestamp: read.blockField(height, "timestamp")!,
    confirmations: parts.state.view().height - height,
    output_indices: read.outputIndices(id) ?? [],
  };
}

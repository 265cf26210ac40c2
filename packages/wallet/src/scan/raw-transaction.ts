/** Transactions as a node returns them, before they are scanned. */
import { readBlock, readTransaction, type Transaction, writeTransaction } from "@anulo/protocol";
import { fullTransactionSize } from "./transaction-size.ts";

/** Where a transaction's bytes are: in a blob of its own, or in the block of which it is the coinbase. */
export const transactionForms = ["whole", "pruned", "miner"] as const;

export type TransactionBytes = {
  readonly form: (typeof transactionForms)[number];
  readonly blob: Uint8Array;
  /** The transaction, if it has been parsed already. */
  readonly read?: Transaction | undefined;
};

/** A transaction of a block or of the pool, before scanning. Survives structured cloning. */
export type RawTransaction = TransactionBytes & {
  readonly txHash: Uint8Array;
  /** Global indices by output; empty if they are not known. */
  readonly globalIndices: readonly number[];
  readonly coinbase: boolean;
  readonly height: number;
  readonly timestamp: number;
  /** Hard fork version of the block. */
  readonly blockVersion: number;
};

/** Returns the parsed transaction. Throws `BadBytes`. */
export function transactionOf({ form, blob, read }: TransactionBytes): Transaction {
  if (read !== undefined) return read;
  if (form === "miner") return readBlock(blob).minerTransaction;
  return readTransaction(blob, { pruned: form === "pruned" });
}

/** Size in bytes of the whole transaction; 0 if it is not known. */
export function sizeOf({ form, blob }: TransactionBytes, transaction: Transaction): number {
  if (form === "miner") return writeTransaction(transaction).length;
  return form === "pruned" ? fullTransactionSize(transaction, blob.length) : blob.length;
}

/** The bytes of many transactions, packed for other threads: all of them read the same memory. */
export type PackedTransactions = {
  /** Indices in `transactionForms`. */
  readonly forms: Uint8Array;
  readonly lengths: Uint32Array;
  readonly bytes: Uint8Array<SharedArrayBuffer>;
};

export function packTransactions(transactions: readonly TransactionBytes[]): PackedTransactions {
  const forms = Uint8Array.from(transactions, ({ form }) => transactionForms.indexOf(form));
  const lengths = Uint32Array.from(transactions, ({ blob }) => blob.length);
  const bytes = new Uint8Array(new SharedArrayBuffer(lengths.reduce((sum, length) => sum + length, 0)));
  let at = 0;
  for (const { blob } of transactions) {
    bytes.set(blob, at);
    at += blob.length;
  }
  return { forms, lengths, bytes };
}

export function unpackTransactions({ forms, lengths, bytes }: PackedTransactions): TransactionBytes[] {
  let at = 0;
  return Array.from(lengths, (length, i) => {
    at += length;
    return { form: transactionForms[forms[i]!]!, blob: bytes.subarray(at - length, at) };
  });
}

import { keccak256 } from "@anulo/crypto";
import { Reader } from "./codec/bytes-io.ts";
import { readBulletproofs, readPrunable, ringCtBase, ringCtTypes } from "./ringct.ts";
import {
  hashablePrefix,
  isExpandable,
  ringCtShape,
  ringSignatures,
  type Transaction,
  type TransactionPrefix,
} from "./transaction.ts";
import { NULL_HASH } from "./transaction-hash.ts";
import { transactionWeight, weightWithProofs } from "./weight.ts";

/** A transaction with the facts that follow from its bytes. */
export type IdentifiedTransaction = {
  readonly transaction: Transaction;
  /** 32 bytes. */
  readonly id: Uint8Array;
  /** Bytes. */
  readonly weight: number;
  /** Its bytes. */
  readonly blob: Uint8Array;
  /** Number of its bytes that remain when it is pruned. */
  readonly prunedSize: number;
  /** Hash (32 bytes) of the other bytes; zero if there are none, and for version 1. */
  readonly prunableHash: Uint8Array;
};

export type ReadTransactionOptions = {
  /**
   * If false, signatures and range proofs are hashed, but not parsed, as if the transaction were pruned. By default
   * they are parsed.
   */
  readonly withProofs?: boolean;
  /** If true, the result refers to the bytes passed, which must not change; by default to a copy. */
  readonly inPlace?: boolean;
};

/**
 * Parses a transaction of exactly these bytes, and computes its id from the bytes: each part has only one encoding, so
 * nothing need be serialized again. Throws `BadBytes`; of the parts that are not parsed only the size is checked.
 */
export function readIdentifiedTransaction(
  blob: Uint8Array,
  options: ReadTransactionOptions = {},
): IdentifiedTransaction {
  const { withProofs: isWhole = true, inPlace = false } = options;
  const reader = new Reader(inPlace ? blob : new Uint8Array(blob));
  const prefix = hashablePrefix.read(reader);
  const read = prefix.version === 1 ? readFirstVersion : readSecondVersion;
  const identified = read(reader, prefix, isWhole);
  if (isWhole && reader.remaining !== 0) throw reader.bad(`${reader.remaining} bytes left over`);
  if (!isExpandable(identified.transaction, !isWhole))
    throw reader.bad("RingCT part does not fit the outputs");
  return identified;
}

function readFirstVersion(
  reader: Reader,
  prefix: TransactionPrefix,
  isWhole: boolean,
): IdentifiedTransaction {
  const prunedSize = reader.position;
  const signatures = isWhole ? ringSignatures(prefix.inputs).read(reader) : [];
  const transaction = { prefix, signatures, ringct: undefined };
  const { bytes } = reader;
  return {
    transaction,
    id: keccak256(bytes),
    weight: bytes.length,
    blob: bytes,
    prunedSize,
    prunableHash: NULL_HASH,
  };
}

function readSecondVersion(
  reader: Reader,
  prefix: TransactionPrefix,
  isWhole: boolean,
): IdentifiedTransaction {
  const { bytes, position: prefixEnd } = reader;
  const shape = ringCtShape(prefix);
  const base = ringCtBase(shape).read(reader);
  const prunedSize = reader.position;
  const isPlain = base.type === ringCtTypes.none;
  if (isPlain && reader.remaining !== 0) throw reader.bad(`${reader.remaining} bytes left over`);
  const ringct = isWhole ? readPrunable(reader, shape, base) : base;
  const transaction = { prefix, signatures: [], ringct };
  const weight = isWhole
    ? transactionWeight(transaction, bytes.length)
    : weightWithProofs(transaction, bytes.length, isPlain ? [] : readBulletproofs(reader, shape, base.type));
  const prunableHash = isPlain ? NULL_HASH : keccak256(bytes.subarray(prunedSize));
  const parts = [bytes.subarray(0, prefixEnd), bytes.subarray(prefixEnd, prunedSize)].map((part) =>
    keccak256(part),
  );
  return {
    transaction,
    id: keccak256(...parts, prunableHash),
    weight,
    blob: bytes,
    prunedSize,
    prunableHash,
  };
}

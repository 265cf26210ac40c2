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

/** A transaction with what follows from its bytes as they are. */
export type IdentifiedTransaction = {
  readonly transaction: Transaction;
  /** 32 bytes. */
  readonly id: Uint8Array;
  /** Bytes. */
  readonly weight: number;
  /** Its bytes. */
  readonly blob: Uint8Array;
  /** How many of its bytes stay when it is pruned. */
  readonly prunedSize: number;
  /** Hash (32 bytes) of the others; zero where there are none, and of version 1. */
  readonly prunableHash: Uint8Array;
};

export type ReadTransactionOptions = {
  /** False: signatures and range proofs are hashed, but not read, as if it were pruned. By default they are. */
  readonly withProofs?: boolean;
  /** True: what is read refers to the bytes given, which must stay as they are; by default to a copy. */
  readonly inPlace?: boolean;
};

/**
 * A transaction of exactly these bytes, its id by the bytes themselves: each part has one spelling
 * only, so nothing need be written again. Throws `BadBytes`; for what is not read only where its size counts.
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

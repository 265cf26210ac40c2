import { keccak256 } from "@anulo/crypto";
import { Writer } from "./codec/bytes-io.ts";
import { encode } from "./codec/wire.ts";
import type { ConfidentialRingCt, RingCt, RingCtPrunable } from "./ringct.ts";
import { ringCtBase, ringCtTypes, writePrunable } from "./ringct.ts";
import type { Transaction } from "./transaction.ts";
import { ringCtShape, transactionPrefix, writeTransaction } from "./transaction.ts";

/** 32 zero bytes, used where there is nothing to hash. */
export const NULL_HASH: Uint8Array = new Uint8Array(32);

/** Hash (32 bytes) of a transaction's prefix. */
export function transactionPrefixHash({ prefix }: Pick<Transaction, "prefix">): Uint8Array {
  return keccak256(encode(transactionPrefix, prefix));
}

function ringCtOf({ ringct }: Transaction): RingCt {
  if (ringct === undefined) throw new RangeError("a version 1 transaction has no RingCT part");
  return ringct;
}

function baseHash(tx: Transaction): Uint8Array {
  return keccak256(encode(ringCtBase(ringCtShape(tx.prefix)), ringCtOf(tx)));
}

/**
 * The bytes that a pruned version 2 transaction does not have: proofs and signatures. Throws `RangeError` for version
 * 1.
 */
export function writePrunablePart(tx: Transaction): Uint8Array {
  const writer = new Writer(2048);
  writePrunable(writer, ringCtShape(tx.prefix), ringCtOf(tx));
  return writer.finish();
}

/** Hash (32 bytes) of the prunable part; zero if there is none (RingCT type 0). Throws `RangeError` for version 1. */
export function prunableHash(tx: Transaction): Uint8Array {
  return ringCtOf(tx).type === ringCtTypes.none ? NULL_HASH : keccak256(writePrunablePart(tx));
}

/**
 * Id (32 bytes) of a transaction; for a pruned one the hash of its prunable part is needed. Version 1 hashes all bytes,
 * version 2 the hashes of prefix, RingCT base and prunable part. Source: cryptonote_format_utils.cpp
 * `calculate_transaction_hash`, `get_pruned_transaction_hash`.
 */
export function transactionHash(tx: Transaction, hashOfPrunable?: Uint8Array): Uint8Array {
  if (tx.prefix.version === 1) return keccak256(writeTransaction(tx));
  const isPlain = ringCtOf(tx).type === ringCtTypes.none;
  const last = isPlain ? NULL_HASH : (hashOfPrunable ?? prunableHash(tx));
  return keccak256(transactionPrefixHash(tx), baseHash(tx), last);
}

function rangeProofParts(type: ConfidentialRingCt["type"], prunable: RingCtPrunable): Uint8Array[] {
  if (type === ringCtTypes.bulletproofPlus) {
    return prunable.bulletproofsPlus.flatMap(({ A, A1, B, r1, s1, d1, L, R }) => [
      A,
      A1,
      B,
      r1,
      s1,
      d1,
      ...L,
      ...R,
    ]);
  }
  if (type >= ringCtTypes.bulletproof) {
    return prunable.bulletproofs.flatMap(({ A, S, T1, T2, taux, mu, L, R, a, b, t }) => [
      ...[A, S, T1, T2, taux, mu],
      ...L,
      ...R,
      ...[a, b, t],
    ]);
  }
  return prunable.rangeSigs.flatMap(({ s0, s1, ee, Ci }) => [s0, s1, ee, Ci]);
}

/**
 * The message (32 bytes) that the input signatures of a version 2 transaction sign. Source: rctSigs.cpp
 * `get_pre_mlsag_hash`.
 */
export function ringCtMessage(tx: Transaction): Uint8Array {
  const ringct = ringCtOf(tx);
  if (ringct.type === ringCtTypes.none) throw new RangeError("nothing is signed in RingCT type 0");
  if (ringct.prunable === undefined) throw new RangeError("this transaction has been pruned");
  const proofs = keccak256(...rangeProofParts(ringct.type, ringct.prunable));
  return keccak256(transactionPrefixHash(tx), baseHash(tx), proofs);
}

import { createHash } from "node:crypto";
import { publicKeyBatch, scReduce32 } from "@anulo/crypto";
import {
  prunableHash,
  type Transaction,
  transactionHash,
  transactionWeight,
  writePrunedTransaction,
  writeTransaction,
} from "@anulo/protocol";
import type { NewTransaction } from "@anulo/storage";

/** A payment as the store takes it, with what its block's miner needs to know. */
export interface MadeUpPayment {
  readonly row: NewTransaction;
  /** Bytes. */
  readonly weight: number;
  /** Atomic units. */
  readonly fee: bigint;
}

interface Shape {
  readonly inputs: number;
  readonly outputs: number;
  /** Of a thousand payments. */
  readonly share: number;
}

/** Most payments spend one or two outputs and make two; services pay many at once, and gather what they were paid. */
const shapes: readonly Shape[] = [
  { inputs: 1, outputs: 2, share: 330 },
  { inputs: 2, outputs: 2, share: 480 },
  { inputs: 3, outputs: 2, share: 70 },
  { inputs: 4, outputs: 2, share: 30 },
  { inputs: 8, outputs: 2, share: 20 },
  { inputs: 1, outputs: 4, share: 30 },
  { inputs: 2, outputs: 16, share: 30 },
  { inputs: 40, outputs: 2, share: 10 },
];

const RING_SIZE = 16;
const FEE_PER_BYTE = 20_000n;
const EXTRA_BYTES = 44;

/** Bytes that look random and follow from the label alone. */
function randomBytes(label: string, length: number): Uint8Array {
  return new Uint8Array(createHash("shake256", { outputLength: length }).update(label).digest());
}

/** A key that a wallet can derive from, which half of random bytes are not. */
export function publicKeyOf(seed: Uint8Array): Uint8Array {
  return publicKeyBatch(scReduce32(seed));
}

function* keysOf(bytes: Uint8Array): Generator<Uint8Array, never> {
  for (let at = 0; at + 32 <= bytes.length; at += 32) yield bytes.slice(at, at + 32);
  throw new RangeError("too few random bytes");
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}

/** A shape with what all its payments share: their proofs, which nobody checks, are the same. */
interface Mould extends Shape {
  readonly transaction: Transaction;
  readonly prunable: Uint8Array;
  readonly prunableHash: Uint8Array;
  readonly weight: number;
}

function mouldOf(shape: Shape): Mould {
  const { inputs, outputs } = shape;
  const rounds = 6 + Math.ceil(Math.log2(outputs));
  const clsagKeys = RING_SIZE + 2;
  const next = keysOf(randomBytes(`proofs ${inputs} ${outputs}`, 32 * (inputs * (clsagKeys + 3) + 100)));
  const take = () => next.next().value;
  const rangeProof = { A: take(), A1: take(), B: take(), r1: take(), s1: take(), d1: take() };
  const halves = { L: times(rounds, take), R: times(rounds, take) };
  const transaction: Transaction = {
    prefix: {
      version: 2,
      unlockTime: 0n,
      inputs: times(inputs, () => ({
        type: "key",
        amount: 0n,
        keyOffsets: offsets(take()),
        keyImage: take(),
      })),
      outputs: times(outputs, () => ({ amount: 0n, target: { type: "taggedKey", key: take(), viewTag: 0 } })),
      extra: new Uint8Array(EXTRA_BYTES),
    },
    signatures: [],
    ringct: {
      type: 6,
      fee: 0n,
      pseudoOuts: times(inputs, take),
      ecdhInfo: times(outputs, () => ({ amount: take().slice(0, 8) })),
      outputCommitments: times(outputs, take),
      prunable: {
        rangeSigs: [],
        mgs: [],
        bulletproofs: [],
        bulletproofsPlus: [{ ...rangeProof, ...halves }],
        clsags: times(inputs, () => ({ s: times(RING_SIZE, take), c1: take(), D: take() })),
      },
    },
  };
  const pruned = writePrunedTransaction(transaction);
  const prunable = writeTransaction(transaction).subarray(pruned.length);
  return {
    ...shape,
    transaction,
    prunable,
    prunableHash: prunableHash(transaction),
    weight: transactionWeight(transaction),
  };
}

/** Distances to the ring members as of a chain with many outputs: two or three bytes each. */
function offsets(key: Uint8Array): bigint[] {
  return Array.from(key.subarray(0, RING_SIZE), (byte) => 1n + BigInt(byte * byte * 40));
}

/** Makes payments whose keys and key images are as many and as random as real ones, and whose proofs are none. */
export function createMadeUpPayments(): (label: string) => MadeUpPayment {
  const moulds = shapes.map(mouldOf);
  return (label) => {
    const [high = 0, low = 0] = randomBytes(`${label} shape`, 2);
    const mould = chooseMould(moulds, (high * 256 + low) % 1000);
    return paymentOf(mould, keysOf(randomBytes(label, 32 * 2 * (mould.inputs + mould.outputs + 1))));
  };
}

function chooseMould(moulds: readonly Mould[], lot: number): Mould {
  let remaining = lot;
  for (const mould of moulds) {
    if (remaining < mould.share) return mould;
    remaining -= mould.share;
  }
  return moulds[0]!;
}

function paymentOf(mould: Mould, next: Generator<Uint8Array, never>): MadeUpPayment {
  const { transaction, prunable } = mould;
  const take = () => next.next().value;
  const { prefix, ringct } = transaction;
  if (ringct === undefined || ringct.type === 0) throw new Error("a payment hides its amounts");
  const keyImages = times(mould.inputs, take);
  const outputs = times(mould.outputs, () => ({ amount: 0n, key: take(), commitment: take() }));
  const extra = prefix.extra.slice();
  extra.set([1, ...publicKeyOf(take()), 2, 9, 1, ...take().subarray(0, 8)]);
  const fee = FEE_PER_BYTE * BigInt(mould.weight);
  const payment: Transaction = {
    prefix: {
      ...prefix,
      inputs: keyImages.map((keyImage) => ({
        type: "key",
        amount: 0n,
        keyOffsets: offsets(take()),
        keyImage,
      })),
      outputs: outputs.map(({ key }) => ({
        amount: 0n,
        target: { type: "taggedKey", key, viewTag: key[0]! },
      })),
      extra,
    },
    signatures: [],
    ringct: { ...ringct, fee, outputCommitments: outputs.map(({ commitment }) => commitment) },
  };
  const pruned = writePrunedTransaction(payment);
  const row: NewTransaction = {
    hash: transactionHash(payment, mould.prunableHash),
    pruned,
    prunable,
    prunableHash: mould.prunableHash,
    unlockTime: 0n,
    outputs,
    keyImages,
  };
  return { row, weight: transactionWeight(payment, pruned.length + prunable.length), fee };
}

import { createHash } from "node:crypto";
import {
  type Block,
  type Transaction,
  writeBlock,
  writePrunedTransaction,
  writeTransaction,
} from "@anulo/protocol";
import type { NewBlock, NewTransaction } from "@anulo/storage";

/** Of which shape the blocks are. */
export interface BlockShape {
  /** Outputs of a block, the miner's among them; the others come in payments of two. */
  readonly outputsPerBlock: number;
  /** Blocks from this height on keep proofs (of zeros): they are taken off and come back. */
  readonly wholeFrom: number;
  /** Unix seconds of the first block. */
  readonly startTime: number;
}

const BLOCK_SECONDS = 120;
const RING_SIZE = 16;
const INPUTS = 2;
const ROUNDS = 7;
/** What a payment of this shape weighs on mainnet, in bytes. */
const PAYMENT_WEIGHT = 2200;
const MINER_WEIGHT = 100;
const zeros = new Uint8Array(32);

/** Bytes that look random and depend on the label alone. */
function randomOf(label: string, length: number): Buffer {
  return createHash("shake256", { outputLength: length }).update(label).digest();
}

function* pieces(bytes: Buffer): Generator<Buffer, Buffer> {
  for (let at = 0; at + 32 <= bytes.length; at += 32) yield bytes.subarray(at, at + 32);
  throw new RangeError("too few random bytes");
}

const fakeClsag = { s: Array.from({ length: RING_SIZE }, () => zeros), c1: zeros, D: zeros };
const halves = Array.from({ length: ROUNDS }, () => zeros);
const fakeRangeProof = {
  A: zeros,
  A1: zeros,
  B: zeros,
  r1: zeros,
  s1: zeros,
  d1: zeros,
  L: halves,
  R: halves,
};
const fakeProofs = {
  rangeSigs: [],
  mgs: [],
  bulletproofs: [],
  bulletproofsPlus: [fakeRangeProof],
  clsags: [fakeClsag, fakeClsag],
};

/** A payment's bytes, and where in them stand its two key images, two output keys, two commitments and its public key. */
interface Template {
  readonly pruned: Uint8Array;
  readonly prunable: Uint8Array;
  readonly places: readonly number[];
}

/** A payment of two inputs and two outputs, as nearly all are, whose proofs are zeros. */
function makeTemplate(): Template {
  const next = pieces(randomOf("template", 8 * 32));
  const take = () => new Uint8Array(next.next().value);
  const ring = take();
  const keyOffsets = Array.from(ring.subarray(0, RING_SIZE), (byte) => BigInt(1 + byte * byte));
  const keyImages = Array.from({ length: INPUTS }, take);
  const keys = [take(), take()];
  const commitments = [take(), take()];
  const publicKey = take();
  const transaction: Transaction = {
    prefix: {
      version: 2,
      unlockTime: 0n,
      inputs: keyImages.map((keyImage) => ({ type: "key", amount: 0n, keyOffsets, keyImage })),
      outputs: keys.map((key) => ({ amount: 0n, target: { type: "taggedKey", key, viewTag: 0 } })),
      extra: Uint8Array.from([1, ...publicKey, 2, 9, 1, ...new Uint8Array(8)]),
    },
    signatures: [],
    ringct: {
      type: 6,
      fee: 44_000_000n,
      pseudoOuts: [zeros, zeros],
      ecdhInfo: keys.map(() => ({ amount: ring.subarray(0, 8) })),
      outputCommitments: commitments,
      prunable: fakeProofs,
    },
  };
  const pruned = writePrunedTransaction(transaction);
  const places = [...keyImages, ...keys, ...commitments, publicKey].map((piece) =>
    Buffer.from(pruned).indexOf(piece),
  );
  return { pruned, prunable: writeTransaction(transaction).subarray(pruned.length), places };
}

/** A payment with keys of its own; the rest of its bytes are the template's. */
function payment({ pruned, prunable, places }: Template, label: string, isWhole: boolean): NewTransaction {
  const random = randomOf(label, (places.length + 2) * 32);
  const piece = (index: number): Uint8Array => random.subarray(32 * index, 32 * index + 32);
  const bytes = new Uint8Array(pruned);
  for (const [index, place] of places.entries()) bytes.set(piece(index), place);
  return {
    hash: piece(places.length),
    pruned: bytes,
    prunable: isWhole ? prunable : zeros.subarray(0, 0),
    prunableHash: piece(places.length + 1),
    unlockTime: 0n,
    outputs: [0, 1].map((i) => ({ amount: 0n, key: piece(2 + i), commitment: piece(4 + i) })),
    keyImages: [piece(0), piece(1)],
  };
}

function minerTransaction(height: number, label: string): { transaction: Transaction; row: NewTransaction } {
  const next = pieces(randomOf(label, 4 * 32));
  const take = () => new Uint8Array(next.next().value);
  const [key, commitment, hash] = [take(), take(), take()];
  const unlockTime = BigInt(height + 60);
  const transaction: Transaction = {
    prefix: {
      version: 2,
      unlockTime,
      inputs: [{ type: "generation", height }],
      outputs: [{ amount: 600_000_000_000n, target: { type: "taggedKey", key, viewTag: 0 } }],
      extra: Uint8Array.from([1, ...key]),
    },
    signatures: [],
    ringct: { type: 0 },
  };
  const outputs = [{ amount: 0n, key, commitment }];
  const pruned = writePrunedTransaction(transaction);
  const rest = { prunable: new Uint8Array(0), prunableHash: zeros, unlockTime, keyImages: [] };
  return { transaction, row: { hash, pruned, outputs, ...rest } };
}

/** The id (32 bytes) of the made-up block at a height. */
function idOf(height: number): Uint8Array {
  return height < 0 ? zeros : new Uint8Array(randomOf(`block ${height}`, 32));
}

const template = makeTemplate();

/**
 * A made-up block with rows of the sizes that mainnet's have and keys as random as there: its ids are no hashes and
 * its proofs left out, which a database neither knows nor needs to.
 */
export function fakeBlock(height: number, { outputsPerBlock, wholeFrom, startTime }: BlockShape): NewBlock {
  const miner = minerTransaction(height, `miner ${height}`);
  const count = Math.round((outputsPerBlock - 1) / 2);
  const payments = Array.from({ length: count }, (_, i) =>
    payment(template, `${height} ${i}`, height >= wholeFrom),
  );
  const block: Block = {
    header: {
      majorVersion: 16,
      minorVersion: 16,
      timestamp: startTime + height * BLOCK_SECONDS,
      previousId: idOf(height - 1),
      nonce: height,
    },
    minerTransaction: miner.transaction,
    transactionHashes: payments.map(({ hash }) => new Uint8Array(hash)),
  };
  const weight = MINER_WEIGHT + count * PAYMENT_WEIGHT;
  return {
    hash: idOf(height),
    blob: writeBlock(block),
    timestamp: block.header.timestamp,
    weight,
    longTermWeight: Math.max(weight, 176_470),
    cumulativeDifficulty: BigInt(height + 1),
    alreadyGenerated: 18_000_000_000_000_000_000n,
    hardForkVersion: 16,
    minorVersion: 16,
    transactions: [miner.row, ...payments],
  };
}

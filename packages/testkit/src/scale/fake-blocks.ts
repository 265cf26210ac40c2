import {
  type Block,
  type Transaction,
  writeBlock,
  writePrunedTransaction,
  writeTransaction,
} from "@anulo/protocol";
import type { NewBlock, NewTransaction, SortedRows } from "@anulo/storage";
import { fillRandom, MadeUpKeys } from "./made-up-keys.ts";

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
const HASH_BYTES = 32;
const zeros = new Uint8Array(HASH_BYTES);

/** What keys and ids are made of, so that no two kinds are alike. */
const labels = { template: 1, blocks: 2, transactions: 3, keyImages: 4, payments: 5, miners: 6 };

/** Random bytes that follow from a kind and a number. */
function randomOf(label: number, index: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  fillRandom(bytes, label, index);
  return bytes;
}

const pieceOf = (bytes: Uint8Array, index: number): Uint8Array =>
  new Uint8Array(bytes.buffer, HASH_BYTES * index, HASH_BYTES);

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
  let counter = 0;
  const take = () => randomOf(labels.template, counter++, HASH_BYTES);
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

/** What one payment of a chain does not share with the others. */
interface PaymentFacts {
  readonly number: number;
  readonly hash: Uint8Array;
  readonly keyImages: readonly Uint8Array[];
  readonly isWhole: boolean;
}

/** A payment with keys of its own; the rest of its bytes are the template's. */
function payment({ pruned, prunable, places }: Template, facts: PaymentFacts): NewTransaction {
  const { number, hash, keyImages, isWhole } = facts;
  const random = randomOf(labels.payments, number, (places.length - INPUTS + 1) * HASH_BYTES);
  const own = [...keyImages, ...places.slice(INPUTS).map((_, i) => pieceOf(random, i))];
  const bytes = new Uint8Array(pruned);
  for (const [index, place] of places.entries()) bytes.set(own[index]!, place);
  return {
    hash,
    pruned: bytes,
    prunable: isWhole ? prunable : zeros.subarray(0, 0),
    prunableHash: pieceOf(random, places.length - INPUTS),
    unlockTime: 0n,
    outputs: [0, 1].map((i) => ({ amount: 0n, key: own[INPUTS + i]!, commitment: own[INPUTS + 2 + i]! })),
    keyImages,
  };
}

function minerTransaction(
  height: number,
  hash: Uint8Array,
): { transaction: Transaction; row: NewTransaction } {
  const random = randomOf(labels.miners, height, 2 * HASH_BYTES);
  const [key, commitment] = [pieceOf(random, 0), pieceOf(random, 1)];
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

const template = makeTemplate();

/** A made-up chain: its blocks, and their ids and key images in order. */
export interface FakeChain {
  block(height: number): NewBlock;
  blocks(): Generator<NewBlock>;
  readonly sorted: SortedRows;
}

/**
 * Blocks with rows of the sizes that mainnet's have and keys as random as there: ids are no hashes and proofs are left
 * out, which a database neither knows nor needs to.
 */
export function createFakeChain(shape: BlockShape, length: number): FakeChain {
  const { outputsPerBlock, wholeFrom, startTime } = shape;
  const payments = Math.round((outputsPerBlock - 1) / 2);
  const ids = new MadeUpKeys(labels.blocks, length);
  const transactionIds = new MadeUpKeys(labels.transactions, length * (payments + 1));
  const images = new MadeUpKeys(labels.keyImages, length * payments * INPUTS);
  const weight = MINER_WEIGHT + payments * PAYMENT_WEIGHT;
  const factsOf = (height: number, index: number): PaymentFacts => {
    const number = height * payments + index;
    return {
      number,
      hash: transactionIds.key(height * (payments + 1) + 1 + index),
      keyImages: [images.key(INPUTS * number), images.key(INPUTS * number + 1)],
      isWhole: height >= wholeFrom,
    };
  };
  const block = (height: number): NewBlock => {
    const miner = minerTransaction(height, transactionIds.key(height * (payments + 1)));
    const paid = Array.from({ length: payments }, (_, index) => payment(template, factsOf(height, index)));
    const timestamp = startTime + height * BLOCK_SECONDS;
    const wholeBlock: Block = {
      header: {
        majorVersion: 16,
        minorVersion: 16,
        timestamp,
        previousId: height === 0 ? zeros : ids.key(height - 1),
        nonce: height,
      },
      minerTransaction: miner.transaction,
      transactionHashes: paid.map(({ hash }) => hash),
    };
    return {
      hash: ids.key(height),
      blob: writeBlock(wholeBlock),
      timestamp,
      weight,
      longTermWeight: Math.max(weight, 176_470),
      cumulativeDifficulty: BigInt(height + 1),
      alreadyGenerated: 18_000_000_000_000_000_000n,
      hardForkVersion: 16,
      minorVersion: 16,
      transactions: [miner.row, ...paid],
    };
  };
  return {
    block,
    *blocks() {
      for (let height = 0; height < length; height++) yield block(height);
    },
    sorted: {
      heights: ids.ascending(),
      transactionIds: transactionIds.ascending(),
      keyImages: (function* () {
        for (const [image] of images.ascending()) yield image;
      })(),
    },
  };
}

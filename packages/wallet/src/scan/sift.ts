/**
 * The first half of scanning: what the view key alone tells of transactions. It is nearly all of the work, and knows
 * nothing of the wallet's addresses and outputs, so that any thread can do it for any blocks at any time.
 */
import { deriveBatch, IDENTITY, outputSpendKeyBatch, viewTagBatch } from "@anulo/crypto";
import {
  additionalPublicKeys,
  type ExtraField,
  parseExtra,
  type Transaction,
  txPublicKeys,
} from "@anulo/protocol";

/** Lists of all transactions end to end, each of 32 bytes a key. Survives structured cloning. */
export type Sifted = {
  /** By transaction. */
  readonly outputCounts: Uint32Array;
  /** Of its derivations, by transaction. */
  readonly keyCounts: Uint32Array;
  /** Of its key images, by transaction. */
  readonly imageCounts: Uint32Array;
  readonly derivations: Uint8Array;
  readonly keyImages: Uint8Array;
  /** Outputs with a derivation they may have been made with, in the order in which they are tried. */
  readonly trials: Trials;
  /** The spend key each trial would have been sent to. */
  readonly spendKeys: Uint8Array;
};

type Trials = {
  /** Places of their transactions in the list. */
  readonly of: Uint32Array;
  readonly outputIndices: Uint32Array;
  /** Places of their derivations in the list. */
  readonly derivations: Uint32Array;
};

/** A transaction with its public keys that are tried. */
export type KeyedTransaction = {
  readonly transaction: Transaction;
  readonly fields: readonly ExtraField[];
  /** The main ones, then an additional one for each output. */
  readonly keys: readonly Uint8Array[];
  /** How many are main ones. */
  readonly mains: number;
};

/** What replaces a derivation that can't be made. Source: wallet2.cpp `process_new_transaction`. */
const NO_DERIVATION: Uint8Array = IDENTITY;

export function withKeys(transaction: Transaction): KeyedTransaction {
  const { outputs, extra } = transaction.prefix;
  const fields = outputs.length === 0 ? [] : parseExtra(extra);
  const mains = txPublicKeys(fields);
  // Without a main key the original doesn't look at the additional ones either.
  const additional = mains.length === 0 ? [] : additionalPublicKeys(fields).slice(0, outputs.length);
  return { transaction, fields, keys: [...mains, ...additional], mains: mains.length };
}

export function sift(viewSecret: Uint8Array, transactions: readonly KeyedTransaction[]): Sifted {
  const outputCounts = new Uint32Array(transactions.length);
  const keyCounts = new Uint32Array(transactions.length);
  const imageCounts = new Uint32Array(transactions.length);
  const keys: Uint8Array[] = [];
  const images: Uint8Array[] = [];
  for (let i = 0; i < transactions.length; i++) {
    const { transaction, keys: own } = transactions[i]!;
    const { inputs, outputs } = transaction.prefix;
    for (const key of own) keys.push(key);
    keyCounts[i] = own.length;
    outputCounts[i] = outputs.length;
    const before = images.length;
    for (const input of inputs) if (input.type === "key") images.push(input.keyImage);
    imageCounts[i] = images.length - before;
  }
  const derivations = derive(viewSecret, keys);
  const passed = passing(transactions, trialsOf(transactions), derivations);
  return { outputCounts, keyCounts, imageCounts, derivations, keyImages: packedKeys(images), ...passed };
}

/** The derivation of each key, 32 bytes. */
export function derive(viewSecret: Uint8Array, keys: readonly Uint8Array[]): Uint8Array {
  const { derivations, valid } = deriveBatch({ viewSecret, publicKeys: packedKeys(keys) });
  for (let i = 0; i < keys.length; i++) if (valid[i] !== 1) derivations.set(NO_DERIVATION, 32 * i);
  return derivations;
}

/** The main keys come first, then each output's own additional key. Source: cryptonote_format_utils.cpp `is_out_to_acc_precomp`. */
function trialsOf(transactions: readonly KeyedTransaction[]): Trials {
  const of: number[] = [];
  const outputIndices: number[] = [];
  const derivations: number[] = [];
  let first = 0;
  for (let i = 0; i < transactions.length; i++) {
    const { transaction, keys, mains } = transactions[i]!;
    const { outputs } = transaction.prefix;
    for (let outputIndex = 0; outputIndex < outputs.length; outputIndex++) {
      if (targetOf(transaction, outputIndex) === undefined) continue;
      for (let main = 0; main <= mains; main++) {
        const key = main < mains ? main : mains + outputIndex;
        if (key >= keys.length) continue;
        of.push(i);
        outputIndices.push(outputIndex);
        derivations.push(first + key);
      }
    }
    first += keys.length;
  }
  return {
    of: Uint32Array.from(of),
    outputIndices: Uint32Array.from(outputIndices),
    derivations: Uint32Array.from(derivations),
  };
}

/** One-time key and view tag of an output; undefined for kinds that can't be ours. */
export function targetOf({ prefix }: Transaction, outputIndex: number) {
  const { target } = prefix.outputs[outputIndex]!;
  if (target.type === "key") return { key: target.key, viewTag: undefined };
  return target.type === "taggedKey" ? target : undefined;
}

/** The trials whose view tag is right, or that have none, and what they lead to. */
function passing(transactions: readonly KeyedTransaction[], trials: Trials, derivations: Uint8Array) {
  const tags = viewTagBatch(derivationsOf(trials, derivations), trials.outputIndices);
  const tagged: number[] = [];
  const outputKeys: Uint8Array[] = [];
  for (let i = 0; i < trials.of.length; i++) {
    const { key, viewTag } = targetOf(transactions[trials.of[i]!]!.transaction, trials.outputIndices[i]!)!;
    if (viewTag !== undefined && viewTag !== tags[i]) continue;
    tagged.push(i);
    outputKeys.push(key);
  }
  const left = pick(trials, tagged);
  const { points, valid } = outputSpendKeyBatch({
    outputKeys: packedKeys(outputKeys),
    derivations: derivationsOf(left, derivations),
    outputIndices: left.outputIndices,
  });
  const places = tagged.map((_, i) => i).filter((i) => valid[i] === 1);
  const spendKeys = packedKeys(places.map((i) => points.subarray(32 * i, 32 * i + 32)));
  return { trials: pick(left, places), spendKeys };
}

function derivationsOf({ derivations: places }: Trials, derivations: Uint8Array): Uint8Array {
  const packed = new Uint8Array(32 * places.length);
  for (let i = 0; i < places.length; i++) {
    const from = 32 * places[i]!;
    packed.set(derivations.subarray(from, from + 32), 32 * i);
  }
  return packed;
}

function pick({ of, outputIndices, derivations }: Trials, places: readonly number[]): Trials {
  const picked = (list: Uint32Array) => Uint32Array.from(places.map((place) => list[place]!));
  return { of: picked(of), outputIndices: picked(outputIndices), derivations: picked(derivations) };
}

/** Keys of 32 bytes end to end. */
export function packedKeys(keys: readonly Uint8Array[]): Uint8Array {
  const packed = new Uint8Array(32 * keys.length);
  for (let i = 0; i < keys.length; i++) packed.set(keys[i]!, 32 * i);
  return packed;
}

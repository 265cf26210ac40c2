/**
 * The first half of scanning: what the view key alone tells of transactions. It is nearly all of the work, and knows
 * nothing of the wallet's addresses and outputs, so that any thread can do it for any blocks at any time.
 */
import { deriveBatch, IDENTITY, outputSpendKeyBatch, viewTagBatch } from "@anulo/crypto";
import {
  additionalPublicKeys,
  type ExtraField,
  minerTransactionStart,
  NO_KEY,
  NO_VIEW_TAG,
  parseExtra,
  Reader,
  type Transaction,
  TransactionPlaces,
  txPublicKeys,
} from "@anulo/protocol";
import { KeyList, NumberList, pickKeys } from "./packed-lists.ts";
import type { TransactionBytes } from "./raw-transaction.ts";

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

/** Reads the bytes in one pass, without making values of the transactions. Throws `BadBytes`. */
export function sift(viewSecret: Uint8Array, transactions: readonly TransactionBytes[]): Sifted {
  const lists = new SiftedLists(transactions.length);
  for (let i = 0; i < transactions.length; i++) lists.add(i, transactions[i]!);
  const { outputCounts, keyCounts, imageCounts, keyImages } = lists;
  const derivations = derive(viewSecret, lists.keys.packed);
  const passed = passing(lists, derivations);
  return { outputCounts, keyCounts, imageCounts, derivations, keyImages: keyImages.packed, ...passed };
}

/** What is read of transactions, end to end. */
class SiftedLists {
  readonly outputCounts: Uint32Array;
  readonly keyCounts: Uint32Array;
  readonly imageCounts: Uint32Array;
  /** The keys that are tried: by transaction the main ones, then an additional one for each output. */
  readonly keys = new KeyList();
  readonly keyImages = new KeyList();
  /** By trial, as in `Trials`; and the key and view tag of its output. */
  readonly of = new NumberList();
  readonly outputIndices = new NumberList();
  readonly derivations = new NumberList();
  readonly outputKeys = new KeyList();
  readonly viewTags = new NumberList();
  readonly #places = new TransactionPlaces();

  constructor(count: number) {
    this.outputCounts = new Uint32Array(count);
    this.keyCounts = new Uint32Array(count);
    this.imageCounts = new Uint32Array(count);
  }

  add(of: number, { form, blob }: TransactionBytes): void {
    const places = this.#places;
    places.find(new Reader(blob, form === "miner" ? minerTransactionStart(blob) : 0));
    const { keyImages, outputKeys, publicKeys, additionalKeys } = places;
    const firstKey = this.keys.count;
    for (const at of publicKeys) this.keys.push(blob, at);
    const mains = publicKeys.length;
    // Without a main key the original doesn't look at the additional ones either.
    const additional = mains === 0 ? 0 : Math.min(additionalKeys.length, outputKeys.length);
    for (let i = 0; i < additional; i++) this.keys.push(blob, additionalKeys[i]!);
    for (const at of keyImages) this.keyImages.push(blob, at);
    this.outputCounts[of] = outputKeys.length;
    this.keyCounts[of] = mains + additional;
    this.imageCounts[of] = keyImages.length;
    for (let output = 0; output < outputKeys.length; output++) {
      if (outputKeys[output] === NO_KEY) continue;
      for (let main = 0; main < mains; main++) this.#try(of, { output, key: firstKey + main, blob });
      if (output < additional) this.#try(of, { output, key: firstKey + mains + output, blob });
    }
  }

  /** The main keys come first, then each output's own additional key. Source: cryptonote_format_utils.cpp `is_out_to_acc_precomp`. */
  #try(of: number, { output, key, blob }: { output: number; key: number; blob: Uint8Array }): void {
    const { outputKeys, viewTags } = this.#places;
    this.of.push(of);
    this.outputIndices.push(output);
    this.derivations.push(key);
    this.outputKeys.push(blob, outputKeys[output]!);
    this.viewTags.push(viewTags[output]!);
  }
}

/** The derivation of each key; 32 bytes of each, end to end. */
export function derive(viewSecret: Uint8Array, publicKeys: Uint8Array): Uint8Array {
  const { derivations, valid } = deriveBatch({ viewSecret, publicKeys });
  for (let i = 0; i < valid.length; i++) if (valid[i] !== 1) derivations.set(NO_DERIVATION, 32 * i);
  return derivations;
}

/** One-time key and view tag of an output; undefined for kinds that can't be ours. */
export function targetOf({ prefix }: Transaction, outputIndex: number) {
  const { target } = prefix.outputs[outputIndex]!;
  if (target.type === "key") return { key: target.key, viewTag: undefined };
  return target.type === "taggedKey" ? target : undefined;
}

/** The trials whose view tag is right, or that have none, and what they lead to. */
function passing(lists: SiftedLists, derivations: Uint8Array): Pick<Sifted, "trials" | "spendKeys"> {
  const trials: Trials = {
    of: lists.of.packed,
    outputIndices: lists.outputIndices.packed,
    derivations: lists.derivations.packed,
  };
  const viewTags = lists.viewTags.packed;
  const made = viewTagBatch(pickKeys(derivations, trials.derivations), trials.outputIndices);
  const tagged = trials.of
    .map((_, i) => i)
    .filter((i) => viewTags[i] === NO_VIEW_TAG || viewTags[i] === made[i]);
  const left = pick(trials, tagged);
  const { points, valid } = outputSpendKeyBatch({
    outputKeys: pickKeys(lists.outputKeys.packed, tagged),
    derivations: pickKeys(derivations, left.derivations),
    outputIndices: left.outputIndices,
  });
  const places = tagged.map((_, i) => i).filter((i) => valid[i] === 1);
  return { trials: pick(left, places), spendKeys: pickKeys(points, places) };
}

function pick({ of, outputIndices, derivations }: Trials, places: Uint32Array): Trials {
  const picked = (list: Uint32Array) => places.map((place) => list[place]!);
  return { of: picked(of), outputIndices: picked(outputIndices), derivations: picked(derivations) };
}

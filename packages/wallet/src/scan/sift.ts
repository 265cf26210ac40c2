/**
 * The first half of scanning: what can be computed of transactions from view keys alone. It is nearly all of the work,
 * and needs none of a wallet's addresses and outputs, so any thread can do it for any wallets and blocks at any time.
 */
import { deriveBatch, deriveForMany, IDENTITY, outputSpendKeyBatch, viewTagBatch } from "@anulo/crypto";
import {
  additionalPublicKeys,
  type ExtraField,
  minerTransactionStart,
  NO_KEY,
  NO_VIEW_TAG,
  parseExtra,
  Reader,
  type Transaction,
  TransactionOffsets,
  txPublicKeys,
} from "@anulo/protocol";
import { KeyList, NumberList, pickKeys } from "./packed-lists.ts";
import type { TransactionBytes } from "./raw-transaction.ts";

/** Counts per transaction, the same for every wallet. */
type Counts = {
  readonly outputCounts: Uint32Array;
  /** Number of its public keys that are tried. */
  readonly keyCounts: Uint32Array;
  /** Number of its key images. */
  readonly imageCounts: Uint32Array;
};

/**
 * The result for one view key. Lists of all transactions are concatenated, 32 bytes per key. Survives structured
 * cloning.
 */
export type Sifted = Counts & {
  readonly derivations: Uint8Array;
  readonly keyImages: Uint8Array;
  /** Outputs, each with a derivation that may belong to it, in the order in which they are tried. */
  readonly trials: Trials;
  /** The spend key that each trial yields. */
  readonly spendKeys: Uint8Array;
};

type Trials = {
  /** Indices of their transactions in the list. */
  readonly of: Uint32Array;
  readonly outputIndices: Uint32Array;
  /** Indices of their derivations in the list. */
  readonly derivations: Uint32Array;
};

/** The keys parsed from transactions, concatenated, before any view key is tried. */
export type TransactionKeys = Counts & {
  /** The keys that are tried: per transaction the main ones, then an additional one for each output. */
  readonly publicKeys: Uint8Array;
  readonly keyImages: Uint8Array;
  readonly trials: Trials;
  /** Per trial: the key and the view tag of its output. */
  readonly outputKeys: Uint8Array;
  readonly viewTags: Uint32Array;
};

/** A transaction with its public keys that are tried. */
export type KeyedTransaction = {
  readonly transaction: Transaction;
  readonly fields: readonly ExtraField[];
  /** The main keys, then an additional one for each output. */
  readonly keys: readonly Uint8Array[];
  /** Number of main keys. */
  readonly mains: number;
};

/** Replaces a derivation that can't be computed. Source: wallet2.cpp `process_new_transaction`. */
const NO_DERIVATION: Uint8Array = IDENTITY;

/** Computing a key's multiples, once for all view secrets, costs as much as it saves with this many derivations. */
const SECRETS_WORTH_MULTIPLES = 12;
/** Number of derivations in one step, some 100 ms. */
const DERIVATIONS_PER_STEP = 12_000;

export function withKeys(transaction: Transaction): KeyedTransaction {
  const { outputs, extra } = transaction.prefix;
  const fields = outputs.length === 0 ? [] : parseExtra(extra);
  const mains = txPublicKeys(fields);
  // Without a main key the original doesn't try the additional ones either.
  const additional = mains.length === 0 ? [] : additionalPublicKeys(fields).slice(0, outputs.length);
  return { transaction, fields, keys: [...mains, ...additional], mains: mains.length };
}

/** Parses the keys from the bytes in one pass, without building transaction objects. Throws `BadBytes`. */
export function readKeys(transactions: readonly TransactionBytes[]): TransactionKeys {
  const lists = new KeyLists(transactions.length);
  for (let i = 0; i < transactions.length; i++) lists.add(i, transactions[i]!);
  return lists.packed;
}

/** Sifts the transactions for each of the view secrets (32 bytes each, concatenated). */
export function siftKeys(viewSecrets: Uint8Array, keys: TransactionKeys): Sifted[] {
  const steps = siftInSteps(viewSecrets, keys);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** As `siftKeys`, in steps of some 100 ms. */
export function* siftInSteps(viewSecrets: Uint8Array, keys: TransactionKeys): Generator<undefined, Sifted[]> {
  const count = viewSecrets.length / 32;
  const derived =
    count < SECRETS_WORTH_MULTIPLES
      ? yield* deriveOneByOne(viewSecrets, keys.publicKeys)
      : yield* deriveTogether(viewSecrets, keys.publicKeys);
  const results: Sifted[] = [];
  const perStep = Math.ceil(DERIVATIONS_PER_STEP / (1 + keys.viewTags.length));
  for (const derivations of derived) {
    if (results.length % perStep === perStep - 1) yield;
    const { outputCounts, keyCounts, imageCounts, keyImages } = keys;
    const passed = passing(keys, derivations);
    results.push({ outputCounts, keyCounts, imageCounts, keyImages, derivations, ...passed });
  }
  return results;
}

function* deriveOneByOne(
  viewSecrets: Uint8Array,
  publicKeys: Uint8Array,
): Generator<undefined, Uint8Array[]> {
  const derived: Uint8Array[] = [];
  for (let at = 0; at < viewSecrets.length; at += 32) {
    if (at > 0) yield;
    derived.push(derive(viewSecrets.subarray(at, at + 32), publicKeys));
  }
  return derived;
}

/** Groups by view secret the lists that are computed by key. */
function* deriveTogether(
  viewSecrets: Uint8Array,
  publicKeys: Uint8Array,
): Generator<undefined, Uint8Array[]> {
  const count = viewSecrets.length / 32;
  const derived = Array.from({ length: count }, () => new Uint8Array(publicKeys.length));
  const bytesPerStep = 32 * Math.ceil(DERIVATIONS_PER_STEP / count);
  for (let from = 0; from < publicKeys.length; from += bytesPerStep) {
    if (from > 0) yield;
    const some = publicKeys.subarray(from, from + bytesPerStep);
    const { derivations, valid } = deriveForMany({ viewSecrets, publicKeys: some });
    for (let key = 0; key < valid.length; key++) {
      for (let secret = 0; secret < count; secret++) {
        const at = 32 * (key * count + secret);
        const derivation = valid[key] === 1 ? derivations.subarray(at, at + 32) : NO_DERIVATION;
        derived[secret]!.set(derivation, from + 32 * key);
      }
    }
    derivations.fill(0);
  }
  return derived;
}

class KeyLists {
  readonly #outputCounts: Uint32Array;
  readonly #keyCounts: Uint32Array;
  readonly #imageCounts: Uint32Array;
  readonly #publicKeys = new KeyList();
  readonly #keyImages = new KeyList();
  readonly #of = new NumberList();
  readonly #outputIndices = new NumberList();
  readonly #derivations = new NumberList();
  readonly #outputKeys = new KeyList();
  readonly #viewTags = new NumberList();
  readonly #places = new TransactionOffsets();

  constructor(count: number) {
    this.#outputCounts = new Uint32Array(count);
    this.#keyCounts = new Uint32Array(count);
    this.#imageCounts = new Uint32Array(count);
  }

  get packed(): TransactionKeys {
    return {
      outputCounts: this.#outputCounts,
      keyCounts: this.#keyCounts,
      imageCounts: this.#imageCounts,
      publicKeys: this.#publicKeys.packed,
      keyImages: this.#keyImages.packed,
      trials: {
        of: this.#of.packed,
        outputIndices: this.#outputIndices.packed,
        derivations: this.#derivations.packed,
      },
      outputKeys: this.#outputKeys.packed,
      viewTags: this.#viewTags.packed,
    };
  }

  add(of: number, { form, blob }: TransactionBytes): void {
    const places = this.#places;
    places.find(new Reader(blob, form === "miner" ? minerTransactionStart(blob) : 0));
    const { keyImages, outputKeys, publicKeys, additionalKeys } = places;
    const firstKey = this.#publicKeys.count;
    for (const at of publicKeys) this.#publicKeys.push(blob, at);
    const mains = publicKeys.length;
    // Without a main key the original doesn't try the additional ones either.
    const additional = mains === 0 ? 0 : Math.min(additionalKeys.length, outputKeys.length);
    for (let i = 0; i < additional; i++) this.#publicKeys.push(blob, additionalKeys[i]!);
    for (const at of keyImages) this.#keyImages.push(blob, at);
    this.#outputCounts[of] = outputKeys.length;
    this.#keyCounts[of] = mains + additional;
    this.#imageCounts[of] = keyImages.length;
    for (let output = 0; output < outputKeys.length; output++) {
      if (outputKeys[output] === NO_KEY) continue;
      for (let main = 0; main < mains; main++) this.#try(of, { output, key: firstKey + main, blob });
      if (output < additional) this.#try(of, { output, key: firstKey + mains + output, blob });
    }
  }

  /**
   * The main keys come first, then each output's own additional key. Source: cryptonote_format_utils.cpp
   * `is_out_to_acc_precomp`.
   */
  #try(of: number, { output, key, blob }: { output: number; key: number; blob: Uint8Array }): void {
    const { outputKeys, viewTags } = this.#places;
    this.#of.push(of);
    this.#outputIndices.push(output);
    this.#derivations.push(key);
    this.#outputKeys.push(blob, outputKeys[output]!);
    this.#viewTags.push(viewTags[output]!);
  }
}

/** The derivation of each key, 32 bytes each, concatenated. */
export function derive(viewSecret: Uint8Array, publicKeys: Uint8Array): Uint8Array {
  const { derivations, valid } = deriveBatch({ viewSecret, publicKeys });
  for (let i = 0; i < valid.length; i++) if (valid[i] !== 1) derivations.set(NO_DERIVATION, 32 * i);
  return derivations;
}

/** One-time key and view tag of an output; undefined for kinds of outputs that no wallet address can receive. */
export function targetOf({ prefix }: Transaction, outputIndex: number) {
  const { target } = prefix.outputs[outputIndex]!;
  if (target.type === "key") return { key: target.key, viewTag: undefined };
  return target.type === "taggedKey" ? target : undefined;
}

/** The trials whose view tag matches, or that have none, and the spend keys they yield. */
function passing(keys: TransactionKeys, derivations: Uint8Array): Pick<Sifted, "trials" | "spendKeys"> {
  const { trials, viewTags, outputKeys } = keys;
  const ownTags = viewTagBatch(pickKeys(derivations, trials.derivations), trials.outputIndices);
  const tagged = placesWhere(
    ownTags.length,
    (i) => viewTags[i] === NO_VIEW_TAG || viewTags[i] === ownTags[i],
  );
  const remaining = pick(trials, tagged);
  const { points, valid } = outputSpendKeyBatch({
    outputKeys: pickKeys(outputKeys, tagged),
    derivations: pickKeys(derivations, remaining.derivations),
    outputIndices: remaining.outputIndices,
  });
  const places = placesWhere(tagged.length, (i) => valid[i] === 1);
  return { trials: pick(remaining, places), spendKeys: pickKeys(points, places) };
}

function placesWhere(count: number, isWanted: (place: number) => boolean): Uint32Array {
  const places = new NumberList();
  for (let i = 0; i < count; i++) if (isWanted(i)) places.push(i);
  return places.packed;
}

function pick({ of, outputIndices, derivations }: Trials, places: Uint32Array): Trials {
  const picked = (list: Uint32Array) => places.map((place) => list[place]!);
  return { of: picked(of), outputIndices: picked(outputIndices), derivations: picked(derivations) };
}

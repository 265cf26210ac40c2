/**
 * The first half of scanning: what can be computed of transactions from view keys alone. It is nearly all of the work,
 * and needs none of a wallet's addresses and outputs, so any thread can do it for any wallets and blocks at any time.
 */
import { deriveBatch, IDENTITY, matchViewTags, outputSpendKeyBatch, viewTagBatch, wipe } from "@anulo/crypto";
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
import { KeyList, NumberList, packedKeys, pickKeys, startsOf } from "./packed-lists.ts";
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
  /** Undefined where they were not kept, since many wallets were sifted for: those of a transaction are made again. */
  readonly derivations: Uint8Array | undefined;
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
/** Number of outputs, each for each view secret, that are tried in one step: some 50 ms. */
const TRIALS_PER_STEP = 12_000;

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

/** As `siftKeys`, in steps of some 50 ms. */
export function* siftInSteps(viewSecrets: Uint8Array, keys: TransactionKeys): Generator<undefined, Sifted[]> {
  const count = viewSecrets.length / 32;
  if (count >= SECRETS_WORTH_MULTIPLES) return yield* siftTogether(viewSecrets, keys);
  const results: Sifted[] = [];
  for (let at = 0; at < viewSecrets.length; at += 32) {
    if (at > 0) yield;
    const derivations = derive(viewSecrets.subarray(at, at + 32), keys.publicKeys);
    results.push({ ...sharedOf(keys), derivations, ...passing(keys, derivations) });
  }
  return results;
}

/** What does not depend on the view secret. */
function sharedOf({ outputCounts, keyCounts, imageCounts, keyImages }: TransactionKeys) {
  return { outputCounts, keyCounts, imageCounts, keyImages };
}

/** Makes each key's multiples once for all view secrets, and keeps only what passes. */
function* siftTogether(viewSecrets: Uint8Array, keys: TransactionKeys): Generator<undefined, Sifted[]> {
  const count = viewSecrets.length / 32;
  const { publicKeys, trials, outputKeys, viewTags } = keys;
  const { places, counts } = byKey(trials.derivations, publicKeys.length / 32);
  const results = new FoundTrials(count);
  for (const [from, to, first, end] of stepsOf(counts, TRIALS_PER_STEP / count)) {
    if (from > 0) yield;
    const some = places.subarray(first, end);
    const matches = matchViewTags(viewSecrets, {
      publicKeys: publicKeys.subarray(32 * from, 32 * to),
      counts: counts.subarray(from, to),
      indices: some.map((place) => trials.outputIndices[place]!),
      tags: some.map((place) => viewTags[place]!),
    });
    const passingPlaces = matches.outputs.map((output) => some[output]!);
    const { points, valid } = outputSpendKeyBatch({
      outputKeys: pickKeys(outputKeys, passingPlaces),
      derivations: matches.derivations,
      outputIndices: passingPlaces.map((place) => trials.outputIndices[place]!),
    });
    wipe(matches.derivations);
    for (let i = 0; i < valid.length; i++)
      if (valid[i] === 1)
        results.add(matches.secrets[i]!, passingPlaces[i]!, points.subarray(32 * i, 32 * i + 32));
  }
  const nothing: Sifted = {
    ...sharedOf(keys),
    derivations: undefined,
    trials: pick(trials, new Uint32Array()),
    spendKeys: new Uint8Array(),
  };
  return Array.from({ length: count }, (_, secret) => {
    const own = results.of(secret);
    if (own === undefined) return nothing;
    const picked = Uint32Array.from(own, ({ place }) => place);
    return {
      ...nothing,
      trials: pick(trials, picked),
      spendKeys: packedKeys(own.map((each) => each.spendKey)),
    };
  });
}

/** The places of trials by key, and the number of those of each key. */
function byKey(keyOfTrial: Uint32Array, keyCount: number) {
  const counts = new Uint32Array(keyCount);
  for (const key of keyOfTrial) counts[key]! += 1;
  const next = startsOf(counts);
  const places = new Uint32Array(keyOfTrial.length);
  for (let place = 0; place < keyOfTrial.length; place++) places[next[keyOfTrial[place]!]!++] = place;
  return { places, counts };
}

/** Runs of keys (from, to) with some `most` trials (first, end) each. */
function* stepsOf(counts: Uint32Array, most: number): Generator<[number, number, number, number]> {
  let [from, first, end] = [0, 0, 0];
  for (let key = 0; key < counts.length; key++) {
    end += counts[key]!;
    // A key costs as much as some trials, also one without any.
    const isLast = key + 1 === counts.length;
    if (!isLast && end - first + (key - from) < most) continue;
    yield [from, key + 1, first, end];
    [from, first] = [key + 1, end];
  }
}

type FoundTrial = { readonly place: number; readonly spendKey: Uint8Array };

/** The trials that pass, for each view secret. */
class FoundTrials {
  readonly #bySecret: (FoundTrial[] | undefined)[];

  constructor(count: number) {
    this.#bySecret = Array.from({ length: count });
  }

  add(secret: number, place: number, spendKey: Uint8Array): void {
    this.#bySecret[secret] ??= [];
    this.#bySecret[secret]!.push({ place, spendKey });
  }

  /** In the order in which they are tried; undefined if there are none. */
  of(secret: number): readonly FoundTrial[] | undefined {
    return this.#bySecret[secret]?.sort((a, b) => a.place - b.place);
  }
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
  const tried = pickKeys(derivations, trials.derivations);
  const ownTags = viewTagBatch(tried, trials.outputIndices);
  wipe(tried);
  const tagged = placesWhere(
    ownTags.length,
    (i) => viewTags[i] === NO_VIEW_TAG || viewTags[i] === ownTags[i],
  );
  const remaining = pick(trials, tagged);
  const matching = pickKeys(derivations, remaining.derivations);
  const { points, valid } = outputSpendKeyBatch({
    outputKeys: pickKeys(outputKeys, tagged),
    derivations: matching,
    outputIndices: remaining.outputIndices,
  });
  wipe(matching);
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

/** Finds what transactions pay to the wallet, each step for all their outputs at once. Synchronous; runs in the scan worker. */
import {
  commit,
  commitmentMask,
  commitmentsOpen,
  decodeAmount,
  derivationScalarBatch,
  hashToScalar,
  IDENTITY,
  keyImageBatch,
  outputSpendKeyBatch,
  publicKeyBatch,
  scAdd,
  scSub,
  subaddressSecretKey,
  viewTagBatch,
} from "@anulo/crypto";
import { concatBytes, equalBytes, type RingCt, type Transaction, toHex } from "@anulo/protocol";
import type { ScannedOutput } from "../changes.ts";
import type { SubaddressIndex } from "../state.ts";
import { PUBLIC_MASK, type ScanKeys } from "./scan-transaction.ts";
import type { SubaddressTable } from "./subaddress-table.ts";

/** A transaction ready to be scanned: derivations are 32 bytes each; an unusable public key gives the identity. */
export type Candidate = {
  readonly transaction: Pick<Transaction, "prefix" | "ringct">;
  readonly publicKeys: readonly Uint8Array[];
  readonly derivations: readonly Uint8Array[];
  readonly additionalKeys: readonly Uint8Array[];
  readonly additionalDerivations: readonly Uint8Array[];
  /** Global output indices, in output order. */
  readonly globalIndices: readonly bigint[];
  readonly coinbase: boolean;
};

/** What is replaced when no derivation can be made. Source: wallet2.cpp `process_new_transaction`. */
export const NO_DERIVATION: Uint8Array = IDENTITY;

export type Finder = {
  readonly keys: ScanKeys;
  readonly table: SubaddressTable;
  /** Extends the table beyond an address that has just been used. */
  readonly cover: (index: SubaddressIndex) => void;
  /** Key images made so far, by hex one-time key: an output found again has the same. */
  readonly keyImages: Map<string, Uint8Array>;
};

/** An output with a derivation it may have been made with. */
type Trial = {
  /** Place of its transaction in the list. */
  readonly of: number;
  readonly outputIndex: number;
  readonly oneTimeKey: Uint8Array;
  readonly viewTag: number | undefined;
  readonly derivation: Uint8Array;
  readonly txPublicKey: Uint8Array;
};
type Match = Trial & { readonly subaddress: SubaddressIndex };
type Opened = { readonly amount: bigint; readonly mask: Uint8Array };

/** What each transaction pays to the wallet, in order. */
export function findOutputs(finder: Finder, candidates: readonly Candidate[]): ScannedOutput[][] {
  const matches = matchesOf(finder, candidates.flatMap(trialsOf));
  const scalars = derivationScalarBatch(packedDerivations(matches), outputIndices(matches));
  const amountKeys = matches.map((_, i) => scalars.subarray(32 * i, 32 * i + 32));
  const opened = openAmounts(candidates, matches, amountKeys);
  makeKeyImages(finder, matches, amountKeys);
  scalars.fill(0);
  const found: ScannedOutput[][] = candidates.map(() => []);
  for (const [i, { of, outputIndex, oneTimeKey, txPublicKey, subaddress }] of matches.entries()) {
    const amount = opened[i];
    if (amount === undefined) continue;
    const keyImage = finder.keyImages.get(toHex(oneTimeKey));
    const { transaction, coinbase, globalIndices } = candidates[of]!;
    const { version, outputs } = transaction.prefix;
    found[of]!.push({
      outputIndex,
      globalIndex: globalIndices[outputIndex] ?? 0n,
      ...amount,
      rct: outputs[outputIndex]!.amount === 0n || (coinbase && version >= 2),
      ...{ oneTimeKey, txPublicKey, keyImage, subaddress },
    });
  }
  return found;
}

/** The main keys come first, then each output's own additional key. Source: cryptonote_format_utils.cpp `is_out_to_acc_precomp`. */
function trialsOf(candidate: Candidate, of: number): Trial[] {
  const { publicKeys, derivations, additionalKeys, additionalDerivations } = candidate;
  return candidate.transaction.prefix.outputs.flatMap(({ target }, outputIndex): Trial[] => {
    if (target.type !== "key" && target.type !== "taggedKey") return [];
    const viewTag = target.type === "taggedKey" ? target.viewTag : undefined;
    const output = { of, outputIndex, oneTimeKey: target.key, viewTag };
    const trials = derivations.map((derivation, i) => ({
      ...output,
      derivation,
      txPublicKey: publicKeys[i]!,
    }));
    const additional = additionalDerivations[outputIndex];
    if (additional === undefined) return trials;
    return [...trials, { ...output, derivation: additional, txPublicKey: additionalKeys[outputIndex]! }];
  });
}

function packedDerivations(trials: readonly Trial[]): Uint8Array {
  return concatBytes(...trials.map(({ derivation }) => derivation));
}

function outputIndices(trials: readonly Trial[]): Uint32Array {
  return Uint32Array.from(trials, ({ outputIndex }) => outputIndex);
}

/** The first trial of each output that leads to an address of the wallet; the table grows as addresses turn up. */
function matchesOf({ table, cover }: Finder, trials: readonly Trial[]): Match[] {
  const tags = viewTagBatch(packedDerivations(trials), outputIndices(trials));
  const left = trials.filter(({ viewTag }, i) => viewTag === undefined || viewTag === tags[i]);
  const { points, valid } = outputSpendKeyBatch({
    outputKeys: concatBytes(...left.map(({ oneTimeKey }) => oneTimeKey)),
    derivations: packedDerivations(left),
    outputIndices: outputIndices(left),
  });
  const matches: Match[] = [];
  for (const [i, trial] of left.entries()) {
    const last = matches.at(-1);
    if (valid[i] !== 1 || (last?.of === trial.of && last.outputIndex === trial.outputIndex)) continue;
    const subaddress = table.byKey.get(toHex(points.subarray(32 * i, 32 * i + 32)));
    if (subaddress === undefined) continue;
    cover(subaddress);
    matches.push({ ...trial, subaddress });
  }
  return matches;
}

type Hidden = { readonly place: number; readonly opened: Opened; readonly commitment: Uint8Array };

/** Undefined for an amount that doesn't open its commitment: such an output can never be spent. */
function openAmounts(
  candidates: readonly Candidate[],
  matches: readonly Match[],
  amountKeys: readonly Uint8Array[],
): (Opened | undefined)[] {
  const hidden: Hidden[] = [];
  const amounts = matches.map(({ of, outputIndex }, place): Opened | undefined => {
    const { prefix, ringct } = candidates[of]!.transaction;
    const { amount } = prefix.outputs[outputIndex]!;
    if (amount > 0n || ringct === undefined || ringct.type === 0) return { amount, mask: PUBLIC_MASK };
    const opened = decodeEcdh(ringct, outputIndex, amountKeys[place]!);
    const commitment = ringct.outputCommitments[outputIndex];
    if (opened === undefined || commitment === undefined) return undefined;
    hidden.push({ place, opened, commitment });
    return opened;
  });
  if (!openTogether(hidden)) {
    for (const { place, opened, commitment } of hidden)
      if (!equalBytes(commit(opened.mask, opened.amount), commitment)) amounts[place] = undefined;
  }
  return amounts;
}

function openTogether(hidden: readonly Hidden[]): boolean {
  if (hidden.length === 0) return true;
  return commitmentsOpen({
    masks: concatBytes(...hidden.map(({ opened }) => opened.mask)),
    amounts: hidden.map(({ opened }) => opened.amount),
    commitments: concatBytes(...hidden.map(({ commitment }) => commitment)),
  });
}

/** Source: rctOps.cpp `ecdhDecode`: short amounts from RCT type 4 on, masked scalars before. */
function decodeEcdh(
  ringct: Exclude<RingCt, { type: 0 }>,
  outputIndex: number,
  amountKey: Uint8Array,
): Opened | undefined {
  const info = ringct.ecdhInfo[outputIndex];
  if (info === undefined) return undefined;
  if (!("mask" in info))
    return { mask: commitmentMask(amountKey), amount: decodeAmount(info.amount, amountKey) };
  const first = hashToScalar(amountKey);
  const second = hashToScalar(first);
  return { mask: scSub(info.mask, first), amount: littleEndian64(scSub(info.amount, second)) };
}

function littleEndian64(scalar: Uint8Array): bigint {
  return new DataView(scalar.buffer, scalar.byteOffset).getBigUint64(0, true);
}

/** Makes the key images not yet known; none where the secret isn't the key's, or in a wallet that can only look. */
function makeKeyImages(
  { keys, keyImages }: Finder,
  matches: readonly Match[],
  amountKeys: readonly Uint8Array[],
): void {
  const { spendSecret } = keys;
  if (spendSecret === undefined) return;
  const places = [...matches.keys()].filter((i) => !keyImages.has(toHex(matches[i]!.oneTimeKey)));
  const fresh = places.map((i) => matches[i]!);
  const ofAddress = addressSecrets(keys, spendSecret, fresh);
  const secretKeys = new Uint8Array(32 * fresh.length);
  try {
    for (const [at, { subaddress }] of fresh.entries()) {
      const secret = scAdd(ofAddress.get(keyOf(subaddress))!, amountKeys[places[at]!]!);
      secretKeys.set(secret, 32 * at);
      secret.fill(0);
    }
    const oneTimeKeys = concatBytes(...fresh.map(({ oneTimeKey }) => oneTimeKey));
    const publicKeys = publicKeyBatch(secretKeys);
    const images = keyImageBatch({ publicKeys: oneTimeKeys, secretKeys });
    for (const [at, { oneTimeKey }] of fresh.entries()) {
      const [from, to] = [32 * at, 32 * at + 32];
      if (!equalBytes(publicKeys.subarray(from, to), oneTimeKey)) continue;
      keyImages.set(toHex(oneTimeKey), images.slice(from, to));
    }
  } finally {
    secretKeys.fill(0);
    for (const secret of ofAddress.values()) secret.fill(0);
  }
}

const keyOf = ({ major, minor }: SubaddressIndex): string => `${major}/${minor}`;

/** The spend secret of each address that received. */
function addressSecrets(
  { viewSecret }: ScanKeys,
  spendSecret: Uint8Array,
  matches: readonly Match[],
): Map<string, Uint8Array> {
  const secrets = new Map<string, Uint8Array>();
  for (const { subaddress } of matches) {
    const key = keyOf(subaddress);
    if (secrets.has(key)) continue;
    const { major, minor } = subaddress;
    if (major === 0 && minor === 0) secrets.set(key, spendSecret.slice());
    else {
      const part = subaddressSecretKey(viewSecret, major, minor);
      secrets.set(key, new Uint8Array(scAdd(spendSecret, part)));
      part.fill(0);
    }
  }
  return secrets;
}

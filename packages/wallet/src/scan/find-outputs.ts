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
import { equalBytes, type RingCt, type Transaction, toHex } from "@anulo/protocol";
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
type Match = { readonly trial: Trial; readonly subaddress: SubaddressIndex };
type Opened = { readonly amount: bigint; readonly mask: Uint8Array };

/** What each transaction pays to the wallet, in order. */
export function findOutputs(finder: Finder, candidates: readonly Candidate[]): ScannedOutput[][] {
  const matches = matchesOf(finder, trialsOf(candidates));
  const matched = matches.map(({ trial }) => trial);
  const scalars = derivationScalarBatch(packedKeys(matched, derivationOf), outputIndices(matched));
  const amountKeys = matches.map((_, i) => scalars.subarray(32 * i, 32 * i + 32));
  const opened = openAmounts(candidates, matches, amountKeys);
  const keyImages = keyImagesOf(finder, matches, amountKeys);
  scalars.fill(0);
  const found: ScannedOutput[][] = candidates.map(() => []);
  for (let i = 0; i < matches.length; i++) {
    const { trial, subaddress } = matches[i]!;
    const amount = opened[i];
    if (amount === undefined) continue;
    const { of, outputIndex, oneTimeKey, txPublicKey } = trial;
    const { transaction, coinbase, globalIndices } = candidates[of]!;
    const { version, outputs } = transaction.prefix;
    found[of]!.push({
      outputIndex,
      globalIndex: globalIndices[outputIndex] ?? 0n,
      amount: amount.amount,
      mask: amount.mask,
      rct: outputs[outputIndex]!.amount === 0n || (coinbase && version >= 2),
      oneTimeKey,
      txPublicKey,
      keyImage: keyImages[i],
      subaddress,
    });
  }
  return found;
}

/** The main keys come first, then each output's own additional key. Source: cryptonote_format_utils.cpp `is_out_to_acc_precomp`. */
function trialsOf(candidates: readonly Candidate[]): Trial[] {
  const trials: Trial[] = [];
  for (let of = 0; of < candidates.length; of++) {
    const candidate = candidates[of]!;
    const { publicKeys, derivations, additionalKeys, additionalDerivations } = candidate;
    const { outputs } = candidate.transaction.prefix;
    for (let outputIndex = 0; outputIndex < outputs.length; outputIndex++) {
      const { target } = outputs[outputIndex]!;
      if (target.type !== "key" && target.type !== "taggedKey") continue;
      const oneTimeKey = target.key;
      const viewTag = target.type === "taggedKey" ? target.viewTag : undefined;
      for (let i = 0; i <= derivations.length; i++) {
        const isMain = i < derivations.length;
        const derivation = isMain ? derivations[i] : additionalDerivations[outputIndex];
        const txPublicKey = isMain ? publicKeys[i] : additionalKeys[outputIndex];
        if (derivation === undefined || txPublicKey === undefined) continue;
        trials.push({ of, outputIndex, oneTimeKey, viewTag, derivation, txPublicKey });
      }
    }
  }
  return trials;
}

/** A key of 32 bytes of each item, end to end. */
export function packedKeys<T>(items: readonly T[], keyOf: (item: T) => Uint8Array): Uint8Array {
  const packed = new Uint8Array(32 * items.length);
  for (let i = 0; i < items.length; i++) packed.set(keyOf(items[i]!), 32 * i);
  return packed;
}

const derivationOf = ({ derivation }: Trial): Uint8Array => derivation;

function outputIndices(trials: readonly Trial[]): Uint32Array {
  const indices = new Uint32Array(trials.length);
  for (let i = 0; i < trials.length; i++) indices[i] = trials[i]!.outputIndex;
  return indices;
}

/** The first trial of each output that leads to an address of the wallet; the table grows as addresses turn up. */
function matchesOf({ table, cover }: Finder, trials: readonly Trial[]): Match[] {
  const tags = viewTagBatch(packedKeys(trials, derivationOf), outputIndices(trials));
  const left = trials.filter(({ viewTag }, i) => viewTag === undefined || viewTag === tags[i]);
  const { points, valid } = outputSpendKeyBatch({
    outputKeys: packedKeys(left, ({ oneTimeKey }) => oneTimeKey),
    derivations: packedKeys(left, derivationOf),
    outputIndices: outputIndices(left),
  });
  const matches: Match[] = [];
  for (let i = 0; i < left.length; i++) {
    const trial = left[i]!;
    const last = matches.at(-1)?.trial;
    if (valid[i] !== 1 || (last?.of === trial.of && last.outputIndex === trial.outputIndex)) continue;
    const subaddress = table.byKey.get(toHex(points.subarray(32 * i, 32 * i + 32)));
    if (subaddress === undefined) continue;
    cover(subaddress);
    matches.push({ trial, subaddress });
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
  const amounts = matches.map(({ trial: { of, outputIndex } }, place): Opened | undefined => {
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
    masks: packedKeys(hidden, ({ opened }) => opened.mask),
    amounts: hidden.map(({ opened }) => opened.amount),
    commitments: packedKeys(hidden, ({ commitment }) => commitment),
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

/** The key image of each match; none where the secret isn't the key's, or in a wallet that can only look. */
function keyImagesOf(
  { keys, keyImages }: Finder,
  matches: readonly Match[],
  amountKeys: readonly Uint8Array[],
): (Uint8Array | undefined)[] {
  const names = matches.map(({ trial }) => toHex(trial.oneTimeKey));
  const { spendSecret } = keys;
  if (spendSecret !== undefined) {
    const fresh: Fresh[] = [];
    for (let i = 0; i < matches.length; i++) {
      const { trial, subaddress } = matches[i]!;
      const name = names[i]!;
      if (keyImages.has(name)) continue;
      fresh.push({ name, oneTimeKey: trial.oneTimeKey, subaddress, amountKey: amountKeys[i]! });
    }
    makeKeyImages(keyImages, { ...keys, spendSecret }, fresh);
  }
  return names.map((name) => keyImages.get(name));
}

/** An output whose key image isn't known yet. */
type Fresh = {
  /** Its one-time key in hex. */
  readonly name: string;
  readonly oneTimeKey: Uint8Array;
  readonly subaddress: SubaddressIndex;
  readonly amountKey: Uint8Array;
};

function makeKeyImages(keyImages: Map<string, Uint8Array>, keys: SpendKeys, fresh: readonly Fresh[]): void {
  if (fresh.length === 0) return;
  const ofAddress = addressSecrets(keys, fresh);
  const secretKeys = new Uint8Array(32 * fresh.length);
  try {
    for (let at = 0; at < fresh.length; at++) {
      const { subaddress, amountKey } = fresh[at]!;
      const secret = scAdd(ofAddress.get(keyOf(subaddress))!, amountKey);
      secretKeys.set(secret, 32 * at);
      secret.fill(0);
    }
    const publicKeys = publicKeyBatch(secretKeys);
    const oneTimeKeys = packedKeys(fresh, ({ oneTimeKey }) => oneTimeKey);
    const images = keyImageBatch({ publicKeys: oneTimeKeys, secretKeys });
    for (let at = 0; at < fresh.length; at++) {
      const { name, oneTimeKey } = fresh[at]!;
      const from = 32 * at;
      if (!equalBytes(publicKeys.subarray(from, from + 32), oneTimeKey)) continue;
      keyImages.set(name, images.slice(from, from + 32));
    }
  } finally {
    secretKeys.fill(0);
    for (const secret of ofAddress.values()) secret.fill(0);
  }
}

type SpendKeys = ScanKeys & { readonly spendSecret: Uint8Array };

const keyOf = ({ major, minor }: SubaddressIndex): string => `${major}/${minor}`;

/** The spend secret of each address that received. */
function addressSecrets(
  { viewSecret, spendSecret }: SpendKeys,
  fresh: readonly Fresh[],
): Map<string, Uint8Array> {
  const secrets = new Map<string, Uint8Array>();
  for (const { subaddress } of fresh) {
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

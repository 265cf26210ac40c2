/**
 * The second half of scanning: which outputs are the wallet's, each step for all of them at once. Synchronous, in order
 * of the chain.
 */
import {
  commit,
  commitmentMask,
  commitmentsOpen,
  decodeAmount,
  derivationScalarBatch,
  hashToScalar,
  keyImageBatch,
  publicKeyBatch,
  scAdd,
  scSub,
  subaddressSecretKey,
  wipe,
} from "@anulo/crypto";
import { equalBytes, type RingCt, type Transaction, toHex } from "@anulo/protocol";
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import type { ScannedOutput } from "../state.ts";
import type { RecognisedAddresses } from "./address-runs.ts";
import { packedKeys } from "./packed-lists.ts";
import type { RawTransaction } from "./raw-transaction.ts";
import { PUBLIC_MASK, type ScanKeys, type SecretPair } from "./scan-transaction.ts";
import { type Sifted, targetOf } from "./sift.ts";

export type Finder = {
  readonly keys: ScanKeys;
  readonly table: Pick<RecognisedAddresses, "indexOf">;
  /** Extends the table beyond an address that has just been used. */
  readonly cover: (index: SubaddressIndex) => void;
  /** Key images computed so far, by hex one-time key: an output found again has the same key image. */
  readonly keyImages: Map<string, Uint8Array>;
};

/** A transaction that may pay the wallet. */
export type Candidate = Pick<RawTransaction, "globalIndices" | "coinbase"> & {
  readonly transaction: Transaction;
  /** Its public keys (32 bytes each): the main ones, then the additional ones. */
  readonly keys: readonly Uint8Array[];
  /** One derivation per key, 32 bytes each. */
  readonly derivations: Uint8Array;
  /** Index of its first derivation in the whole list. */
  readonly firstDerivation: number;
};

/** An output sent to an address of the wallet. */
type Match = {
  /** Index of its transaction in the list. */
  readonly of: number;
  readonly candidate: Candidate;
  readonly outputIndex: number;
  readonly oneTimeKey: Uint8Array;
  readonly derivation: Uint8Array;
  readonly txPublicKey: Uint8Array;
  readonly subaddress: SubaddressIndex;
};
type Opened = { readonly amount: bigint; readonly mask: Uint8Array };

/**
 * Returns the outputs that transactions pay to the wallet, by index in the list; `candidateAt` is called for these
 * only.
 */
export function findOutputs(
  finder: Finder,
  siftResult: Sifted,
  candidateAt: (of: number) => Candidate,
): Map<number, ScannedOutput[]> {
  const receivedOutputs = new Map<number, ScannedOutput[]>();
  const matches = matchesOf(finder, siftResult, candidateAt);
  if (matches.length === 0) return receivedOutputs;
  const derivations = packedKeys(matches.map(({ derivation }) => derivation));
  const scalars = derivationScalarBatch(
    derivations,
    Uint32Array.from(matches, ({ outputIndex }) => outputIndex),
  );
  wipe(derivations);
  const amountKeys = matches.map((_, i) => scalars.subarray(32 * i, 32 * i + 32));
  const opened = openAmounts(matches, amountKeys);
  const keyImages = keyImagesOf(finder, matches, amountKeys);
  wipe(scalars);
  for (let i = 0; i < matches.length; i++) {
    const amount = opened[i];
    if (amount === undefined) continue;
    const { of, outputIndex, oneTimeKey, txPublicKey, subaddress, candidate } = matches[i]!;
    const { transaction, coinbase, globalIndices } = candidate;
    const { version, outputs } = transaction.prefix;
    const output: ScannedOutput = {
      outputIndex,
      globalIndex: BigInt(globalIndices[outputIndex] ?? 0),
      amount: amount.amount,
      mask: amount.mask,
      rct: outputs[outputIndex]!.amount === 0n || (coinbase && version >= 2),
      oneTimeKey,
      txPublicKey,
      keyImage: keyImages[i],
      subaddress,
    };
    const others = receivedOutputs.get(of);
    if (others === undefined) receivedOutputs.set(of, [output]);
    else others.push(output);
  }
  return receivedOutputs;
}

/**
 * The first trial of each output that yields an address of the wallet; the table grows as addresses are found in use.
 */
function matchesOf(
  { table, cover }: Finder,
  { trials, spendKeys }: Sifted,
  candidateAt: (of: number) => Candidate,
): Match[] {
  const matches: Match[] = [];
  for (let i = 0; i < trials.of.length; i++) {
    const subaddress = table.indexOf(spendKeys, 32 * i);
    if (subaddress === undefined) continue;
    const of = trials.of[i]!;
    const outputIndex = trials.outputIndices[i]!;
    const last = matches.at(-1);
    if (last?.of === of && last.outputIndex === outputIndex) continue;
    cover(subaddress);
    const candidate = candidateAt(of);
    const key = trials.derivations[i]! - candidate.firstDerivation;
    matches.push({
      of,
      candidate,
      outputIndex,
      subaddress,
      oneTimeKey: targetOf(candidate.transaction, outputIndex)!.key,
      derivation: candidate.derivations.subarray(32 * key, 32 * key + 32),
      txPublicKey: candidate.keys[key]!,
    });
  }
  return matches;
}

type Hidden = { readonly place: number; readonly opened: Opened; readonly commitment: Uint8Array };

/** Decrypts the amounts; undefined for one that doesn't open its commitment: such an output can never be spent. */
function openAmounts(matches: readonly Match[], amountKeys: readonly Uint8Array[]): (Opened | undefined)[] {
  const hidden: Hidden[] = [];
  const amounts = matches.map(({ candidate, outputIndex }, place): Opened | undefined => {
    const { prefix, ringct } = candidate.transaction;
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
    masks: packedKeys(hidden.map(({ opened }) => opened.mask)),
    amounts: hidden.map(({ opened }) => opened.amount),
    commitments: packedKeys(hidden.map(({ commitment }) => commitment)),
  });
}

/** Decrypts an amount: 8 bytes from RCT type 4 on, masked scalars before. Source: rctOps.cpp `ecdhDecode`. */
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

/** The key image of each match; none if the secret does not match the public key, or in a view-only wallet. */
function keyImagesOf(
  { keys, keyImages }: Finder,
  matches: readonly Match[],
  amountKeys: readonly Uint8Array[],
): (Uint8Array | undefined)[] {
  const names = matches.map(({ oneTimeKey }) => toHex(oneTimeKey));
  const { spendSecret } = keys;
  if (spendSecret !== undefined) {
    const fresh: Fresh[] = [];
    for (let i = 0; i < matches.length; i++) {
      const { oneTimeKey, subaddress } = matches[i]!;
      const name = names[i]!;
      if (keyImages.has(name)) continue;
      fresh.push({ name, oneTimeKey, subaddress, amountKey: amountKeys[i]! });
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

/** Adds key images by hex one-time key, for the outputs whose secret matches the public key. */
export function makeKeyImages(
  keyImages: Map<string, Uint8Array>,
  keys: SecretPair,
  fresh: readonly Fresh[],
): void {
  if (fresh.length === 0) return;
  const ofAddress = addressSecrets(keys, fresh);
  const secretKeys = new Uint8Array(32 * fresh.length);
  try {
    for (let at = 0; at < fresh.length; at++) {
      const { subaddress, amountKey } = fresh[at]!;
      const secret = scAdd(ofAddress.get(keyOf(subaddress))!, amountKey);
      secretKeys.set(secret, 32 * at);
      wipe(secret);
    }
    const publicKeys = publicKeyBatch(secretKeys);
    const oneTimeKeys = packedKeys(fresh.map(({ oneTimeKey }) => oneTimeKey));
    const images = keyImageBatch({ publicKeys: oneTimeKeys, secretKeys });
    for (let at = 0; at < fresh.length; at++) {
      const { name, oneTimeKey } = fresh[at]!;
      const from = 32 * at;
      if (!equalBytes(publicKeys.subarray(from, from + 32), oneTimeKey)) continue;
      keyImages.set(name, images.slice(from, from + 32));
    }
  } finally {
    wipe(secretKeys, ...ofAddress.values());
  }
}

const keyOf = ({ major, minor }: SubaddressIndex): string => `${major}/${minor}`;

/** The spend secret of each address that received an output. */
function addressSecrets(
  { viewSecret, spendSecret }: SecretPair,
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
      secrets.set(key, scAdd(spendSecret, part));
      wipe(part);
    }
  }
  return secrets;
}

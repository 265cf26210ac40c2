/**
 * Proof of funds: for each output that it is ours (shared secret) and which key image spends it, and for each address
 * that received them that its spend key is ours. Source: wallet2.cpp `get_reserve_proof`; wallet2.h
 * `reserve_proof_entry`.
 */
import {
  generateTxProofs,
  keccak256InPieces,
  proveKeyImages,
  publicKeyOf,
  type RandomSource,
  scAdd,
  signMessageHash,
  subaddressSecretKey,
  wipe,
} from "@anulo/crypto";
import { forEachSliced, runSliced } from "@anulo/limits";
import {
  BadBytes,
  concatBytes,
  decodeInSteps,
  equalBytes,
  type Reader,
  type ReserveProofBody,
  type ReserveProofEntry,
  type ReserveProofSpendKey,
  readList,
  reserveProofEntry,
  reserveProofSpendKey,
} from "@anulo/protocol";
import type { OwnedOutput, SubaddressIndex } from "../outputs/owned-output.ts";
import { oneTimeSecret } from "../scan/scan-transaction.ts";
import type { SpendKeys } from "../state.ts";
import { decodeProofText, proofRefusal } from "./text.ts";

const HEADERS = { 1: "ReserveProofV1", 2: "ReserveProofV2" } as const;
/** What the text of a proof begins with. */
export const RESERVE_PROOF_HEADER: string = HEADERS[2];

export type ReserveProof = ReserveProofBody & { readonly headerVersion: 1 | 2 };

export type AddressKeys = { readonly spendPublic: Uint8Array; readonly viewPublic: Uint8Array };

/** The hash that all signatures of a proof depend on, computed in slices. */
export async function prefixHashOf(
  message: Uint8Array,
  address: AddressKeys,
  keyImages: Iterable<Uint8Array>,
): Promise<Uint8Array> {
  const hash = keccak256InPieces();
  for (const part of [message, address.spendPublic, address.viewPublic]) hash.update(part);
  await forEachSliced(keyImages, (keyImage) => hash.update(keyImage));
  return hash.digest();
}

export type Proving = { readonly keys: SpendKeys; readonly prefixHash: Uint8Array };

/** What an output whose key image is known is proven with. */
export type OutputToProve = Pick<
  OwnedOutput,
  "txHash" | "outputIndex" | "txPublicKey" | "oneTimeKey" | "subaddress" | "keyImage"
>;

/** That of an output, and no more: a thread gets a copy. */
export function outputToProve(output: OwnedOutput): OutputToProve {
  const { txHash, outputIndex, txPublicKey, oneTimeKey, subaddress, keyImage } = output;
  return { txHash, outputIndex, txPublicKey, oneTimeKey, subaddress, keyImage };
}

/** The entries of a proof for outputs whose key images are known. */
export function proveOutputs(
  outputs: readonly OutputToProve[],
  { keys, prefixHash }: Proving,
  random?: RandomSource,
): ReserveProofEntry[] {
  const { viewSecret, viewPublic: R } = keys;
  const claims = outputs.map(({ txPublicKey: A }) => ({ prefixHash, R, A, version: 2 }) as const);
  const shared = generateTxProofs(claims, viewSecret, random);
  const secretKeys = outputs.map(({ outputIndex, subaddress }, i) =>
    oneTimeSecret(keys, { derivation: shared[i]!.derivation, outputIndex, subaddress }),
  );
  try {
    const images = outputs.map((output) => ({
      prefixHash,
      publicKey: output.oneTimeKey,
      keyImage: output.keyImage!,
    }));
    const keyImageProofs = proveKeyImages(images, secretKeys, random);
    return outputs.map(({ txHash, outputIndex, keyImage }, i) => ({
      version: 0,
      txHash,
      outputIndex,
      sharedSecret: shared[i]!.D,
      keyImage: keyImage!,
      sharedSecretProof: shared[i]!.proof,
      keyImageProof: keyImageProofs[i]!,
    }));
  } finally {
    wipe(...secretKeys, ...shared.map(({ derivation }) => derivation));
  }
}

/** Proves that the address at an index is the wallet's. */
export function proveSpendKey(
  { major, minor }: SubaddressIndex,
  { keys, prefixHash }: Proving,
  random: RandomSource,
): ReserveProofSpendKey {
  const part = major === 0 && minor === 0 ? undefined : subaddressSecretKey(keys.viewSecret, major, minor);
  const secret = part === undefined ? keys.spendSecret.slice() : scAdd(part, keys.spendSecret);
  try {
    const key = part === undefined ? keys.spendPublic : publicKeyOf(secret);
    return { pairSize: 2, key, signature: signMessageHash(prefixHash, key, secret, random) };
  } finally {
    wipe(secret, part);
  }
}

/** Number of characters decoded before yielding to the event loop; whole blocks of base 58. */
const LETTERS_AT_ONCE = 11 * 1024;

async function decodePatiently(text: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < text.length; at += LETTERS_AT_ONCE) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    parts.push(decodeProofText(text.slice(at, at + LETTERS_AT_ONCE)));
  }
  return concatBytes(...parts);
}

/** Reads the bytes behind the header, and pauses after each output. */
function* readBody(reader: Reader): Generator<void, ReserveProofBody> {
  const entries = yield* readList(reader, reserveProofEntry);
  return { entries, spendKeys: yield* readList(reader, reserveProofSpendKey) };
}

/** Parses a proof of the wallet with this address. Throws `WalletRefusal` for anything else. */
export async function parseReserveProof(text: string, address: AddressKeys): Promise<ReserveProof> {
  const headerVersion = text.startsWith(HEADERS[1]) ? 1 : text.startsWith(HEADERS[2]) ? 2 : undefined;
  if (headerVersion === undefined) throw proofRefusal("Signature header check error");
  const blob = await decodePatiently(text.slice(HEADERS[headerVersion].length));
  if (blob.length === 0) throw proofRefusal("Failed to parse reserve proof signature data");
  const absent = proofRefusal("The given address isn't found in the proof");
  try {
    const proof = await runSliced(decodeInSteps(readBody, blob));
    if (!proof.spendKeys.some(({ key }) => equalBytes(key, address.spendPublic))) throw absent;
    return { ...proof, headerVersion };
  } catch (error) {
    if (error instanceof BadBytes) throw absent;
    throw error;
  }
}

/**
 * Proof of funds: for each output that it is ours (shared secret) and which key image spends it, and for each address
 * that received them that its spend key is ours. Source: wallet2.cpp `get_reserve_proof`; wallet2.h `reserve_proof_entry`.
 */
import { randomBytes } from "node:crypto";
import {
  generateTxProofs,
  keccak256,
  proveKeyImages,
  publicKeyOf,
  type RandomSource,
  scAdd,
  signMessageHash,
  subaddressSecretKey,
} from "@anulo/crypto";
import {
  BadBytes,
  bytes,
  bytes32,
  concatBytes,
  decode,
  encode,
  encodeBase58,
  list,
  refine,
  struct,
  type TypeOf,
  toHex,
  varint,
} from "@anulo/protocol";
import { oneTimeSecret } from "../scan/scan-transaction.ts";
import type { OwnedOutput, SubaddressIndex, WalletKeys } from "../state.ts";
import { workThreads } from "../threads/work-threads.ts";
import { inBulk } from "../transfer/random.ts";
import { mapPatiently } from "../turns.ts";
import { decodeProofText, proofRefusal } from "./text.ts";

const HEADERS = { 1: "ReserveProofV1", 2: "ReserveProofV2" } as const;

const entry = struct()
  .field(
    "version",
    refine(varint, (version) => version === 0, "unknown version"),
  )
  .field("txHash", bytes32)
  .field("outputIndex", varint)
  .field("sharedSecret", bytes32)
  .field("keyImage", bytes32)
  .field("sharedSecretProof", bytes(64))
  .field("keyImageProof", bytes(64));

const spendKey = struct()
  .field(
    "pairSize",
    refine(varint, (size) => size === 2, "not a pair"),
  )
  .field("key", bytes32)
  .field("signature", bytes(64));

const reserveProof = struct().field("entries", list(entry)).field("spendKeys", list(spendKey));

export type Entry = TypeOf<typeof entry>;
export type SpendKey = TypeOf<typeof spendKey>;
export type ReserveProof = TypeOf<typeof reserveProof> & { readonly headerVersion: 1 | 2 };

export type AddressKeys = { readonly spendPublic: Uint8Array; readonly viewPublic: Uint8Array };

/** What everything in a proof is bound to. */
export function prefixHashOf(
  message: Uint8Array,
  address: AddressKeys,
  entries: readonly { keyImage: Uint8Array }[],
): Uint8Array {
  const images = entries.map(({ keyImage }) => keyImage);
  return keccak256(concatBytes(message, address.spendPublic, address.viewPublic, ...images));
}

type ProvingKeys = WalletKeys & { readonly spendSecret: Uint8Array };
export type Proving = { readonly keys: ProvingKeys; readonly prefixHash: Uint8Array };

/** So few outputs are proven in less time than it takes to hand them to a thread. */
const FEW = 16;

/** What a proof says of outputs whose key images are known. */
export function proveOutputs(
  outputs: readonly OwnedOutput[],
  { keys, prefixHash }: Proving,
  random?: RandomSource,
): Entry[] {
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
    for (const secretKey of secretKeys) secretKey.fill(0);
    for (const { derivation } of shared) derivation.fill(0);
  }
}

function proveSpendKey(
  { major, minor }: SubaddressIndex,
  { keys, prefixHash }: Proving,
  random: RandomSource,
): SpendKey {
  const part = major === 0 && minor === 0 ? undefined : subaddressSecretKey(keys.viewSecret, major, minor);
  const secret =
    part === undefined ? new Uint8Array(keys.spendSecret) : new Uint8Array(scAdd(part, keys.spendSecret));
  try {
    const key = part === undefined ? keys.spendPublic : publicKeyOf(secret);
    return { pairSize: 2, key, signature: signMessageHash(prefixHash, key, secret, random) };
  } finally {
    secret.fill(0);
    part?.fill(0);
  }
}

/** The primary address is always among them: it names the wallet. */
function addressesOf(outputs: readonly OwnedOutput[]): SubaddressIndex[] {
  const primary = { major: 0, minor: 0 };
  const indices = [primary, ...outputs.map(({ subaddress }) => subaddress)];
  return [...new Map(indices.map((index) => [`${index.major}/${index.minor}`, index])).values()];
}

/** Proof text for outputs with known key images. */
export async function proveReserve(
  outputs: readonly OwnedOutput[],
  { keys, message }: { keys: ProvingKeys; message: Uint8Array },
): Promise<string> {
  const images = outputs.map(({ keyImage }) => ({ keyImage: keyImage! }));
  const proving = { keys, prefixHash: prefixHashOf(message, keys, images) };
  const addresses = addressesOf(outputs);
  const random = inBulk(randomBytes, 32 * (2 * Math.min(outputs.length, FEW) + addresses.length));
  const entries =
    outputs.length <= FEW
      ? proveOutputs(outputs, proving, random)
      : await workThreads.map("proveReserve", outputs, proving);
  const spendKeys = await mapPatiently(addresses, (index) => proveSpendKey(index, proving, random));
  return HEADERS[2] + encodeBase58(encode(reserveProof, { entries, spendKeys }));
}

/** The fewest of the greatest outputs that reach an amount (atomic units), none greater than needed. */
export function chooseReserve(outputs: readonly OwnedOutput[], amount: bigint): OwnedOutput[] {
  let enough: OwnedOutput | undefined;
  /** Of those seen so far, from the greatest down, and their sum. */
  const chosen: OwnedOutput[] = [];
  let total = 0n;
  for (const output of outputs) {
    if (output.amount >= amount) {
      if (enough === undefined || output.amount <= enough.amount) enough = output;
      continue;
    }
    if (total >= amount && output.amount <= chosen.at(-1)!.amount) continue;
    chosen.splice(placeOf(output, chosen), 0, output);
    total += output.amount;
    while (total - chosen.at(-1)!.amount >= amount) total -= chosen.pop()!.amount;
  }
  return enough === undefined ? chosen : [enough];
}

/** Behind all that are as great. */
function placeOf({ amount }: OwnedOutput, descending: readonly OwnedOutput[]): number {
  let low = 0;
  for (let high = descending.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (descending[middle]!.amount >= amount) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Letters decoded before others may run; whole blocks of base 58. */
const LETTERS_AT_ONCE = 11 * 1024;

async function decodePatiently(text: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < text.length; at += LETTERS_AT_ONCE) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    parts.push(decodeProofText(text.slice(at, at + LETTERS_AT_ONCE)));
  }
  return concatBytes(...parts);
}

/** Reads a proof of the wallet with this address. Throws `WalletRefusal` for anything else. */
export async function parseReserveProof(text: string, address: AddressKeys): Promise<ReserveProof> {
  const headerVersion = text.startsWith(HEADERS[1]) ? 1 : text.startsWith(HEADERS[2]) ? 2 : undefined;
  if (headerVersion === undefined) throw proofRefusal("Signature header check error");
  const blob = await decodePatiently(text.slice(HEADERS[headerVersion].length));
  const absent = proofRefusal("The given address isn't found in the proof");
  try {
    const proof = decode(reserveProof, blob);
    const own = toHex(address.spendPublic);
    if (!proof.spendKeys.some(({ key }) => toHex(key) === own)) throw absent;
    return { ...proof, headerVersion };
  } catch (error) {
    if (error instanceof BadBytes) throw absent;
    throw error;
  }
}

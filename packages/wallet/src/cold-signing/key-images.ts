/**
 * Key images signed by the wallet that can compute them, for a view-only copy. Source: wallet2.cpp `export_key_images`,
 * `import_key_images`.
 */
import {
  checkRingSignature,
  generateKeyDerivation,
  generateRingSignature,
  isInMainSubgroup,
  keyImageOf,
  type RandomSource,
  wipe,
} from "@anulo/crypto";
import { equalBytes, toHex } from "@anulo/protocol";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { WalletRefusal } from "../refusal.ts";
import { oneTimeSecret } from "../scan/scan-transaction.ts";
import type { SpendKeys } from "../state.ts";

const KEY_IMAGE_BYTES = 32;
const SIGNED_BYTES = KEY_IMAGE_BYTES + 64;

/** 32 and 64 bytes. */
export type SignedKeyImage = { readonly keyImage: Uint8Array; readonly signature: Uint8Array };

/** Key images with their signatures, 96 bytes each. */
export class SignedKeyImages {
  readonly count: number;
  readonly #bytes: Uint8Array;

  constructor(count: number) {
    this.count = count;
    this.#bytes = new Uint8Array(SIGNED_BYTES * count);
  }

  put(index: number, { keyImage, signature }: SignedKeyImage): void {
    this.#bytes.set(keyImage, SIGNED_BYTES * index);
    this.#bytes.set(signature, SIGNED_BYTES * index + KEY_IMAGE_BYTES);
  }

  /** Not a copy. */
  at(index: number): SignedKeyImage {
    const signed = this.#bytes.subarray(SIGNED_BYTES * index, SIGNED_BYTES * (index + 1));
    return { keyImage: signed.subarray(0, KEY_IMAGE_BYTES), signature: signed.subarray(KEY_IMAGE_BYTES) };
  }
}

/** What the key image of an output is signed with. */
export type OutputToSign = Pick<
  OwnedOutput,
  "oneTimeKey" | "txPublicKey" | "outputIndex" | "subaddress" | "keyImage"
>;

/** That of an output, and no more: a thread gets a copy. */
export function outputToSign(output: OwnedOutput): OutputToSign {
  const { oneTimeKey, txPublicKey, outputIndex, subaddress, keyImage } = output;
  return { oneTimeKey, txPublicKey, outputIndex, subaddress, keyImage };
}

/** The key image of an output and a signature by its one-time key, which proves that they belong together. */
export function signKeyImage(
  output: OutputToSign,
  { keys, random }: { keys: SpendKeys; random?: RandomSource },
): SignedKeyImage {
  const { oneTimeKey, txPublicKey, outputIndex, subaddress } = output;
  const derivation = generateKeyDerivation(txPublicKey, keys.viewSecret);
  const secretKey = oneTimeSecret(keys, { derivation, outputIndex, subaddress });
  try {
    const keyImage = output.keyImage ?? keyImageOf(oneTimeKey, secretKey);
    const statement = { prefixHash: keyImage, keyImage, publicKeys: [oneTimeKey] };
    const [signature] = generateRingSignature(statement, { secretKey, realIndex: 0 }, random);
    return { keyImage, signature: signature! };
  } finally {
    wipe(secretKey, derivation);
  }
}

/** Throws `WalletRefusal` unless the key image is that of the output. `place` identifies it in the error message. */
export function checkKeyImage(
  { keyImage, signature }: SignedKeyImage,
  output: OwnedOutput,
  place: string,
): void {
  if (output.keyImage !== undefined && equalBytes(output.keyImage, keyImage)) return;
  const description = `${place}, key image ${toHex(keyImage)}`;
  if (!isInMainSubgroup(keyImage))
    throw new WalletRefusal("UNKNOWN_ERROR", `Key image out of validity domain: input ${description}`);
  const statement = { prefixHash: keyImage, keyImage, publicKeys: [output.oneTimeKey] };
  if (checkRingSignature(statement, [signature])) return;
  const rest = `signature ${toHex(signature)}, pubkey ${toHex(output.oneTimeKey)}`;
  throw new WalletRefusal("WRONG_SIGNATURE", `Signature check failed ${description}, ${rest}`);
}

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
} from "@anulo/crypto";
import { equalBytes, toHex } from "@anulo/protocol";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { WalletRefusal } from "../refusal.ts";
import { oneTimeSecret } from "../scan/scan-transaction.ts";
import type { SpendKeys } from "../state.ts";

/** 32 and 64 bytes. */
export type SignedKeyImage = { readonly keyImage: Uint8Array; readonly signature: Uint8Array };

/** The key image of an output and a signature by its one-time key, which proves that they belong together. */
export function signKeyImage(
  output: OwnedOutput,
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
    secretKey.fill(0);
    derivation.fill(0);
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

/**
 * Amounts encrypted for the recipient. `amountKey` is `derivationToScalar(derivation, outputIndex)`, 32 bytes. Source:
 * rctOps.cpp `ecdhEncode`, `ecdhDecode`, `genCommitmentMask`.
 */
import { asciiBytes, checkLength } from "../bytes.ts";
import { keccak256 } from "../hash/keccak.ts";
import { hashToScalar } from "../point.ts";
import { scAdd, scFromUint64, scSub } from "../scalar.ts";

/** The mask of the output's commitment, which the recipient derives too (RCT types 4 to 6), 32 bytes. */
export function commitmentMask(amountKey: Uint8Array): Uint8Array {
  checkLength("amount key", amountKey, 32);
  return hashToScalar(asciiBytes("commitment_mask"), amountKey);
}

function amountPad(amountKey: Uint8Array): bigint {
  checkLength("amount key", amountKey, 32);
  return readAmount(keccak256(asciiBytes("amount"), amountKey));
}

function readAmount(bytes: Uint8Array): bigint {
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
}

/** Encrypts an amount in atomic units (RCT types 4 to 6): 8 bytes; throws `RangeError` outside 64 bits. */
export function encodeAmount(amount: bigint, amountKey: Uint8Array): Uint8Array {
  return scFromUint64(amount ^ amountPad(amountKey)).slice(0, 8);
}

/** Decrypts 8 bytes to atomic units; under a wrong key to some other amount, so compare the commitment. */
export function decodeAmount(encrypted: Uint8Array, amountKey: Uint8Array): bigint {
  checkLength("encrypted amount", encrypted, 8);
  return readAmount(encrypted) ^ amountPad(amountKey);
}

/** Mask and amount as RCT types 1 to 3 send them, 32 bytes each. */
export type EncryptedMaskAndAmount = { mask: Uint8Array; amount: Uint8Array };

/** Encrypts mask and amount the way RCT types 1 to 3 do. */
export function encodeMaskAndAmount(
  plain: { mask: Uint8Array; amount: bigint },
  amountKey: Uint8Array,
): EncryptedMaskAndAmount {
  const first = hashToScalar(amountKey);
  return {
    mask: scAdd(plain.mask, first),
    amount: scAdd(scFromUint64(plain.amount), hashToScalar(first)),
  };
}

/** Decrypts mask and amount (atomic units, the low 64 bits) of RCT types 1 to 3. */
export function decodeMaskAndAmount(
  encrypted: EncryptedMaskAndAmount,
  amountKey: Uint8Array,
): { mask: Uint8Array; amount: bigint } {
  const first = hashToScalar(amountKey);
  return {
    mask: scSub(encrypted.mask, first),
    amount: readAmount(scSub(encrypted.amount, hashToScalar(first))),
  };
}

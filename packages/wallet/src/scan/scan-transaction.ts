/** Secrets of owned outputs, and other values that a wallet reads from a transaction that pays it. */
import { deriveSecretKey, keccak256, scAdd, subaddressSecretKey, wipe } from "@anulo/crypto";
import type { TransactionPrefix } from "@anulo/protocol";
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import type { SpendKeys, WalletKeys } from "../state.ts";

/** Scalar 1: the mask of a public amount. */
export const PUBLIC_MASK: Uint8Array = Uint8Array.of(1, ...new Uint8Array(31));

export type ScanKeys = Pick<WalletKeys, "viewSecret" | "spendSecret" | "spendPublic">;

/** The secrets from which those of outputs follow. */
export type SecretPair = Pick<SpendKeys, "viewSecret" | "spendSecret">;

type OneTime = { derivation: Uint8Array; outputIndex: number; subaddress: SubaddressIndex };

/** Secret of an owned output's one-time key: Hs(derivation ‖ i) + b, plus the subaddress's own part. */
export function oneTimeSecret(
  keys: SecretPair,
  { derivation, outputIndex, subaddress }: OneTime,
): Uint8Array {
  const base = deriveSecretKey(derivation, outputIndex, keys.spendSecret);
  const { major, minor } = subaddress;
  if (major === 0 && minor === 0) return base;
  const part = subaddressSecretKey(keys.viewSecret, major, minor);
  try {
    return scAdd(base, part);
  } finally {
    wipe(base, part);
  }
}

const ENCRYPTED_PAYMENT_ID_TAIL = 0x8d;

/**
 * Encrypts or decrypts an 8-byte payment id; both are the same operation. Source: device_default.cpp
 * `encrypt_payment_id`.
 */
export function cryptPaymentId(paymentId: Uint8Array, derivation: Uint8Array): Uint8Array {
  const pad = keccak256(derivation, Uint8Array.of(ENCRYPTED_PAYMENT_ID_TAIL));
  return paymentId.map((byte, i) => byte ^ pad[i]!);
}

/** Sum of the public output amounts; encrypted ones count as 0. */
export function publicAmountOut(prefix: TransactionPrefix): bigint {
  return prefix.outputs.reduce((sum, output) => sum + output.amount, 0n);
}

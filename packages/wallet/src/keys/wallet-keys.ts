/** Making, restoring and checking a wallet's keys. All keys are 32 bytes. */
import {
  keccak256,
  publicKeyOf,
  type RandomSource,
  randomScalar,
  scIsCanonical,
  scIsZero,
  scReduce32,
} from "@anulo/crypto";
import { equalBytes } from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";
import type { WalletKeys } from "../state.ts";

/** Dates before the first wallets of each kind, seconds since 1970. Source: account.cpp `generate`, `create_from_keys`. */
export const CREATED_FROM_SEED = BigInt(Date.UTC(2014, 5, 8) / 1000);
export const CREATED_FROM_KEYS = BigInt(Date.UTC(2014, 3, 15) / 1000);

/** What a wallet to be created is given. */
export type NewWallet = {
  readonly keys: WalletKeys;
  readonly password: string;
  /** English name; empty for keys that no mnemonic stands for. */
  readonly seedLanguage: string;
  readonly refreshFromHeight: number;
  /** Seconds since 1970. */
  readonly createdAt: bigint;
  /** The address is also written to a text file, as it always is on test networks. */
  readonly addressFile?: boolean;
};

/** A wallet nobody has yet. */
export function createKeys(random?: RandomSource): WalletKeys {
  return keysOfSeed(randomScalar(random));
}

/**
 * The keys a mnemonic's seed (32 bytes, wiped) stands for: the view key follows from the spend key.
 * Source: account.cpp `generate`.
 */
export function keysOfSeed(seed: Uint8Array): WalletKeys {
  const spendSecret = scReduce32(seed);
  seed.fill(0);
  const viewSecret = viewSecretOf(spendSecret);
  return {
    spendSecret,
    viewSecret,
    spendPublic: publicKeyOf(spendSecret),
    viewPublic: publicKeyOf(viewSecret),
  };
}

function viewSecretOf(spendSecret: Uint8Array): Uint8Array {
  const hash = keccak256(spendSecret);
  const viewSecret = scReduce32(hash);
  hash.fill(0);
  return viewSecret;
}

/** Whether these keys can be restored from a mnemonic. */
export function isDeterministic(keys: WalletKeys): boolean {
  if (keys.spendSecret === undefined || keys.multisig !== undefined) return false;
  return equalBytes(viewSecretOf(keys.spendSecret), keys.viewSecret);
}

/** Why secrets and public keys don't belong together; undefined when they do. */
export function mismatch(keys: WalletKeys): "spend" | "view" | undefined {
  if (!belongs(keys.viewSecret, keys.viewPublic)) return "view";
  // A multisig address belongs to no single secret.
  if (keys.spendSecret === undefined || keys.multisig !== undefined) return undefined;
  if (!belongs(keys.spendSecret, keys.spendPublic)) return "spend";
  return undefined;
}

function belongs(secret: Uint8Array, publicKey: Uint8Array): boolean {
  return scIsCanonical(secret) && !scIsZero(secret) && equalBytes(publicKeyOf(secret), publicKey);
}

/** Throws the refusal callers know when secrets don't fit the address. */
export function checkKeysFit(keys: WalletKeys): void {
  const which = mismatch(keys);
  if (which !== undefined) throw new WalletRefusal("UNKNOWN_ERROR", `${which} key does not match address`);
}

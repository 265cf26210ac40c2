/** Creating, restoring and checking a wallet's keys. All keys are 32 bytes. */
import {
  keccak256,
  publicKeyOf,
  type RandomSource,
  randomScalar,
  scIsCanonical,
  scIsZero,
  scReduce32,
  wipe,
} from "@anulo/crypto";
import { equalBytes } from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";
import type { SpendKeys, WalletKeys } from "../state.ts";

/** Dates before the first wallets of each kind, seconds since 1970. Source: account.cpp `generate`, `create_from_keys`. */
export const CREATED_FROM_SEED = BigInt(Date.UTC(2014, 5, 8) / 1000);
export const CREATED_FROM_KEYS = BigInt(Date.UTC(2014, 3, 15) / 1000);

/** The properties of a wallet to be created. */
export type NewWallet = {
  readonly keys: WalletKeys;
  readonly password: string;
  /** English name; empty for keys that cannot be restored from a mnemonic. */
  readonly seedLanguage: string;
  readonly refreshFromHeight: number;
  /** Seconds since 1970. */
  readonly createdAt: bigint;
  /** Whether the address is also written to a text file, as it always is on test networks. */
  readonly addressFile?: boolean;
};

/** Generates the keys of a new wallet. */
export function createKeys(random?: RandomSource): SpendKeys {
  return keysOfSeed(randomScalar(random));
}

/**
 * The keys of a mnemonic's seed (32 bytes, which this wipes): the view key follows from the spend key.
 * Source: account.cpp `generate`.
 */
export function keysOfSeed(seed: Uint8Array): SpendKeys {
  const spendSecret = scReduce32(seed);
  wipe(seed);
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
  wipe(hash);
  return viewSecret;
}

/** Whether these keys can be restored from a mnemonic. */
export function isDeterministic(keys: WalletKeys): boolean {
  if (keys.spendSecret === undefined || keys.multisig !== undefined) return false;
  return equalBytes(viewSecretOf(keys.spendSecret), keys.viewSecret);
}

/** Which of the secrets does not match its public key; undefined if both do. */
export function mismatch(keys: WalletKeys): "spend" | "view" | undefined {
  if (!belongs(keys.viewSecret, keys.viewPublic)) return "view";
  // No single secret matches the spend key of a multisig address.
  if (keys.spendSecret === undefined || keys.multisig !== undefined) return undefined;
  if (!belongs(keys.spendSecret, keys.spendPublic)) return "spend";
  return undefined;
}

function belongs(secret: Uint8Array, publicKey: Uint8Array): boolean {
  return scIsCanonical(secret) && !scIsZero(secret) && equalBytes(publicKeyOf(secret), publicKey);
}

/** Throws `WalletRefusal` if the secrets don't match the address. */
export function checkKeysFit(keys: WalletKeys): void {
  const which = mismatch(keys);
  if (which !== undefined) throw new WalletRefusal("UNKNOWN_ERROR", `${which} key does not match address`);
}

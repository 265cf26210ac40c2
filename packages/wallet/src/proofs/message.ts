/** Texts signed with the keys of an address. Source: wallet2.cpp `sign`, `verify`, `get_message_hash`. */
import {
  checkSignature,
  keccak256,
  publicKeyOf,
  type RandomSource,
  scAdd,
  scMul,
  signMessageHash,
  subaddressSecretKey,
  wipe,
} from "@anulo/crypto";
import { encodeBase58, Writer } from "@anulo/protocol";
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import type { Act } from "../signer/refusals.ts";
import type { SpendKeys, ViewKeys } from "../state.ts";
import { base58Bytes } from "./text.ts";

/** Which of an address's two keys signs. */
export type SigningKey = "spend" | "view";

/** Version 1 signs the bare hash of the text; wallets no longer create it. */
const HEADERS = { 1: "SigV1", 2: "SigV2" } as const;
const MODES = { spend: 0, view: 1 } as const;
/** Source: cryptonote_config.h HASH_KEY_MESSAGE_SIGNING, its closing zero included. */
const DOMAIN = new TextEncoder().encode("MoneroMessageSignature\0");

type AddressKeys = { readonly spendPublic: Uint8Array; readonly viewPublic: Uint8Array };

/** The hash that version 2 signs: 32 bytes that depend on both keys of the address and on which of them signs. */
function messageHash(data: Uint8Array, address: AddressKeys, key: SigningKey): Uint8Array {
  const size = new Writer(10);
  size.writeVarint(data.length);
  const { spendPublic, viewPublic } = address;
  return keccak256(DOMAIN, spendPublic, viewPublic, Uint8Array.of(MODES[key]), size.finish(), data);
}

/** Secrets of an address; the caller wipes them. */
function addressSecrets(keys: SpendKeys, { major, minor }: SubaddressIndex): Record<SigningKey, Uint8Array> {
  if (major === 0 && minor === 0) {
    return { spend: new Uint8Array(keys.spendSecret), view: new Uint8Array(keys.viewSecret) };
  }
  const part = subaddressSecretKey(keys.viewSecret, major, minor);
  const spend = scAdd(part, keys.spendSecret);
  wipe(part);
  return { spend, view: scMul(keys.viewSecret, spend) };
}

/** The part of a wallet's signer that signs texts. */
export type TextSigner = { readonly keys: ViewKeys; spendKeys(act: Act): SpendKeys };

/**
 * The signing key's secret and the address's public keys; the caller wipes the secret. Only the primary address's view
 * secret is known without the spend secret.
 */
function secretOf(signer: TextSigner, { index, key }: MessageSigning) {
  const { keys } = signer;
  if (key === "view" && index.major === 0 && index.minor === 0) {
    const { spendPublic, viewPublic } = keys;
    return { secret: new Uint8Array(keys.viewSecret), address: { spendPublic, viewPublic } };
  }
  const secrets = addressSecrets(signer.spendKeys("signMessage"), index);
  const address = { spendPublic: publicKeyOf(secrets.spend), viewPublic: publicKeyOf(secrets.view) };
  wipe(secrets[key === "spend" ? "view" : "spend"]);
  return { secret: secrets[key], address };
}

export type MessageSigning = {
  readonly index: SubaddressIndex;
  readonly key: SigningKey;
  readonly random?: RandomSource;
};

/** Signature text of `data`, version 2. Throws `WalletRefusal` if the signer does not have the secret. */
export function signMessage(signer: TextSigner, data: Uint8Array, signing: MessageSigning): string {
  const { secret, address } = secretOf(signer, signing);
  try {
    const hash = messageHash(data, address, signing.key);
    const publicKey = signing.key === "spend" ? address.spendPublic : address.viewPublic;
    return HEADERS[2] + encodeBase58(signMessageHash(hash, publicKey, secret, signing.random));
  } finally {
    wipe(secret);
  }
}

export type MessageVerdict =
  | { readonly good: true; readonly version: 1 | 2; readonly key: SigningKey }
  | { readonly good: false };

/** Returns which key of the address signed `data`, if any. A malformed signature is invalid. */
export function verifyMessage(address: AddressKeys, data: Uint8Array, signature: string): MessageVerdict {
  const version = signature.startsWith(HEADERS[1]) ? 1 : signature.startsWith(HEADERS[2]) ? 2 : undefined;
  if (version === undefined) return { good: false };
  const bytes = base58Bytes(signature.slice(HEADERS[version].length));
  if (bytes?.length !== 64) return { good: false };
  for (const key of ["spend", "view"] as const) {
    const hash = version === 1 ? keccak256(data) : messageHash(data, address, key);
    const publicKey = key === "spend" ? address.spendPublic : address.viewPublic;
    if (checkSignature(hash, publicKey, bytes)) return { good: true, version, key };
  }
  return { good: false };
}

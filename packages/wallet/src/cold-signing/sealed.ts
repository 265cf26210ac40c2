/**
 * Data that a view-only wallet and the wallet with the spend key exchange; only holders of the view key can read and
 * write it: magic · iv (8) · chacha20 · signature (64). Source: wallet2.cpp `encrypt`, `decrypt`.
 */
import { chacha20, checkSignature, keccak256, signMessageHash } from "@anulo/crypto";
import { concatBytes, equalBytes } from "@anulo/protocol";
import type { Runtime } from "../runtime.ts";
import type { WalletKeys } from "../state.ts";

const IV_BYTES = 8;
const SIGNATURE_BYTES = 64;

/** The key for encryption: a wallet's view key, hashed in as many rounds as on the other side. */
export type Sealer = {
  readonly keys: Pick<WalletKeys, "viewSecret" | "viewPublic">;
  readonly runtime: Pick<Runtime, "threads" | "random" | "kdfRounds">;
};

/** The kind of the encrypted data: its first bytes, the version last. */
export type Magic = Uint8Array;

/** Magic of a text followed by a version byte. */
export function magicOf(text: string, version: number): Magic {
  return concatBytes(new TextEncoder().encode(text), Uint8Array.of(version));
}

/** 32 bytes, which the caller wipes. About 40 ms per round. */
async function sealingKey({ keys, runtime: { threads, kdfRounds = 1 } }: Sealer): Promise<Uint8Array> {
  return await threads.run("slowHash", { bytes: keys.viewSecret, rounds: kdfRounds });
}

/** Encrypts and signs. */
export async function seal(magic: Magic, plain: Uint8Array, sealer: Sealer): Promise<Uint8Array> {
  const { keys, runtime } = sealer;
  const key = await sealingKey(sealer);
  try {
    const iv = runtime.random(IV_BYTES);
    const body = concatBytes(iv, chacha20(plain, key, iv));
    const signature = signMessageHash(keccak256(body), keys.viewPublic, keys.viewSecret, runtime.random);
    return concatBytes(magic, body, signature);
  } finally {
    key.fill(0);
  }
}

/** Whether bytes begin like this kind. */
export function hasMagic(magic: Magic, sealed: Uint8Array): boolean {
  return equalBytes(sealed.subarray(0, magic.length), magic);
}

/** Decrypts data; undefined for another kind, for data of another wallet, and for data that was changed. */
export async function unseal(
  magic: Magic,
  sealed: Uint8Array,
  sealer: Sealer,
): Promise<Uint8Array | undefined> {
  if (!hasMagic(magic, sealed)) return undefined;
  const body = sealed.subarray(magic.length, -SIGNATURE_BYTES);
  const signature = sealed.subarray(magic.length + body.length);
  if (sealed.length < magic.length + IV_BYTES + SIGNATURE_BYTES) return undefined;
  if (!checkSignature(keccak256(body), sealer.keys.viewPublic, signature)) return undefined;
  const key = await sealingKey(sealer);
  try {
    return chacha20(body.subarray(IV_BYTES), key, body.subarray(0, IV_BYTES));
  } finally {
    key.fill(0);
  }
}

/**
 * Data that a view-only wallet and the wallet with the spend key exchange; only holders of the view key can read and
 * write it: magic · iv (8) · chacha20 · signature (64). Source: wallet2.cpp `encrypt`, `decrypt`.
 */
import { chacha20InPieces, checkSignature, keccak256InPieces, signMessageHash, wipe } from "@anulo/crypto";
import { forEachSliced, TimeSlice } from "@anulo/limits";
import { concatBytes, equalBytes } from "@anulo/protocol";
import type { Runtime } from "../runtime.ts";
import type { WalletKeys } from "../state.ts";

const IV_BYTES = 8;
const SIGNATURE_BYTES = 64;
/** Bytes between two looks at the time. */
const STEP_BYTES = 64 * 1024;

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

/** Encrypts and signs data that is made as it is needed: yields the result in as many pieces, with pauses in between. */
export async function* sealInPieces(
  magic: Magic,
  plain: Iterable<Uint8Array>,
  sealer: Sealer,
): AsyncGenerator<Uint8Array, void> {
  const { keys, runtime } = sealer;
  const key = await sealingKey(sealer);
  try {
    const slice = new TimeSlice();
    const iv = runtime.random(IV_BYTES);
    const encrypt = chacha20InPieces(key, iv);
    const hash = keccak256InPieces();
    hash.update(iv);
    yield concatBytes(magic, iv);
    for (const piece of plain) {
      const encrypted = encrypt(piece);
      hash.update(encrypted);
      yield encrypted;
      if (slice.isOver) await slice.yield();
    }
    yield signMessageHash(hash.digest(), keys.viewPublic, keys.viewSecret, runtime.random);
  } finally {
    wipe(key);
  }
}

/** Encrypts and signs. */
export async function seal(
  magic: Magic,
  plain: Uint8Array | Iterable<Uint8Array>,
  sealer: Sealer,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const parts = plain instanceof Uint8Array ? partsOf(plain) : plain;
  for await (const piece of sealInPieces(magic, parts, sealer)) pieces.push(piece);
  return concatBytes(...pieces);
}

/** Views of all bytes, some at a time. */
function* partsOf(bytes: Uint8Array): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += STEP_BYTES) yield bytes.subarray(at, at + STEP_BYTES);
}

/** Whether bytes begin like this kind. */
export function hasMagic(magic: Magic, sealed: Uint8Array): boolean {
  return equalBytes(sealed.subarray(0, magic.length), magic);
}

const isTooShort = (magic: Magic, sealed: Uint8Array): boolean =>
  sealed.length < magic.length + IV_BYTES + SIGNATURE_BYTES;

/** Why data of this kind can't be decrypted, in the original's words. */
export const unsealFailure = (magic: Magic, sealed: Uint8Array): string =>
  isTooShort(magic, sealed) ? "Unexpected ciphertext size" : "Failed to authenticate ciphertext";

/** Decrypts data; undefined for another kind, for data of another wallet, and for data that was changed. */
export async function unseal(
  magic: Magic,
  sealed: Uint8Array,
  sealer: Sealer,
): Promise<Uint8Array | undefined> {
  if (!hasMagic(magic, sealed)) return undefined;
  const body = sealed.subarray(magic.length, -SIGNATURE_BYTES);
  const signature = sealed.subarray(magic.length + body.length);
  if (isTooShort(magic, sealed)) return undefined;
  const hash = keccak256InPieces();
  await forEachSliced(partsOf(body), (part) => hash.update(part));
  if (!checkSignature(hash.digest(), sealer.keys.viewPublic, signature)) return undefined;
  const key = await sealingKey(sealer);
  try {
    const decrypt = chacha20InPieces(key, body.subarray(0, IV_BYTES));
    const plain = new Uint8Array(body.length - IV_BYTES);
    let at = 0;
    await forEachSliced(partsOf(body.subarray(IV_BYTES)), (part) => {
      plain.set(decrypt(part), at);
      at += part.length;
    });
    return plain;
  } finally {
    wipe(key);
  }
}

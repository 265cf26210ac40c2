/** ChaCha with a 64-bit nonce and counter, as wallet files use it. Source: Bernstein, "ChaCha, a variant of Salsa20" (2008). */
import { createCipheriv } from "node:crypto";
import { QUARTERS } from "./hash/quarters.ts";

const KEY_BYTES = 32;
const NONCE_BYTES = 8;
/** "expand 32-byte k". */
const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
const rotateLeft = (x: number, n: number): number => (x << n) | (x >>> (32 - n));

function checkSizes(key: Uint8Array, nonce: Uint8Array): void {
  if (key.length !== KEY_BYTES) throw new RangeError("a ChaCha key has 32 bytes");
  if (nonce.length !== NONCE_BYTES) throw new RangeError("the ChaCha nonce of wallet files has 8 bytes");
}

/** Encrypts or decrypts `data` with 20 rounds; key 32 bytes, nonce 8 bytes, else `RangeError`. */
export function chacha20(data: Uint8Array, key: Uint8Array, nonce: Uint8Array): Uint8Array {
  return chacha20InPieces(key, nonce)(data);
}

/** As `chacha20`, for data that arrives in pieces: each call continues where the last ended. */
export function chacha20InPieces(key: Uint8Array, nonce: Uint8Array): (piece: Uint8Array) => Uint8Array {
  checkSizes(key, nonce);
  // OpenSSL's 16-byte initialisation vector is the 64-bit counter followed by the nonce.
  const iv = new Uint8Array(16);
  iv.set(nonce, 8);
  const cipher = createCipheriv("chacha20", key, iv);
  return (piece) => new Uint8Array(cipher.update(piece));
}

function keystreamBlock(input: Uint32Array, rounds: number): Uint32Array {
  const v = Uint32Array.from(input);
  for (let round = 0; round < rounds; round += 2) {
    for (const [a, b, c, d] of QUARTERS) {
      v[a]! += v[b]!;
      v[d] = rotateLeft(v[d]! ^ v[a]!, 16);
      v[c]! += v[d]!;
      v[b] = rotateLeft(v[b]! ^ v[c]!, 12);
      v[a]! += v[b]!;
      v[d] = rotateLeft(v[d]! ^ v[a]!, 8);
      v[c]! += v[d]!;
      v[b] = rotateLeft(v[b]! ^ v[c]!, 7);
    }
  }
  return v.map((word, i) => word + input[i]!);
}

/** As `chacha20` with 8 rounds: the cipher of keys files from before 2018. */
export function chacha8(data: Uint8Array, key: Uint8Array, nonce: Uint8Array): Uint8Array {
  checkSizes(key, nonce);
  const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const words = Array.from({ length: 8 }, (_, i) => view(key).getUint32(4 * i, true));
  const input = Uint32Array.of(
    ...CONSTANTS,
    ...words,
    0,
    0,
    view(nonce).getUint32(0, true),
    view(nonce).getUint32(4, true),
  );
  const out = Uint8Array.from(data);
  for (let at = 0; at < out.length; at += 64) {
    input[12] = at / 64; // files are far below 2^32 blocks
    const block = new Uint8Array(keystreamBlock(input, 8).buffer);
    for (let i = 0; i < 64 && at + i < out.length; ++i) out[at + i]! ^= block[i]!;
  }
  input.fill(0);
  words.fill(0);
  return out;
}

/** BLAKE-256, 14 rounds. Source: Aumasson, Henzen, Meier, Phan, "SHA-3 proposal BLAKE" (2010), section 2.1. */
import { wipe } from "../bytes.ts";
import { BLAKE_ORDER, QUARTERS } from "./quarters.ts";

const INITIAL = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
] as const;

/** The first 16 words of π's fraction. */
const PI = Uint32Array.of(
  ...[0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0x082efa98, 0xec4e6c89],
  ...[0x452821e6, 0x38d01377, 0xbe5466cf, 0x34e90c6c, 0xc0ac29b7, 0xc97c50dd, 0x3f84d5b5, 0xb5470917],
);

const rotateRight = (x: number, n: number): number => (x >>> n) | (x << (32 - n));

function compress(hash: Uint32Array, block: DataView, bitsHashed: number): void {
  const message = Uint32Array.from({ length: 16 }, (_, i) => block.getUint32(4 * i));
  const v = Uint32Array.of(...hash, ...PI.subarray(0, 8));
  v[12]! ^= bitsHashed;
  v[13]! ^= bitsHashed;
  for (let round = 0; round < 14; ++round) {
    const order = BLAKE_ORDER[round % 10]!;
    for (const [i, [a, b, c, d]] of QUARTERS.entries()) {
      const x = order[2 * i]!;
      const y = order[2 * i + 1]!;
      v[a]! += v[b]! + (message[x]! ^ PI[y]!);
      v[d] = rotateRight(v[d]! ^ v[a]!, 16);
      v[c]! += v[d]!;
      v[b] = rotateRight(v[b]! ^ v[c]!, 12);
      v[a]! += v[b]! + (message[y]! ^ PI[x]!);
      v[d] = rotateRight(v[d]! ^ v[a]!, 8);
      v[c]! += v[d]!;
      v[b] = rotateRight(v[b]! ^ v[c]!, 7);
    }
  }
  for (let i = 0; i < 8; ++i) hash[i]! ^= v[i]! ^ v[i + 8]!;
}

/** BLAKE-256 of `data` (below 512 MiB): 32 bytes, of which no copy stays in memory. */
export function blake256(data: Uint8Array): Uint8Array {
  const blocks = Math.floor((data.length + 8) / 64) + 1;
  const padded = new Uint8Array(64 * blocks);
  padded.set(data);
  padded[data.length] = 0x80;
  padded[padded.length - 9]! |= 1;
  new DataView(padded.buffer).setBigUint64(padded.length - 8, 8n * BigInt(data.length));
  const hash = Uint32Array.from(INITIAL);
  for (let i = 0; i < blocks; ++i) {
    // The counter stands for message bits only, and for none at all in a block of pure padding.
    const bits = 64 * i < data.length ? 8 * Math.min(64 * (i + 1), data.length) : 0;
    compress(hash, new DataView(padded.buffer, 64 * i, 64), bits);
  }
  const out = new DataView(new ArrayBuffer(32));
  hash.forEach((word, i) => void out.setUint32(4 * i, word));
  wipe(padded);
  hash.fill(0);
  return new Uint8Array(out.buffer);
}

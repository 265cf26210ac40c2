/** BLAKE2b without a key, for hashes so rare that they need not be computed by the kernel. Source: RFC 7693. */
import { BLAKE_ORDER, QUARTERS } from "./quarters.ts";

const INITIAL = [
  0x6a09e667f3bcc908n,
  0xbb67ae8584caa73bn,
  0x3c6ef372fe94f82bn,
  0xa54ff53a5f1d36f1n,
  0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn,
  0x1f83d9abfb41bd6bn,
  0x5be0cd19137e2179n,
] as const;

const ROUNDS = 12;
const BLOCK_BYTES = 128;

const rotateRight = (x: bigint, n: bigint): bigint => (x >> n) | (x << (64n - n));

/** Mixes a block into the hash; `counter` is the number of bytes hashed with it. */
function compress(hash: BigUint64Array, block: DataView, counter: number, isLast: boolean): void {
  const message = Array.from({ length: 16 }, (_, i) => block.getBigUint64(8 * i, true));
  const v = BigUint64Array.of(...hash, ...INITIAL);
  v[12]! ^= BigInt(counter);
  if (isLast) v[14] = ~v[14]!;
  for (let round = 0; round < ROUNDS; round++) {
    const order = BLAKE_ORDER[round % BLAKE_ORDER.length]!;
    for (const [i, [a, b, c, d]] of QUARTERS.entries()) {
      v[a]! += v[b]! + message[order[2 * i]!]!;
      v[d] = rotateRight(v[d]! ^ v[a]!, 32n);
      v[c]! += v[d]!;
      v[b] = rotateRight(v[b]! ^ v[c]!, 24n);
      v[a]! += v[b]! + message[order[2 * i + 1]!]!;
      v[d] = rotateRight(v[d]! ^ v[a]!, 16n);
      v[c]! += v[d]!;
      v[b] = rotateRight(v[b]! ^ v[c]!, 63n);
    }
  }
  for (let i = 0; i < 8; i++) hash[i]! ^= v[i]! ^ v[i + 8]!;
}

/** BLAKE2b of `data`: `outBytes` bytes, 1 to 64. */
export function blake2b(data: Uint8Array, outBytes: number): Uint8Array {
  const blocks = Math.max(1, Math.ceil(data.length / BLOCK_BYTES));
  const padded = new Uint8Array(BLOCK_BYTES * blocks);
  padded.set(data);
  const hash = BigUint64Array.from(INITIAL);
  hash[0]! ^= 0x01010000n ^ BigInt(outBytes);
  for (let i = 0; i < blocks; i++) {
    const counter = Math.min(BLOCK_BYTES * (i + 1), data.length);
    compress(hash, new DataView(padded.buffer, BLOCK_BYTES * i, BLOCK_BYTES), counter, i === blocks - 1);
  }
  const out = new DataView(new ArrayBuffer(64));
  hash.forEach((word, i) => void out.setBigUint64(8 * i, word, true));
  return new Uint8Array(out.buffer, 0, outBytes);
}

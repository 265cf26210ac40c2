/** Skein-512-256 on Threefish-512. Source: Ferguson et al., "The Skein Hash Function Family" version 1.3 (2010). */
import { wipe } from "../bytes.ts";
import { once } from "../once.ts";

const MASK = (1n << 64n) - 1n;
const PARITY = 0x1bd11bdaa9fc1a22n;
const ROUNDS = 72;
const BLOCK_BYTES = 64;
/** Rotations of the four MIX functions, by round modulo 8. */
const ROTATIONS = [
  [46n, 36n, 19n, 37n],
  [33n, 27n, 14n, 42n],
  [17n, 49n, 36n, 39n],
  [44n, 9n, 54n, 56n],
  [39n, 30n, 34n, 24n],
  [13n, 50n, 10n, 17n],
  [25n, 29n, 39n, 43n],
  [8n, 35n, 56n, 22n],
] as const;
/** Index from which each word is taken after a round's MIX functions. */
const PERMUTATION = [2, 1, 4, 7, 6, 5, 0, 3] as const;
const TYPE = { config: 4n, message: 48n, output: 63n } as const;

const rotateLeft = (x: bigint, n: bigint): bigint => ((x << n) | (x >> (64n - n))) & MASK;

/** Threefish-512: `key` and `block` are 8 words, `tweak` 2 words. */
function threefish(
  key: BigUint64Array,
  tweak: readonly [bigint, bigint],
  block: BigUint64Array,
): BigUint64Array {
  const keys = [...key, key.reduce((sum, word) => sum ^ word, PARITY)];
  const tweaks = [tweak[0], tweak[1], tweak[0] ^ tweak[1]];
  let v = BigUint64Array.from(block);
  const addSubkey = (s: number): void => {
    for (let i = 0; i < 8; ++i) v[i]! += keys[(s + i) % 9]!;
    v[5]! += tweaks[s % 3]!;
    v[6]! += tweaks[(s + 1) % 3]!;
    v[7]! += BigInt(s);
  };
  for (let round = 0; round < ROUNDS; ++round) {
    if (round % 4 === 0) addSubkey(round / 4);
    for (const [j, rotation] of ROTATIONS[round % 8]!.entries()) {
      v[2 * j]! += v[2 * j + 1]!;
      v[2 * j + 1] = rotateLeft(v[2 * j + 1]!, rotation) ^ v[2 * j]!;
    }
    v = BigUint64Array.from(PERMUTATION, (from) => v[from]!);
  }
  addSubkey(ROUNDS / 4);
  return v;
}

/** Unique Block Iteration: chains `data` through Threefish with the position and type in the tweak. */
function chain(start: BigUint64Array, data: Uint8Array, type: bigint): BigUint64Array {
  const blocks = Math.max(1, Math.ceil(data.length / BLOCK_BYTES));
  let hash = start;
  for (let i = 0; i < blocks; ++i) {
    const bytes = new Uint8Array(BLOCK_BYTES);
    bytes.set(data.subarray(BLOCK_BYTES * i, BLOCK_BYTES * (i + 1)));
    const words = new BigUint64Array(bytes.buffer);
    const first = i === 0 ? 1n << 62n : 0n;
    const last = i === blocks - 1 ? 1n << 63n : 0n;
    const position = BigInt(Math.min(BLOCK_BYTES * (i + 1), data.length));
    const mixed = threefish(hash, [position, first | last | (type << 56n)], words);
    hash = mixed.map((word, k) => word ^ words[k]!);
    wipe(bytes);
    mixed.fill(0n);
  }
  return hash;
}

function initialChain(): BigUint64Array {
  const config = new DataView(new ArrayBuffer(32));
  config.setUint32(0, 0x33414853, true); // "SHA3"
  config.setUint16(4, 1, true); // version
  config.setBigUint64(8, 256n, true); // output length in bits
  return chain(new BigUint64Array(8), new Uint8Array(config.buffer), TYPE.config);
}
const initial = once(initialChain);

/** Skein-512-256 of `data`: 32 bytes, of which no copy stays in memory. Words are little-endian, as is every platform that runs Node. */
export function skein256(data: Uint8Array): Uint8Array {
  const hash = chain(initial(), data, TYPE.message);
  const output = new Uint8Array(chain(hash, new Uint8Array(8), TYPE.output).buffer);
  const digest = output.slice(0, 32);
  wipe(output);
  hash.fill(0n);
  return digest;
}

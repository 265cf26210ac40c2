/** JH-256, 42 rounds. Source: Hongjun Wu, "The Hash Function JH" (2011), section 3: the nibble-wise description. */
import { wipe } from "../bytes.ts";
import { once } from "../once.ts";

const S_BOXES = [
  [9, 0, 4, 11, 13, 12, 3, 15, 1, 10, 2, 6, 7, 5, 8, 14],
  [3, 12, 6, 13, 5, 7, 1, 9, 15, 2, 0, 4, 11, 10, 14, 8],
] as const;
const ROUNDS = 42;
/** Fraction of √2: the first round constant. */
const FIRST_CONSTANT = "6a09e667f3bcc908b2fb1366ea957d3e3adec17512775099da2f590b0667322a";

/** x·nibble in GF(2^4) modulo x^4+x+1. */
const double = (nibble: number): number => ((nibble << 1) ^ (nibble >> 3) ^ ((nibble >> 2) & 2)) & 15;

/** S-boxes chosen by `select` (one entry a nibble), the linear code on pairs, and the permutation P_d. */
function round(nibbles: Uint8Array, select: Uint8Array): Uint8Array {
  const size = nibbles.length;
  const half = size / 2;
  const out = new Uint8Array(size);
  for (let i = 0; i < size; i += 2) {
    let first = S_BOXES[select[i] as 0 | 1][nibbles[i]!]!;
    let second = S_BOXES[select[i + 1] as 0 | 1][nibbles[i + 1]!]!;
    second ^= double(first);
    first ^= double(second);
    // P_d: every other pair is swapped, firsts and seconds are parted, and the seconds are swapped in pairs.
    const at = i / 2;
    const swapped = at & 1;
    out[at] = swapped ? second : first;
    out[half + (at ^ 1)] = swapped ? first : second;
  }
  return out;
}

/** The 256 S-box choices of each round: the bits of the round's constant, which is a round of its own apart. */
function roundConstants(): Uint8Array[] {
  let constant: Uint8Array = Uint8Array.from(FIRST_CONSTANT, (digit) => Number.parseInt(digit, 16));
  const zeros = new Uint8Array(constant.length);
  return Array.from({ length: ROUNDS }, () => {
    const current = constant;
    constant = round(constant, zeros);
    return Uint8Array.from({ length: 256 }, (_, i) => (current[i >> 2]! >> (3 - (i & 3))) & 1);
  });
}
const constants = once(roundConstants);

const bit = (bytes: Uint8Array, index: number): number => (bytes[index >> 3]! >> (7 - (index & 7))) & 1;

/** E8: gathers bit i of the four quarters into nibbles, 42 rounds, and scatters them again. */
function permute(state: Uint8Array): void {
  let nibbles: Uint8Array = new Uint8Array(256);
  for (let i = 0; i < 256; ++i) {
    let nibble = 0;
    for (let quarter = 0; quarter < 4; ++quarter) nibble = (nibble << 1) | bit(state, i + 256 * quarter);
    nibbles[i < 128 ? 2 * i : 2 * (i - 128) + 1] = nibble;
  }
  for (const constant of constants()) nibbles = round(nibbles, constant);
  state.fill(0);
  for (let i = 0; i < 256; ++i) {
    const nibble = nibbles[i < 128 ? 2 * i : 2 * (i - 128) + 1]!;
    for (let quarter = 0; quarter < 4; ++quarter) {
      const at = i + 256 * quarter;
      state[at >> 3]! |= ((nibble >> (3 - quarter)) & 1) << (7 - (at & 7));
    }
  }
}

function compress(state: Uint8Array, block: Uint8Array): void {
  for (let i = 0; i < 64; ++i) state[i]! ^= block[i]!;
  permute(state);
  for (let i = 0; i < 64; ++i) state[64 + i]! ^= block[i]!;
}

/** JH-256 of `data`: 32 bytes, of which no copy stays in memory. */
export function jh256(data: Uint8Array): Uint8Array {
  // A partly filled block is padded on its own and the length follows in one more block.
  const blocks = Math.ceil(data.length / 64) + 1;
  const padded = new Uint8Array(64 * blocks);
  padded.set(data);
  padded[data.length] = 0x80;
  new DataView(padded.buffer).setBigUint64(padded.length - 8, 8n * BigInt(data.length));
  const state = new Uint8Array(128);
  state[0] = 1; // the digest's length in bits, big-endian
  compress(state, new Uint8Array(64));
  for (let i = 0; i < blocks; ++i) compress(state, padded.subarray(64 * i, 64 * (i + 1)));
  const digest = state.slice(96);
  wipe(padded, state);
  return digest;
}

/** Grøstl-256. Source: Gauravaram et al., "Grøstl – a SHA-3 candidate" (round 3, 2011), section 3. */
import { wipe } from "../bytes.ts";
import { double, sbox } from "./rijndael.ts";

const ROUNDS = 10;
/** Row of the matrix that MixBytes multiplies each column with; the other rows are its rotations. */
const MIX = [2, 2, 3, 4, 5, 3, 5, 7] as const;
/** How far each row of the 8 × 8 state moves to the left. */
const SHIFT_P = [0, 1, 2, 3, 4, 5, 6, 7] as const;
const SHIFT_Q = [1, 3, 5, 7, 0, 2, 4, 6] as const;

function times(factor: number, byte: number): number {
  const twice = double(byte);
  return (factor & 1 ? byte : 0) ^ (factor & 2 ? twice : 0) ^ (factor & 4 ? double(twice) : 0);
}
const PRODUCTS = MIX.map((factor) => Uint8Array.from({ length: 256 }, (_, byte) => times(factor, byte)));

/** Byte `8·column + row` of the state; the constant differs by permutation. */
function addConstant(state: Uint8Array, round: number, isQ: boolean): void {
  for (let column = 0; column < 8; ++column) {
    const constant = (column << 4) ^ round;
    if (!isQ) state[8 * column]! ^= constant;
    else for (let row = 0; row < 8; ++row) state[8 * column + row]! ^= row === 7 ? 0xff ^ constant : 0xff;
  }
}

function permute(input: Uint8Array, isQ: boolean): Uint8Array {
  const state = Uint8Array.from(input);
  const moved = new Uint8Array(64);
  const shift = isQ ? SHIFT_Q : SHIFT_P;
  for (let round = 0; round < ROUNDS; ++round) {
    addConstant(state, round, isQ);
    for (let column = 0; column < 8; ++column) {
      for (let row = 0; row < 8; ++row)
        moved[8 * column + row] = sbox[state[8 * ((column + shift[row]!) % 8) + row]!]!;
    }
    for (let column = 0; column < 8; ++column) {
      for (let row = 0; row < 8; ++row) {
        let sum = 0;
        for (let k = 0; k < 8; ++k) sum ^= PRODUCTS[k]![moved[8 * column + ((row + k) % 8)]!]!;
        state[8 * column + row] = sum;
      }
    }
  }
  return state;
}

const xor = (a: Uint8Array, b: Uint8Array): Uint8Array => a.map((byte, i) => byte ^ b[i]!);

/** Grøstl-256 of `data`: 32 bytes, of which no copy stays in memory. */
export function groestl256(data: Uint8Array): Uint8Array {
  const blocks = Math.floor((data.length + 8) / 64) + 1;
  const padded = new Uint8Array(64 * blocks);
  padded.set(data);
  padded[data.length] = 0x80;
  new DataView(padded.buffer).setUint32(padded.length - 4, blocks);
  let hash = new Uint8Array(64);
  hash[62] = 1; // the digest's length in bits, big-endian, is the initial value
  for (let i = 0; i < blocks; ++i) {
    const message = padded.subarray(64 * i, 64 * (i + 1));
    hash = Uint8Array.from(xor(xor(permute(xor(hash, message), false), permute(message, true)), hash));
  }
  const output = xor(permute(hash, false), hash);
  const digest = output.slice(32);
  wipe(padded, hash, output);
  return digest;
}

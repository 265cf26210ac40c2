/**
 * Keccak-256 with the original padding (0x01, not SHA-3's 0x06), as Monero uses it.
 * Source: The Keccak reference, version 3.0, §1.2 (permutation) and §1.1.2 (sponge); monero `keccak.c` (padding).
 */

const STATE_BYTES = 200;
const RATE_BYTES = 136;
const LANE_MASK = 0xffffffffffffffffn;

/** Offsets of ρ, lane (x, y) at index x + 5y. */
const ROTATIONS = [
  0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
].map(BigInt);

const ROUND_CONSTANTS = roundConstants();

/** The 24 ι constants from the degree-8 LFSR x⁸ + x⁶ + x⁵ + x⁴ + 1. */
function roundConstants(): bigint[] {
  let register = 1;
  const nextBit = (): number => {
    const bit = register & 1;
    register = (register << 1) ^ (register & 0x80 ? 0x171 : 0);
    return bit;
  };
  return Array.from({ length: 24 }, () => {
    let constant = 0n;
    for (let j = 0; j <= 6; j++) if (nextBit()) constant |= 1n << BigInt(2 ** j - 1);
    return constant;
  });
}

function rotateLeft(lane: bigint, by: bigint): bigint {
  return ((lane << by) | (lane >> (64n - by))) & LANE_MASK;
}

function permuteLanes(lanes: bigint[]): void {
  const at = (i: number): bigint => lanes[i]!;
  for (const constant of ROUND_CONSTANTS) {
    // θ
    const column = [0, 1, 2, 3, 4].map((x) => at(x) ^ at(x + 5) ^ at(x + 10) ^ at(x + 15) ^ at(x + 20));
    for (let i = 0; i < 25; i++) {
      const x = i % 5;
      lanes[i] = at(i) ^ column[(x + 4) % 5]! ^ rotateLeft(column[(x + 1) % 5]!, 1n);
    }
    // ρ and π: lane (x, y) moves to (y, 2x + 3y)
    const moved = new Array<bigint>(25);
    for (let i = 0; i < 25; i++) {
      const x = i % 5;
      const y = (i - x) / 5;
      moved[y + 5 * ((2 * x + 3 * y) % 5)] = rotateLeft(at(i), ROTATIONS[i]!);
    }
    // χ
    for (let i = 0; i < 25; i++) {
      const row = i - (i % 5);
      lanes[i] = moved[i]! ^ (~moved[row + ((i + 1) % 5)]! & LANE_MASK & moved[row + ((i + 2) % 5)]!);
    }
    // ι
    lanes[0] = at(0) ^ constant;
  }
}

/** Applies Keccak-f[1600] to a state of 200 bytes, in place. */
export function keccakPermute(state: Uint8Array): void {
  const view = new DataView(state.buffer, state.byteOffset, STATE_BYTES);
  const lanes = Array.from({ length: 25 }, (_, i) => view.getBigUint64(8 * i, true));
  permuteLanes(lanes);
  lanes.forEach((lane, i) => {
    view.setBigUint64(8 * i, lane, true);
  });
}

/** Absorbs whole blocks of 136 bytes into a state of 200 bytes, in place. */
export function keccakAbsorb(state: Uint8Array, blocks: Uint8Array): void {
  for (let offset = 0; offset < blocks.length; offset += RATE_BYTES) {
    for (let i = 0; i < RATE_BYTES; i++) state[i]! ^= blocks[offset + i]!;
    keccakPermute(state);
  }
}

/** Keccak-256 of `data`: 32 bytes. */
export function keccak256(data: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((data.length + 1) / RATE_BYTES) * RATE_BYTES);
  padded.set(data);
  padded[data.length]! |= 0x01;
  padded[padded.length - 1]! |= 0x80;
  const state = new Uint8Array(STATE_BYTES);
  keccakAbsorb(state, padded);
  return state.slice(0, 32);
}

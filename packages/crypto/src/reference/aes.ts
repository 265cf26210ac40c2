/** Single AES rounds, byte by byte. Source: FIPS 197, sections 4.2, 5.1 and 5.3. */
import { double, sbox } from "../hash/rijndael.ts";

/** Products of every byte with a constant in GF(2^8), after a substitution. */
function products(constant: number, substitute: Uint8Array): Uint8Array {
  return substitute.map((byte) => {
    let [product, power] = [0, byte];
    for (let rest = constant; rest > 0; rest >>= 1) {
      if (rest & 1) product ^= power;
      power = double(power);
    }
    return product;
  });
}

const inverseSbox = new Uint8Array(256);
sbox.forEach((byte, i) => {
  inverseSbox[byte] = i;
});

/** What each row of a column gives to the first row of the mixed one: further rows use these in turn. */
const FORWARD = [2, 3, 1, 1].map((constant) => products(constant, sbox));
const BACKWARD = [14, 11, 13, 9].map((constant) => products(constant, inverseSbox));

/** Substitution, rows shifted by `shift` columns each, columns mixed, the key added. */
function round(block: Uint8Array, key: Uint8Array, tables: readonly Uint8Array[], shift: number): Uint8Array {
  const out = new Uint8Array(16);
  for (let column = 0; column < 4; column++) {
    for (let row = 0; row < 4; row++) {
      let byte = key[4 * column + row]!;
      for (let other = 0; other < 4; other++) {
        const from = 4 * ((column + shift * other) & 3) + other;
        byte ^= tables[(other - row) & 3]![block[from]!]!;
      }
      out[4 * column + row] = byte;
    }
  }
  return out;
}

/** One encryption round of a block with a key, 16 bytes each. */
export const encryptRound = (block: Uint8Array, key: Uint8Array): Uint8Array => round(block, key, FORWARD, 1);

/** One decryption round; the key is added last, as processors do it. */
export const decryptRound = (block: Uint8Array, key: Uint8Array): Uint8Array =>
  round(block, key, BACKWARD, 3);

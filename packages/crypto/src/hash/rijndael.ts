/** Arithmetic of GF(2^8) modulo x^8+x^4+x^3+x+1 and the AES S-box. Source: FIPS 197. */

/** x·byte in GF(2^8). */
export const double = (byte: number): number => ((byte << 1) ^ (byte & 0x80 ? 0x11b : 0)) & 0xff;

function buildSbox(): Uint8Array {
  const table = new Uint8Array(256);
  const power = new Uint8Array(255); // powers of the generator 3
  let value = 1;
  for (let i = 0; i < 255; ++i) {
    power[i] = value;
    value ^= double(value);
  }
  table[0] = 0x63;
  for (let i = 0; i < 255; ++i) {
    const inverse = power[(255 - i) % 255]!;
    const spread = inverse * 0x101; // rotations of a byte become shifts
    table[power[i]!] = (spread ^ (spread >> 7) ^ (spread >> 6) ^ (spread >> 5) ^ (spread >> 4) ^ 0x63) & 0xff;
  }
  return table;
}

/** The AES S-box, 256 bytes. */
export const sbox: Uint8Array = buildSbox();

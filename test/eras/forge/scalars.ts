import { keccak256, type RandomSource } from "@anulo/crypto";

/** Order of the main subgroup. */
const order = 2n ** 252n + 27742317777372353535851937790883648493n;

/** Scalars as numbers: slow, readable, and only for tests. */
export const mod = (value: bigint): bigint => ((value % order) + order) % order;

export function fromBytes(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString("hex") || "0"}`);
}

export function toBytes(value: bigint): Uint8Array {
  return rawBytes(mod(value));
}

/** Scalars (32 bytes each, end to end) with so many times the order added: the same values to who reduces them. */
export function addOrders(scalars: Uint8Array, times: number): Uint8Array {
  const parts = Array.from({ length: scalars.length / 32 }, (_, i) => scalars.subarray(32 * i, 32 * i + 32));
  return Buffer.concat(parts.map((part) => rawBytes(fromBytes(part) + BigInt(times) * order)));
}

function rawBytes(value: bigint): Uint8Array {
  return new Uint8Array(Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse());
}

export function inverse(value: bigint): bigint {
  let result = 1n;
  let base = mod(value);
  for (let exponent = order - 2n; exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) result = mod(result * base);
    base = mod(base * base);
  }
  return result;
}

export const inverseOfEight = inverse(8n);

/** Bytes that are the same for the same seed. */
export function seededRandom(seed: string): RandomSource {
  let counter = 0;
  return (size) => {
    const parts: Uint8Array[] = [];
    for (let made = 0; made < size; made += 32) parts.push(keccak256(Buffer.from(`${seed} ${counter++}`)));
    return new Uint8Array(Buffer.concat(parts).subarray(0, size));
  };
}

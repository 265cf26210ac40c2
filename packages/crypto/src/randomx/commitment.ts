/** Binds a RandomX hash to its input. Source: RandomX, src/randomx.h, `randomx_calculate_commitment`. */
import { checkLength, concatBytes } from "../bytes.ts";
import { blake2b } from "../hash/blake2b.ts";

/**
 * The commitment (32 bytes) to `blob` and its RandomX hash (32 bytes, else `RangeError`) of either version: a claimed
 * hash is thus judged without computing it.
 */
export function randomxCommitment(blob: Uint8Array, hash: Uint8Array): Uint8Array {
  checkLength("RandomX hash", hash, 32);
  return blake2b(concatBytes(blob, hash), 32);
}

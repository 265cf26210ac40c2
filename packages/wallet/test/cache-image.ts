import { chacha20 } from "@anulo/crypto";
import { concatBytes, encode } from "@anulo/protocol";
import { encryptedFile } from "../src/file/encrypted-file.ts";
import { type CacheToWrite, piecesOfCache } from "../src/file/original-cache.ts";

/** The bytes of a small cache. */
export function cacheImage(cache: CacheToWrite, key: Uint8Array, iv: Uint8Array): Uint8Array {
  return encode(encryptedFile, { iv, encrypted: chacha20(concatBytes(...piecesOfCache(cache)), key, iv) });
}

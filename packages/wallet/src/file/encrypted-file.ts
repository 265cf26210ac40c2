/**
 * The format of the original's keys files and caches: iv (8 bytes) · varint length · bytes encrypted with ChaCha.
 * Source: wallet2.h `keys_file_data`, `cache_file_data`.
 */
import { byteString, bytes, struct, type TypeOf } from "@anulo/protocol";

/** Length of an iv in bytes. */
export const IV_BYTES = 8;

/** Read without `decode`, which refuses trailing bytes: the original ignores them. */
export const encryptedFile = struct().field("iv", bytes(IV_BYTES)).field("encrypted", byteString);
export type EncryptedFile = TypeOf<typeof encryptedFile>;

import { useJoined } from "../bytes.ts";
import { backend } from "../engine.ts";

const STATE_BYTES = 200;
const RATE_BYTES = 136;
const HASH_BYTES = 32;
/** Bytes that one call of the backend absorbs. */
const BYTES_A_CALL = 1024 * RATE_BYTES;

/** Keccak-256 (32 bytes, the padding from before SHA-3) of the parts, one after the other. Source: crypto/keccak.c. */
export function keccak256(...parts: readonly Uint8Array[]): Uint8Array {
  return useJoined(parts, backend.keccak256);
}

/** A hash of data that arrives in pieces; `digest` (32 bytes) ends it. */
export type HashInPieces = { update(piece: Uint8Array): void; digest(): Uint8Array };

/** As `keccak256`, for data that arrives in pieces, of any length in all. */
export function keccak256InPieces(): HashInPieces {
  const state = new Uint8Array(STATE_BYTES);
  /** The bytes that do not fill a block yet. */
  const rest = new Uint8Array(RATE_BYTES);
  let restBytes = 0;
  return {
    update(piece) {
      let at = 0;
      if (restBytes > 0) {
        at = Math.min(RATE_BYTES - restBytes, piece.length);
        rest.set(piece.subarray(0, at), restBytes);
        restBytes += at;
        if (restBytes < RATE_BYTES) return;
        backend.keccakAbsorb(state, rest);
      }
      const end = piece.length - ((piece.length - at) % RATE_BYTES);
      for (; at < end; at += BYTES_A_CALL)
        backend.keccakAbsorb(state, piece.subarray(at, Math.min(end, at + BYTES_A_CALL)));
      rest.set(piece.subarray(end));
      restBytes = piece.length - end;
    },
    digest() {
      rest.fill(0, restBytes);
      rest[restBytes]! |= 0x01;
      rest[RATE_BYTES - 1]! |= 0x80;
      backend.keccakAbsorb(state, rest);
      const hash = state.slice(0, HASH_BYTES);
      state.fill(0);
      rest.fill(0);
      return hash;
    },
  };
}

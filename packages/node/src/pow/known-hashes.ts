import { keccak256 } from "@anulo/crypto";
import { encode, toHex, varint } from "@anulo/protocol";

/** Proof-of-work hashes of blocks, by the blocks' ids. */
export interface KnownHashes {
  /** Remembers the hash (32 bytes) of a block hashing blob. */
  add(blob: Uint8Array, hash: Uint8Array): void;
  of(blockId: Uint8Array): Uint8Array | undefined;
}

/** A few days of blocks; about 250 bytes each. */
const MAX_KNOWN = 4096;

/** Creates an empty collection; beyond the limit the oldest hashes are forgotten. */
export function createKnownHashes(): KnownHashes {
  const hashes = new Map<string, Uint8Array>();
  return {
    add(blob, hash) {
      // A block's id is the hash of its hashing blob, preceded by the blob's length.
      hashes.set(toHex(keccak256(encode(varint, blob.length), blob)), hash);
      for (const oldest of hashes.keys()) {
        if (hashes.size <= MAX_KNOWN) break;
        hashes.delete(oldest);
      }
    },
    of: (blockId) => hashes.get(toHex(blockId)),
  };
}

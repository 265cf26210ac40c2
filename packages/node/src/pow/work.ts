import { powVariantOf } from "@anulo/consensus";
import { toHex } from "@anulo/protocol";

/** The bytes to hash, and the facts that determine how. */
export interface PowWork {
  /** Block hashing blob: header, tree hash, transaction count. */
  readonly blob: Uint8Array;
  readonly height: number;
  readonly majorVersion: number;
  /** Id of the RandomX seed block (32 bytes); undefined where the version has no seed. */
  readonly seedId: Uint8Array | undefined;
}

/** A search for the nonce whose hash meets a difficulty. */
export interface PowSearch extends PowWork {
  readonly difficulty: bigint;
  /** Offset of the nonce in the blob: four bytes, little-endian. */
  readonly nonceOffset: number;
  /** First nonce to try, 32 bits; the greatest is followed by 0. */
  readonly firstNonce: number;
  /** Number of threads that may hash for it at once; by default those for verification. */
  readonly threads?: number | undefined;
  /** Whether it is worth a dataset of 2.1 GiB, with which RandomX is some six times as fast. */
  readonly isLong?: boolean | undefined;
  /** Milliseconds for which each thread rests after a hash; 0 by default. */
  readonly restMs?: number | undefined;
}

/** The first nonce in order that meets the difficulty, and its hash (32 bytes). */
export interface FoundNonce {
  readonly nonce: number;
  readonly hash: Uint8Array;
}

/** Number of nonces. */
export const NONCES = 2 ** 32;

/** The blob with another nonce in it. */
export function withNonce(blob: Uint8Array, offset: number, nonce: number): Uint8Array {
  const changed = Uint8Array.from(blob);
  new DataView(changed.buffer).setUint32(offset, nonce % NONCES, true);
  return changed;
}

/** Throws RangeError for work that no process should get. */
export function checkWork({ blob, height, seedId }: PowWork): void {
  if (blob.length > MAX_BLOB_BYTES) throw new RangeError(`${blob.length} bytes are too many to hash`);
  if (!Number.isSafeInteger(height) || height < 0) throw new RangeError(`no block has the height ${height}`);
  if (seedId !== undefined && seedId.length !== 32) throw new RangeError("a seed has 32 bytes");
}

/** Maximum length (bytes) that RandomX hashes at once; a block hashing blob has about 80 bytes. */
const MAX_BLOB_BYTES = 2 * 1024 * 1024;

/** The seed that the hash needs, in hexadecimal; undefined if the version needs none. */
export function seedOf({ majorVersion, seedId }: PowWork): string | undefined {
  return powVariantOf(majorVersion) === "randomx" && seedId !== undefined ? toHex(seedId) : undefined;
}

import { powVariantOf } from "@anulo/consensus";
import { toHex } from "@anulo/protocol";

/** What has to be hashed: the bytes, and what decides how. */
export interface PowWork {
  /** Block hashing blob: header, tree hash, transaction count. */
  readonly blob: Uint8Array;
  readonly height: number;
  readonly majorVersion: number;
  /** Id of the RandomX seed block (32 bytes); undefined where the version has no seed. */
  readonly seedId: Uint8Array | undefined;
}

/** A hunt for the nonce whose hash meets a difficulty. */
export interface PowSearch extends PowWork {
  readonly difficulty: bigint;
  /** Where in the blob the nonce is: four bytes, little-endian. */
  readonly nonceOffset: number;
  /** First nonce to try, 32 bits; after the greatest comes 0. */
  readonly firstNonce: number;
  /** How many threads may hash for it at once; left out, as many as verify. */
  readonly threads?: number | undefined;
  /** Worth a dataset of 2.1 GiB, with which hashes of RandomX are made some six times as fast. */
  readonly isLong?: boolean | undefined;
  /** Milliseconds each of them rests after a hash; 0 unless given. */
  readonly restMs?: number | undefined;
}

/** The first nonce in order that meets the difficulty, and its hash (32 bytes). */
export interface FoundNonce {
  readonly nonce: number;
  readonly hash: Uint8Array;
}

/** Nonces there are. */
export const NONCES = 2 ** 32;

/** The blob with another nonce in it. */
export function withNonce(blob: Uint8Array, offset: number, nonce: number): Uint8Array {
  const changed = Uint8Array.from(blob);
  new DataView(changed.buffer).setUint32(offset, nonce % NONCES, true);
  return changed;
}

/** Throws RangeError for work that no process should be given. */
export function checkWork({ blob, height, seedId }: PowWork): void {
  if (blob.length > MAX_BLOB_BYTES) throw new RangeError(`${blob.length} bytes are too many to hash`);
  if (!Number.isSafeInteger(height) || height < 0) throw new RangeError(`no block has the height ${height}`);
  if (seedId !== undefined && seedId.length !== 32) throw new RangeError("a seed has 32 bytes");
}

/** As much as RandomX takes at once; a block hashing blob has about 80 bytes. */
const MAX_BLOB_BYTES = 2 * 1024 * 1024;

/** The seed that hashing takes, in hexadecimal; undefined where the version needs none. */
export function seedOf({ majorVersion, seedId }: PowWork): string | undefined {
  return powVariantOf(majorVersion) === "randomx" && seedId !== undefined ? toHex(seedId) : undefined;
}

import { keccak256 } from "@anulo/crypto";
import { equalBytes } from "@anulo/protocol";

/** Number of blocks whose ids and weights share one hash. Source: cryptonote_config.h `HASH_OF_HASHES_STEP`. */
export const KNOWN_GROUP_BLOCKS = 512;

const HASH_BYTES = 32;
const WEIGHT_BYTES = 8;
const COUNT_BYTES = 4;
const GROUP_BYTES = 2 * HASH_BYTES;

/** The bytes do not contain known blocks. */
export class BadKnownBlocks extends Error {
  constructor(reason: string) {
    super(`bad known blocks: ${reason}`);
    this.name = "BadKnownBlocks";
  }
}

/** The blocks of one group as a peer announces them; weights (bytes) if it sent any. */
export interface AnnouncedGroup {
  readonly ids: readonly Uint8Array[];
  readonly weights: readonly number[] | undefined;
}

/** The known beginning of a chain, as one hash for each group of blocks. */
export interface KnownBlocks {
  /** Blocks below this height belong to a group. */
  readonly height: number;
  /** Whether these are the blocks of a group, with groups counted from the start of the chain. */
  isGroup(index: number, group: AnnouncedGroup): boolean;
}

function hashOfIds(ids: readonly Uint8Array[]): Uint8Array {
  return keccak256(Buffer.concat(ids));
}

function hashOfWeights(weights: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(weights.length * WEIGHT_BYTES);
  for (const [i, weight] of weights.entries()) bytes.writeBigUInt64LE(BigInt(weight), i * WEIGHT_BYTES);
  return keccak256(bytes);
}

/**
 * Parses the number of groups (4 bytes, little-endian), then for each the Keccak hash of its ids and that of its
 * weights (64 bits each, little-endian). Throws BadKnownBlocks. Source: blockchain.cpp `load_compiled_in_block_hashes`,
 * `prevalidate_block_hashes`.
 */
export function parseKnownBlocks(bytes: Uint8Array): KnownBlocks {
  if (bytes.length < COUNT_BYTES) throw new BadKnownBlocks(`${bytes.length} bytes`);
  const groups = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const expected = COUNT_BYTES + groups * GROUP_BYTES;
  if (bytes.length !== expected) throw new BadKnownBlocks(`${bytes.length} bytes, ${groups} groups`);
  const hashAt = (offset: number) => bytes.subarray(offset, offset + HASH_BYTES);
  return {
    height: groups * KNOWN_GROUP_BLOCKS,
    isGroup(index, { ids, weights }) {
      const offset = COUNT_BYTES + index * GROUP_BYTES;
      if (index >= groups || ids.length !== KNOWN_GROUP_BLOCKS) return false;
      if (!equalBytes(hashOfIds(ids), hashAt(offset))) return false;
      return weights === undefined || equalBytes(hashOfWeights(weights), hashAt(offset + HASH_BYTES));
    },
  };
}

/** Serializes the known blocks of a chain for `parseKnownBlocks`; blocks of an incomplete group are left out. */
export function writeKnownBlocks(ids: readonly Uint8Array[], weights: readonly number[]): Uint8Array {
  const groups = Math.floor(ids.length / KNOWN_GROUP_BLOCKS);
  const bytes = Buffer.alloc(COUNT_BYTES + groups * GROUP_BYTES);
  bytes.writeUInt32LE(groups, 0);
  for (let index = 0; index < groups; index++) {
    const [start, end] = [index * KNOWN_GROUP_BLOCKS, (index + 1) * KNOWN_GROUP_BLOCKS];
    const offset = COUNT_BYTES + index * GROUP_BYTES;
    bytes.set(hashOfIds(ids.slice(start, end)), offset);
    bytes.set(hashOfWeights(weights.slice(start, end)), offset + HASH_BYTES);
  }
  return bytes;
}

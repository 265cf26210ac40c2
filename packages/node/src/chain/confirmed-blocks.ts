import { KNOWN_GROUP_BLOCKS, type KnownBlocks } from "@anulo/consensus";
import type { ChainReader } from "@anulo/storage";

/** Blocks of a peer's chain as it announces them, oldest first; weights (bytes) if it sent any. */
export interface Announcement {
  readonly start: number;
  readonly ids: readonly Uint8Array[];
  readonly weights: readonly number[] | undefined;
  /** Whether the peer's chain ends with them. */
  readonly isToTop: boolean;
}

/** The announced blocks whose whole group is known to belong to the chain: their proofs need not be checked. */
export interface ConfirmedBlocks {
  /** The id (32 bytes) that the block at this height must have; undefined where its group was not confirmed. */
  idAt(height: number): Uint8Array | undefined;
  /** Whether the block at this height belongs to a known group, confirmed or not. */
  isCovered(height: number): boolean;
  /**
   * Compares announced blocks with the known groups. Returns the number of blocks, from the first on, that may be
   * fetched. If it is less than was announced, the rest belongs to a group that is incomplete or unknown.
   */
  confirm(announcement: Announcement): number;
}

/** Groups kept below the top, for blocks that are removed and added again. */
const GROUPS_BELOW = 8;
/** Groups kept at the same time, 16 KiB each; blocks of others are verified in full. */
const MAX_GROUPS = 256;

const groupOf = (height: number) => Math.floor(height / KNOWN_GROUP_BLOCKS);

/** Creates the index with no group confirmed; without known blocks none will ever be. */
export function createConfirmedBlocks(
  knownBlocks: KnownBlocks | undefined,
  read: Pick<ChainReader, "height" | "blockInfos">,
): ConfirmedBlocks {
  /** The ids of each confirmed group, one after another. */
  const groups = new Map<number, Buffer>();
  const keep = (index: number, ids: readonly Uint8Array[]) => {
    const lowest = groupOf(read.height()) - GROUPS_BELOW;
    for (const groupIndex of groups.keys()) if (groupIndex < lowest) groups.delete(groupIndex);
    if (groups.size < MAX_GROUPS) groups.set(index, Buffer.concat(ids));
  };
  return {
    idAt(height) {
      const at = (height % KNOWN_GROUP_BLOCKS) * 32;
      return groups.get(groupOf(height))?.subarray(at, at + 32);
    },
    isCovered: (height) => knownBlocks !== undefined && height < knownBlocks.height,
    confirm(announcement) {
      const { start, ids } = announcement;
      if (knownBlocks === undefined || start >= knownBlocks.height) return ids.length;
      const end = start + ids.length;
      const { first, blocks } = completedBelow(read, announcement);
      let usable = first * KNOWN_GROUP_BLOCKS;
      for (let index = first; usable < end; index++) {
        if (usable >= knownBlocks.height) return ids.length;
        // A part of a group that will not be continued proves nothing: its blocks are verified in full.
        if (usable + KNOWN_GROUP_BLOCKS > end && announcement.isToTop) return ids.length;
        const from = (index - first) * KNOWN_GROUP_BLOCKS;
        const group = {
          ids: blocks.ids.slice(from, from + KNOWN_GROUP_BLOCKS),
          weights: blocks.weights?.slice(from, from + KNOWN_GROUP_BLOCKS),
        };
        if (!knownBlocks.isGroup(index, group)) break;
        keep(index, group.ids);
        usable += KNOWN_GROUP_BLOCKS;
      }
      return Math.max(0, usable - start);
    },
  };
}

interface GroupedBlocks {
  /** Index of the first group that can be compared. */
  readonly first: number;
  /** The blocks from the start of that group on. */
  readonly blocks: Pick<Announcement, "ids" | "weights">;
}

/**
 * The announced blocks from the start of a group on: missing blocks of the first group are read from our own chain; if
 * the announcement begins above it, that group is left out.
 */
function completedBelow(
  read: Pick<ChainReader, "height" | "blockInfos">,
  { start, ids, weights }: Announcement,
): GroupedBlocks {
  if (start > read.height()) {
    const first = Math.ceil(start / KNOWN_GROUP_BLOCKS);
    const skipped = first * KNOWN_GROUP_BLOCKS - start;
    return { first, blocks: { ids: ids.slice(skipped), weights: weights?.slice(skipped) } };
  }
  const first = groupOf(start);
  const own = read.blockInfos(first * KNOWN_GROUP_BLOCKS, start);
  const blocks = {
    ids: [...own.map(({ hash }) => hash), ...ids],
    weights: weights === undefined ? undefined : [...own.map(({ weight }) => weight), ...weights],
  };
  return { first, blocks };
}

import { readBlockHeader, toHex } from "@anulo/protocol";
import type { AlternativeBlock, ChainReader, ChainWriter } from "@anulo/storage";
import { createSortedList, type SortedList } from "../pool/sorted-list.ts";

/** A block beside the main chain, without its bytes; weights in bytes, coins in atomic units. */
export interface SideBlock extends Omit<AlternativeBlock, "blob"> {
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** The id in hexadecimal. */
  readonly key: string;
  readonly parentId: Uint8Array;
  readonly parentKey: string;
  /** Unix seconds. */
  readonly timestamp: number;
  /** Bytes of the block without its transactions. */
  readonly size: number;
  /** Later blocks have higher numbers. */
  readonly order: number;
}

/** A change of the chain applied to the side blocks; until it is written, other readers see the old ones. */
export interface SideBlockDraft {
  put(writer: ChainWriter, hash: Uint8Array, row: AlternativeBlock): void;
  remove(writer: ChainWriter, key: string): void;
  /** Those of these blocks (ids in hexadecimal) that are side blocks, and all blocks above them. */
  withDescendants(keys: Iterable<string>): SideBlock[];
  /** Side blocks whose parent is no side block. */
  roots(): Iterable<SideBlock>;
  /**
   * Blocks to be removed to make room for a new one: the lightest first, but none of the branch that ends with `keep`.
   */
  evictable(keep: string, size: number): Generator<SideBlock>;
  /** Makes the change visible, after it is written. */
  apply(): void;
}

/**
 * The side blocks in memory, equal to their rows in the store. The parent of each is a block of the main chain or
 * another side block: there are no orphans.
 */
export interface SideBlocks {
  readonly count: number;
  /** Bytes of all side blocks. */
  readonly size: number;
  get(key: string): SideBlock | undefined;
  /** The side block with the most cumulative work; undefined where there is none. */
  heaviest(): SideBlock | undefined;
  /**
   * The side blocks from the main chain (exclusive) up to this one (inclusive), oldest first; empty for other blocks.
   */
  branchTo(key: string): SideBlock[];
  draft(): SideBlockDraft;
}

/** Limits on side blocks, in number and in bytes. */
export interface SideBlockLimits {
  readonly maxCount: number;
  readonly maxSize: number;
}

/**
 * Two weeks of blocks. A branch that is being built may be longer: each of its blocks took work, and it could never
 * become the main chain otherwise.
 */
const DEFAULT_LIMITS: SideBlockLimits = { maxCount: 10_000, maxSize: 64 * 1024 * 1024 };

interface SideBlockIndex {
  readonly blocks: Map<string, SideBlock>;
  /** Side blocks by the key of their parent, which may be on the main chain. */
  readonly children: Map<string, Set<SideBlock>>;
  /** Side blocks without a child, the lightest first. */
  readonly tips: SortedList<SideBlock>;
  size: number;
  nextOrder: number;
}

/** Orders by ascending work, then by arrival. */
function compareWork(a: SideBlock, b: SideBlock): number {
  const difference = a.cumulativeDifficulty - b.cumulativeDifficulty;
  return difference === 0n ? a.order - b.order : difference < 0n ? -1 : 1;
}

function sideBlockOf(hash: Uint8Array, { blob, ...row }: AlternativeBlock, order: number): SideBlock {
  const { previousId, timestamp } = readBlockHeader(blob);
  // Copies: a slice would keep all bytes it is cut from.
  const parent = { parentId: Uint8Array.from(previousId), parentKey: toHex(previousId) };
  return {
    ...row,
    hash: Uint8Array.from(hash),
    key: toHex(hash),
    ...parent,
    timestamp,
    size: blob.length,
    order,
  };
}

function insert(index: SideBlockIndex, block: SideBlock): void {
  const { blocks, children, tips } = index;
  const parent = blocks.get(block.parentKey);
  const siblings = children.get(block.parentKey) ?? new Set();
  if (parent !== undefined && siblings.size === 0) tips.remove(parent);
  children.set(block.parentKey, siblings.add(block));
  blocks.set(block.key, block);
  if (!children.has(block.key)) tips.add(block);
  index.size += block.size;
}

function drop(index: SideBlockIndex, key: string): void {
  const { blocks, children, tips } = index;
  const block = blocks.get(key);
  if (block === undefined) return;
  blocks.delete(key);
  index.size -= block.size;
  if (!children.has(key)) tips.remove(block);
  const siblings = children.get(block.parentKey)!;
  siblings.delete(block);
  if (siblings.size > 0) return;
  children.delete(block.parentKey);
  const parent = blocks.get(block.parentKey);
  if (parent !== undefined) tips.add(parent);
}

/** Those of these keys that are side blocks, and all blocks above them, each after its parent. */
function withDescendants({ blocks, children }: SideBlockIndex, keys: Iterable<string>): SideBlock[] {
  const descendants = new Map<string, SideBlock>();
  for (const start of keys) {
    const waiting = [start];
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      const block = blocks.get(key);
      if (block !== undefined) descendants.set(key, block);
      for (const child of children.get(key) ?? []) if (!descendants.has(child.key)) waiting.push(child.key);
    }
  }
  return [...descendants.values()];
}

/** Loads the side blocks of a store into memory. */
export function createSideBlocks(read: ChainReader, limits: SideBlockLimits = DEFAULT_LIMITS): SideBlocks {
  const index: SideBlockIndex = {
    blocks: new Map(),
    children: new Map(),
    tips: createSortedList(compareWork),
    size: 0,
    nextOrder: 0,
  };
  for (const { hash, ...row } of read.alternativeBlocks())
    insert(index, sideBlockOf(hash, row, index.nextOrder++));
  return {
    get count() {
      return index.blocks.size;
    },
    get size() {
      return index.size;
    },
    get: (key) => index.blocks.get(key),
    heaviest() {
      for (const tip of index.tips.backwards()) return tip;
      return undefined;
    },
    branchTo(key) {
      const branch: SideBlock[] = [];
      for (
        let block = index.blocks.get(key);
        block !== undefined;
        block = index.blocks.get(block.parentKey)
      ) {
        branch.push(block);
      }
      return branch.reverse();
    },
    draft: () => createDraft(index, limits),
  };
}

function createDraft(index: SideBlockIndex, { maxCount, maxSize }: SideBlockLimits): SideBlockDraft {
  const changes: (() => void)[] = [];
  return {
    put(writer, hash, row) {
      writer.putAlternativeBlock(hash, row);
      const block = sideBlockOf(hash, row, index.nextOrder++);
      changes.push(() => {
        drop(index, block.key);
        insert(index, block);
      });
    },
    remove(writer, key) {
      writer.removeAlternativeBlock(Buffer.from(key, "hex"));
      changes.push(() => drop(index, key));
    },
    withDescendants: (keys) => withDescendants(index, keys),
    *roots() {
      for (const block of index.blocks.values()) if (!index.blocks.has(block.parentKey)) yield block;
    },
    *evictable(keep, size) {
      let count = index.blocks.size + 1;
      let total = index.size + size;
      const removedKeys = new Set<string>();
      const isOver = () => count > maxCount || total > maxSize;
      for (const tip of index.tips) {
        for (const block of branchWithoutOthers(index, tip, removedKeys)) {
          if (!isOver() || block.key === keep) break;
          removedKeys.add(block.key);
          count--;
          total -= block.size;
          yield block;
        }
        if (!isOver()) return;
      }
    },
    apply() {
      for (const change of changes) change();
    },
  };
}

/** Removes these blocks one by one, inside the caller's write transaction. */
export function* removeSideBlocks(
  draft: SideBlockDraft,
  writer: ChainWriter,
  blocks: Iterable<SideBlock>,
): Generator<void, void> {
  for (const { key } of blocks) {
    draft.remove(writer, key);
    yield;
  }
}

/** A tip and the blocks below it, down to the first that has another child which remains. */
function* branchWithoutOthers(
  { blocks, children }: SideBlockIndex,
  tip: SideBlock,
  removedKeys: ReadonlySet<string>,
): Generator<SideBlock> {
  for (let block: SideBlock | undefined = tip; block !== undefined; block = blocks.get(block.parentKey)) {
    for (const child of children.get(block.key) ?? []) if (!removedKeys.has(child.key)) return;
    yield block;
  }
}

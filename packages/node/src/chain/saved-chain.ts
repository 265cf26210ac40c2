import { toHex } from "@anulo/protocol";
import type {
  AlternativeBlock,
  ChainReader,
  ChainWriter,
  NewBlock,
  PoolTransaction,
  WithHash,
} from "@anulo/storage";
import { removeTop } from "./main-chain.ts";
import { type ChainParts, type LongChangeParts, transactInTurns } from "./parts.ts";
import { removeSideBlocks, type SideBlock, type SideBlockDraft } from "./side-blocks.ts";
import { factsOfTransaction } from "./stored-transaction.ts";

/**
 * A state of chain, side blocks and pool to which a private chain can be returned, as often as wanted. Old pages of the
 * database are kept for it until it is closed.
 */
export interface SavedChain {
  /**
   * Makes everything stored what it was, in one transaction. Blocks that were on the chain before are not verified
   * again.
   */
  restore(): Promise<void>;
  close(): void;
}

/** Saves the state of this moment, at once: nothing is copied. Resolves once no change of the chain is under way. */
export function saveChain(parts: ChainParts): Promise<SavedChain> {
  return parts.store.whenWritable(() => {
    const saved = parts.store.snapshot();
    // The order in which side blocks arrived is in memory alone.
    const ids = allSideBlocks(parts.sideBlocks.draft())
      .sort((a, b) => a.order - b.order)
      .map(({ hash }) => hash);
    return { restore: () => restoreChain(parts, saved, ids), close: () => saved.close() };
  });
}

async function restoreChain(
  parts: ChainParts,
  saved: ChainReader,
  sideBlockIds: readonly Uint8Array[],
): Promise<void> {
  const { height, removed, added } = await transactInTurns(parts, (changed, writer) =>
    // Read before the first step: inside the write transaction every reader sees what is written.
    restoreSteps(changed, writer, changesTo(parts, saved, sideBlockIds)),
  );
  if (added > 0) parts.emit({ type: "reorganised", forkHeight: height - 1, removed, added });
  else if (removed > 0) parts.emit({ type: "blocksPopped", height, removed });
}

function allSideBlocks(draft: SideBlockDraft): SideBlock[] {
  return draft.withDescendants(Array.from(draft.roots(), ({ key }) => key));
}

/** What is to be written so that a saved state is the current one. */
interface Restoration {
  /** Number of blocks that are common to both states. */
  readonly height: number;
  /** The blocks above them. */
  readonly blocks: readonly NewBlock[];
  /** In the order in which they arrived. */
  readonly sideBlocks: readonly { readonly hash: Uint8Array; readonly row: AlternativeBlock }[];
  readonly pool: readonly WithHash<PoolTransaction>[];
}

function changesTo(
  { store }: ChainParts,
  saved: ChainReader,
  sideBlockIds: readonly Uint8Array[],
): Restoration {
  const height = commonHeight(store.read, saved);
  return {
    height,
    blocks: Array.from({ length: saved.height() - height }, (_, i) => storedBlock(saved, height + i)),
    sideBlocks: sideBlockIds.map((hash) => ({ hash, row: present(saved.alternativeBlock(hash)) })),
    pool: saved.poolTransactions(),
  };
}

interface RestoredBlocks {
  /** Number of blocks below the removed and added ones. */
  readonly height: number;
  readonly removed: number;
  readonly added: number;
}

function* restoreSteps(
  parts: LongChangeParts,
  writer: ChainWriter,
  { height, blocks, sideBlocks, pool }: Restoration,
): Generator<void, RestoredBlocks> {
  const { read } = parts.store;
  const removed = read.height() - height;
  while (read.height() > height) {
    removeTop(parts, writer);
    yield;
  }
  for (const block of blocks) {
    writer.appendBlock(block);
    parts.state.addBlock(block);
    yield;
  }
  yield* removeSideBlocks(parts.sideBlocks, writer, allSideBlocks(parts.sideBlocks));
  for (const { hash, row } of sideBlocks) {
    parts.sideBlocks.put(writer, hash, row);
    yield;
  }
  yield* restorePool(parts, writer, pool);
  return { height, removed, added: blocks.length };
}

/** Number of blocks, from the first on, that two chains have in common. */
function commonHeight(one: ChainReader, other: ChainReader): number {
  const isCommon = (height: number): boolean => {
    const [a, b] = [one.blockInfo(height)?.hash, other.blockInfo(height)?.hash];
    return a !== undefined && b !== undefined && Buffer.compare(a, b) === 0;
  };
  let [low, high] = [0, Math.min(one.height(), other.height())];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isCommon(middle - 1)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a row of the saved chain is missing");
  return value;
}

/** A block of the saved chain, in the form that the store takes. */
function storedBlock(saved: ChainReader, height: number): NewBlock {
  const info = present(saved.blockInfo(height));
  const transactions = Array.from({ length: info.transactionCount }, (_, i) => {
    const id = info.firstTransactionId + i;
    const { hash, unlockTime, prunableHash } = present(saved.transactionById(id));
    const pruned = present(saved.prunedTransaction(id));
    const { outputAmounts, keyImages } = factsOfTransaction(pruned);
    const indices = present(saved.outputIndices(id));
    const outputs = outputAmounts.map((amount, n) => {
      const { key, commitment } = present(saved.output(amount, indices[n]!));
      return { amount, key, commitment };
    });
    return { hash, pruned, prunable: saved.prunablePart(id), prunableHash, unlockTime, outputs, keyImages };
  });
  return { ...info, blob: present(saved.blockBlob(height)), transactions };
}

/** Changes only the entries that differ: requests for changes of the pool return no others. */
function* restorePool(
  parts: LongChangeParts,
  writer: ChainWriter,
  saved: readonly WithHash<PoolTransaction>[],
): Generator<void, void> {
  const rows = new Map(saved.map(({ hash, ...row }) => [toHex(hash), { hash, row }]));
  for (const { key, row } of parts.pool.entries()) {
    const before = rows.get(key);
    if (before !== undefined && isSameRow(before.row, row)) rows.delete(key);
    else parts.pool.remove(writer, key);
    yield;
  }
  for (const { hash, row } of rows.values()) {
    parts.pool.add(writer, hash, row);
    yield;
  }
}

/** Whether two rows of the same transaction are equal; its bytes follow from its id. */
function isSameRow({ blob: _, ...one }: PoolTransaction, { blob: __, ...other }: PoolTransaction): boolean {
  const keys = Object.keys(one) as (keyof typeof one)[];
  return keys.every((name) => {
    const [a, b] = [one[name], other[name]];
    return a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : a === b;
  });
}

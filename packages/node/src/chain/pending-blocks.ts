import type { ChainOutput } from "@anulo/consensus";
import { toHex } from "@anulo/protocol";
import type { NewBlock } from "@anulo/storage";
import type { StateReader } from "./chain-state.ts";

/** Blocks above the store's chain that follow the rules but are not written yet, and a reader that includes them. */
export interface PendingBlocks {
  readonly read: StateReader;
  readonly size: number;
  /** Adds a block on top. */
  push(block: NewBlock): void;
  /** Removes the oldest block, when the store has it. */
  shift(): void;
}

type Outputs = Map<bigint, ChainOutput[]>;

function addOutputs(outputs: Outputs, { transactions }: NewBlock, height: number): void {
  for (const { outputs: own, unlockTime } of transactions) {
    for (const { amount, key, commitment } of own) {
      const list = outputs.get(amount) ?? [];
      list.push({ key, commitment, unlockTime, height });
      outputs.set(amount, list);
    }
  }
}

function dropOutputs(outputs: Outputs, { transactions }: NewBlock): void {
  const counts = new Map<bigint, number>();
  for (const { amount } of transactions.flatMap((tx) => tx.outputs)) {
    counts.set(amount, (counts.get(amount) ?? 0) + 1);
  }
  for (const [amount, count] of counts) outputs.get(amount)?.splice(0, count);
}

/** Creates the list with no block above `store`. */
export function createPendingBlocks(store: StateReader): PendingBlocks {
  const blocks: NewBlock[] = [];
  const transactions = new Set<string>();
  const keyImages = new Set<string>();
  const outputs: Outputs = new Map();
  const from = (height: number) => blocks[height - store.height()];
  const read: StateReader = {
    height: () => store.height() + blocks.length,
    blockInfo: (height) => store.blockInfo(height) ?? from(height),
    blockInfos(low, high) {
      const storedHeight = store.height();
      const own = blocks.slice(Math.max(0, low - storedHeight), Math.max(0, high - storedHeight));
      return [...store.blockInfos(low, high), ...own];
    },
    *blockInfoColumn(field, low, high) {
      const storedHeight = store.height();
      yield* store.blockInfoColumn(field, low, high);
      for (const block of blocks.slice(Math.max(0, low - storedHeight), Math.max(0, high - storedHeight)))
        yield block[field];
    },
    transaction: (hash) => (transactions.has(toHex(hash)) ? {} : store.transaction(hash)),
    isKeyImageSpent: (image) => keyImages.has(toHex(image)) || store.isKeyImageSpent(image),
    outputCount: (amount) => store.outputCount(amount) + (outputs.get(amount)?.length ?? 0),
    output(amount, index) {
      const own = index - store.outputCount(amount);
      return own < 0 ? store.output(amount, index) : outputs.get(amount)?.[own];
    },
  };
  return {
    read,
    get size() {
      return blocks.length;
    },
    push(block) {
      addOutputs(outputs, block, read.height());
      for (const { hash, keyImages: images } of block.transactions) {
        transactions.add(toHex(hash));
        for (const image of images) keyImages.add(toHex(image));
      }
      blocks.push(block);
    },
    shift() {
      const block = blocks.shift();
      if (block === undefined) return;
      dropOutputs(outputs, block);
      for (const { hash, keyImages: images } of block.transactions) {
        transactions.delete(toHex(hash));
        for (const image of images) keyImages.delete(toHex(image));
      }
    },
  };
}

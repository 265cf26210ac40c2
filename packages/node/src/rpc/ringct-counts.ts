import { TimeSlice } from "@anulo/limits";
import { equalBytes } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";

/** So many blocks are read between looks at the clock, and again after a reorganisation, at most. */
const BLOCKS_PER_STEP = 512;
const SPARE_BLOCKS = 4096;

/** How many RingCT outputs each block of the main chain has: counted once, then followed from block to block. */
export interface RingCtCounts {
  /** The counts of all blocks that this reader sees, from genesis on; the array is never changed afterwards. */
  of(read: ChainReader): Promise<Uint32Array>;
}

/** A block whose counts, and those of all blocks below it, are held. */
interface Anchor {
  readonly height: number;
  readonly id: Uint8Array;
}

/** Starts empty; takes 4 bytes a block. */
export function createRingCtCounts(): RingCtCounts {
  let counts = new Uint32Array(0);
  let total = 0;
  const anchors: Anchor[] = [];
  let turn: Promise<unknown> = Promise.resolve();

  const length = (): number => (anchors.at(-1)?.height ?? -1) + 1;

  /** Forgets what is not of this reader's chain. Somebody may still use the array, so what stays is copied. */
  const undo = (read: ChainReader): void => {
    const count = anchors.length;
    const stands = ({ height, id }: Anchor): boolean => {
      const hash = read.blockInfo(height)?.hash;
      return hash !== undefined && equalBytes(hash, id);
    };
    while (anchors.length > 0 && !stands(anchors.at(-1)!)) anchors.pop();
    if (anchors.length === count) return;
    const remaining = length();
    counts = counts.slice();
    total = remaining === 0 ? 0 : read.blockInfo(remaining - 1)!.cumulativeRctOutputs;
  };

  /** Makes room for so many blocks and a sixteenth more, so that growing costs little for each. */
  const reserve = (height: number): void => {
    if (height <= counts.length) return;
    const larger = new Uint32Array(height + Math.max(SPARE_BLOCKS, Math.floor(height / 16)));
    larger.set(counts);
    counts = larger;
  };

  const append = (read: ChainReader, to: number): void => {
    let height = length();
    let sum = total;
    for (const next of read.blockInfoColumn("cumulativeRctOutputs", height, to)) {
      counts[height++] = next - sum;
      sum = next;
    }
    total = sum;
    const last = anchors.at(-1);
    // Of the blocks above the last whole step only the newest is an anchor.
    if (last !== undefined && (last.height + 1) % BLOCKS_PER_STEP !== 0) anchors.pop();
    anchors.push({ height: to - 1, id: read.blockInfo(to - 1)!.hash });
  };

  const follow = async (read: ChainReader): Promise<Uint32Array> => {
    undo(read);
    const slice = new TimeSlice();
    const height = read.height();
    reserve(height);
    while (length() < height) {
      const nextStep = (Math.floor(length() / BLOCKS_PER_STEP) + 1) * BLOCKS_PER_STEP;
      append(read, Math.min(nextStep, height));
      if (slice.isOver) await slice.yield();
    }
    return counts.subarray(0, height);
  };

  return {
    of(read) {
      const following = turn.then(() => follow(read));
      turn = following.catch(() => {});
      return following;
    },
  };
}

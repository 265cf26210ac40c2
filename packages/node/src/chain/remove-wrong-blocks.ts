import { brokenCheckpoint, type Checkpoint } from "@anulo/consensus";
import { hardForkAt } from "@anulo/protocol";
import { popBlocks } from "./chain.ts";
import type { ChainParts } from "./parts.ts";

/**
 * Removes the blocks that cannot stay: those above a checkpoint with another id, and the newest ones if they follow
 * another hard fork than their height requires, for example after a late update. Source: blockchain.cpp
 * `check_against_checkpoints`, `init`.
 */
export async function removeWrongBlocks(
  parts: ChainParts,
  checkpoints: readonly Checkpoint[] = [],
): Promise<void> {
  const { read } = parts.store;
  const height = read.height();
  const blockId = (at: number) => read.blockInfo(at)!.hash;
  const broken = brokenCheckpoint({ height, blockId }, checkpoints);
  const below = broken === undefined ? height : Math.max(1, broken.height - 2);
  const end = heightOfKnownForks(parts, below);
  if (end < height) await popBlocks(parts, height - end);
}

/** Number of blocks that remain without those on top that follow another fork. */
function heightOfKnownForks({ store, network }: ChainParts, height: number): number {
  let end = height;
  while (end > 1) {
    const version = hardForkAt(network, end - 1);
    if (version <= 1 || store.read.blockInfo(end - 1)!.hardForkVersion === version) break;
    end--;
  }
  return end;
}

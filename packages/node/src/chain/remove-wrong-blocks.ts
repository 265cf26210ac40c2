import { brokenCheckpoint, type Checkpoint } from "@anulo/consensus";
import { hardForkAt } from "@anulo/protocol";
import { popBlocks } from "./chain.ts";
import type { ChainParts } from "./parts.ts";

/**
 * Takes a chain back to below the blocks that cannot stay: those above a checkpoint that names another block,
 * and the newest if they follow another hard fork than their height has, as after an update that came late.
 * Source: blockchain.cpp `check_against_checkpoints`, `init`.
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
  const kept = heightOfKnownForks(parts, below);
  if (kept < height) await popBlocks(parts, height - kept);
}

/** Blocks left when those on top that follow another fork are gone. */
function heightOfKnownForks({ store, network }: ChainParts, height: number): number {
  let kept = height;
  while (kept > 1) {
    const version = hardForkAt(network, kept - 1);
    if (version <= 1 || store.read.blockInfo(kept - 1)!.hardForkVersion === version) break;
    kept--;
  }
  return kept;
}

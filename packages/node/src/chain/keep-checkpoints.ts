import { brokenCheckpoint } from "@anulo/consensus";
import { popBlocks } from "./chain.ts";
import type { ChainParts } from "./parts.ts";

/**
 * Takes a chain that has passed a checkpoint with another block back to below it; resolves to the height of
 * that checkpoint, undefined where the chain keeps them all. Source: blockchain.cpp `check_against_checkpoints`.
 */
export async function keepCheckpoints(parts: ChainParts): Promise<number | undefined> {
  const view = parts.state.view();
  const broken = brokenCheckpoint(view, view.checkpoints ?? []);
  if (broken === undefined) return undefined;
  await popBlocks(parts, view.height - Math.max(1, broken.height - 2));
  return broken.height;
}

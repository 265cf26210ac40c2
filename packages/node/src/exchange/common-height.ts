import { TimeSlice } from "@anulo/limits";
import { equalBytes } from "@anulo/protocol";
import { BadSource } from "@anulo/storage";
import type { Import, Start } from "./runs.ts";
import { readSourceBlock } from "./source-block.ts";

/** The start of the blocks above a height of our chain. */
function above({ parts }: Import, height: number): Start {
  const info = parts.store.read.blockInfo(height)!;
  return { height: height + 1, transactionsBefore: info.firstTransactionId + info.transactionCount };
}

/** Whether the source has our block of a height; undefined where it ends before. */
async function hasOurs(
  { parts, source, path, signal }: Import,
  height: number,
): Promise<boolean | undefined> {
  const slice = new TimeSlice();
  const own = parts.store.read.blockInfo(height)!;
  const start = { height, transactionsBefore: own.firstTransactionId, withTransactions: false };
  for (const block of source.blocks(start)) {
    if (slice.isOver) await slice.yield();
    if (signal?.aborted === true) break;
    if (block !== undefined) return equalBytes(readSourceBlock(path, block).id, own.hash);
  }
  return undefined;
}

/**
 * Finds where to continue: above the newest block that our chain and the source have in common, searched from our top
 * down in growing steps. Rejects with BadSource for a chain of another network, or one that begins above ours.
 */
export async function findCommonHeight(importing: Import): Promise<Start> {
  const { parts, source, path } = importing;
  const top = parts.store.read.height() - 1;
  if (source.first > top + 1)
    throw new BadSource(path, `it begins with block ${source.first}, and ours ends with ${top}`);
  // A file that begins directly above our chain: its first block shows whether it fits.
  if (source.first === top + 1) return above(importing, top);
  for (let [height, step] = [top, 1]; ; height = Math.max(source.first, height - step), step *= 2) {
    const isCommon = await hasOurs(importing, height);
    if (isCommon === true) return above(importing, height);
    if (importing.signal?.aborted === true) return above(importing, top);
    if (height > source.first) continue;
    throw new BadSource(
      path,
      `its block ${height} is not ours: it is of another network, or of another chain`,
    );
  }
}

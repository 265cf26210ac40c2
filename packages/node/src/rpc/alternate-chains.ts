import { readBlock, toHex } from "@anulo/protocol";
import type { Dialect } from "@anulo/rpc";
import type { AlternativeBlock, ChainReader, WithHash } from "@anulo/storage";
import { findBranch } from "../chain/branch.ts";
import { compareTableOrder } from "../pool/table-order.ts";
import { difficultyFields } from "./wide-number.ts";

/** Blocks beside the main chain on which no other one stands. */
function tips(read: ChainReader): WithHash<AlternativeBlock>[] {
  const all = read.alternativeBlocks();
  const parents = new Set(all.map(({ blob }) => toHex(readBlock(blob).header.previousId)));
  return all.filter(({ hash }) => !parents.has(toHex(hash))).sort(heaviestFirst);
}

function heaviestFirst(a: WithHash<AlternativeBlock>, b: WithHash<AlternativeBlock>): number {
  const difference = b.cumulativeDifficulty - a.cumulativeDifficulty;
  return difference === 0n ? compareTableOrder(b.hash, a.hash) : difference > 0n ? 1 : -1;
}

/** Every side chain. Its `block_hash` is the oldest block, upstream the newest (difference S7). */
export function alternateChains(read: ChainReader, dialect: Dialect) {
  return tips(read).flatMap(({ hash, height, cumulativeDifficulty }) => {
    const branch = findBranch(read, hash);
    if (branch === undefined) return [];
    const hashes = branch.blocks.map((block) => toHex(block.hash)).reverse();
    return {
      block_hash: dialect === "contract" ? hashes.at(-1)! : hashes[0]!,
      block_hashes: hashes,
      ...difficultyFields(cumulativeDifficulty),
      height,
      length: hashes.length,
      main_chain_parent_block: toHex(read.blockField(branch.forkHeight, "hash")!),
    };
  });
}

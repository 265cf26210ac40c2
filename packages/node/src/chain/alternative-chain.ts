import { RuleViolation, verifyAlternativeBlock } from "@anulo/consensus";
import { readBlock, readTransaction, toHex, transactionWeight } from "@anulo/protocol";
import type { AlternativeBlock } from "@anulo/storage";
import { type BranchBlocks, branchView, findBranch } from "./branch.ts";
import type { IncomingBlock } from "./incoming-block.ts";
import { type ChainParts, transact } from "./parts.ts";
import { transactionBlob } from "./stored-transaction.ts";

/** A branch that has more work than the main chain. */
export interface HeavierBranch {
  readonly forkHeight: number;
  readonly blocks: readonly IncomingBlock[];
}

/**
 * Judges a block whose parent is not the top and keeps it beside the main chain; the branch it ends, when
 * that now has more work than the main chain. Throws RuleViolation or Unproven.
 */
export function addAlternative(parts: ChainParts, incoming: IncomingBlock): HeavierBranch | undefined {
  const { store, proofs, state } = parts;
  const below = findBranch(store.read, incoming.block.header.previousId);
  if (below === undefined) throw new RuleViolation({ code: "UNKNOWN_PARENT" });
  const view = state.view();
  const branch = branchView({ ...parts, read: store.read, fixedDifficulty: view.fixedDifficulty }, below);
  const weight = weightOf(parts, incoming);
  const { obligations, ...verified } = verifyAlternativeBlock(incoming.block, branch);
  proofs.demand(obligations);
  const { height, cumulativeDifficulty, alreadyGenerated } = verified;
  const row: AlternativeBlock = {
    height,
    cumulativeDifficulty,
    alreadyGenerated,
    weight,
    blob: incoming.blob,
  };
  transact(parts, (writer) => writer.putAlternativeBlock(incoming.id, row));
  return cumulativeDifficulty > view.cumulativeDifficulty ? heavierBranch(below, incoming) : undefined;
}

function heavierBranch({ forkHeight, blocks }: BranchBlocks, top: IncomingBlock): HeavierBranch {
  const below = blocks.map(({ blob, hash }) => ({
    block: readBlock(blob),
    blob,
    id: hash,
    key: toHex(hash),
  }));
  return { forkHeight, blocks: [...below, top] };
}

/** Weight (bytes) of a block whose transactions are in the pool or on the chain; throws where one is missing. */
function weightOf({ pool, store }: ChainParts, { block }: IncomingBlock): number {
  const weights = block.transactionHashes.map((hash, index) => {
    const waiting = pool.get(toHex(hash));
    if (waiting !== undefined) return waiting.row.weight;
    const mined = store.read.transaction(hash);
    if (mined === undefined) throw new RuleViolation({ code: "TRANSACTION_MISSING", index });
    const blob = transactionBlob(store.read, mined);
    return transactionWeight(readTransaction(blob), blob.length);
  });
  return weights.reduce((sum, weight) => sum + weight, transactionWeight(block.minerTransaction));
}

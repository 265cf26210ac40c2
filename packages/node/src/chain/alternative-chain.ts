import {
  feeOf,
  RuleViolation,
  type TransactionCandidate,
  verifyAlternativeBlock,
  verifyTransactionAlone,
} from "@anulo/consensus";
import { readBlock, toHex, transactionWeight } from "@anulo/protocol";
import type { AlternativeBlock } from "@anulo/storage";
import { returnToPool } from "../pool/return-to-pool.ts";
import { type BranchBlocks, branchView, findBranch } from "./branch.ts";
import type { IncomingBlock } from "./incoming-block.ts";
import { type ChainParts, transact } from "./parts.ts";
import { storedTransaction } from "./stored-transaction.ts";

/** Weight in bytes with the miner transaction, fees in atomic units. */
interface Contents {
  readonly weight: number;
  readonly fees: bigint;
}

/** A branch to become the main chain: it has more work, or a checkpoint. */
export interface HeavierBranch {
  /** Whether its last block is a checkpoint, which counts more than work. */
  readonly isCheckpoint: boolean;
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
  const { fixedDifficulty, seedSchedule, checkpoints } = view;
  const branch = branchView(
    { ...parts, read: store.read, fixedDifficulty, seedSchedule, checkpoints },
    below,
  );
  const { obligations, ...verified } = verifyAlternativeBlock(incoming.block, branch);
  // Nobody has us read and check transactions for a block that took no work.
  proofs.demand(obligations);
  const { weight, fees } = contentsOf(parts, incoming);
  const unseen = unseenOf(parts, incoming);
  const version = branch.view.hardForkVersion;
  proofs.demand(unseen.flatMap((tx) => verifyTransactionAlone(tx, version)));
  const { height, cumulativeDifficulty } = verified;
  // The original counts fees as new coins here, so that templates on such a block claim a wrong reward.
  const alreadyGenerated = verified.alreadyGenerated - fees;
  const row: AlternativeBlock = {
    height,
    cumulativeDifficulty,
    alreadyGenerated,
    weight,
    blob: incoming.blob,
  };
  transact(parts, (writer) => {
    writer.putAlternativeBlock(incoming.id, row);
    // The branch may come to be the main chain later: until then its transactions wait in the pool.
    returnToPool(parts, writer, unseen);
  });
  const { isCheckpoint } = verified;
  const wins = isCheckpoint || cumulativeDifficulty > view.cumulativeDifficulty;
  return wins ? { isCheckpoint, ...branchUpTo(below, incoming) } : undefined;
}

function branchUpTo({ forkHeight, blocks }: BranchBlocks, top: IncomingBlock) {
  const below = blocks.map(({ blob, hash }) => ({
    block: readBlock(blob),
    blob,
    id: hash,
    key: toHex(hash),
  }));
  return { forkHeight, blocks: [...below, top] };
}

/** Those of a block's transactions that came with it and are neither in the pool nor in the chain. */
function unseenOf(
  { pool, store }: ChainParts,
  { block, transactions }: IncomingBlock,
): TransactionCandidate[] {
  return block.transactionHashes.flatMap((hash) => {
    const supplied = transactions?.get(toHex(hash));
    if (supplied === undefined || pool.get(toHex(hash)) !== undefined) return [];
    return store.read.transaction(hash) === undefined ? [supplied] : [];
  });
}

/** What a block's transactions, supplied or of pool or chain, add up to; throws where one is missing. */
function contentsOf(parts: ChainParts, { block, transactions }: IncomingBlock): Contents {
  const { pool, store, setAside } = parts;
  const contents = block.transactionHashes.map((hash, index): Contents => {
    const supplied = transactions?.get(toHex(hash)) ?? setAside.get(toHex(hash));
    if (supplied !== undefined) return { weight: supplied.weight, fees: feeOf(supplied) };
    const waiting = pool.get(toHex(hash));
    if (waiting !== undefined) return { weight: waiting.row.weight, fees: waiting.row.fee };
    const mined = store.read.transaction(hash);
    if (mined === undefined) throw new RuleViolation({ code: "TRANSACTION_MISSING", index });
    const { transaction, weight } = storedTransaction(store.read, mined);
    return { weight, fees: feeOf({ transaction }) };
  });
  return {
    weight: contents.reduce((sum, { weight }) => sum + weight, transactionWeight(block.minerTransaction)),
    fees: contents.reduce((sum, { fees }) => sum + fees, 0n),
  };
}

import {
  type Branch,
  feeOf,
  RuleViolation,
  type TransactionCandidate,
  verifyAlternativeBlock,
  verifyTransactionAlone,
} from "@anulo/consensus";
import { toHex, transactionWeight } from "@anulo/protocol";
import type { AlternativeBlock } from "@anulo/storage";
import { transact } from "../pool/parts.ts";
import { returnToPool } from "../pool/return-to-pool.ts";
import { branchView } from "./branch.ts";
import { type IncomingBlock, type SuppliedTransactions, withProofs } from "./incoming-block.ts";
import type { ChainParts } from "./parts.ts";
import type { SideBlock } from "./side-blocks.ts";
import { storedTransaction } from "./stored-transaction.ts";

/** Weight in bytes with the miner transaction, fees in atomic units. */
interface TransactionTotals {
  readonly weight: number;
  readonly fees: bigint;
}

/** A branch of side blocks to become the main chain: it has more work, or a checkpoint. */
export interface HeavierBranch {
  /** Whether its last block is a checkpoint, which counts more than work. */
  readonly isCheckpoint: boolean;
  /** Oldest first; the first one's parent is on the main chain. */
  readonly blocks: readonly SideBlock[];
  /** Transactions that came with the last block. */
  readonly transactions: SuppliedTransactions | undefined;
}

/**
 * Judges a block whose parent is not the top and stores it beside the main chain. Returns the branch that it ends, if
 * that now has more work than the main chain. Throws RuleViolation or OpenProofs.
 */
export function addAlternative(parts: ChainParts, incoming: IncomingBlock): HeavierBranch | undefined {
  const { proofs, state, sideBlocks } = parts;
  const view = state.view();
  const branch = branchBelow(parts, incoming);
  const { obligations, ...verified } = verifyAlternativeBlock(incoming.block, branch);
  // A block without proof of work must not make us read and check transactions.
  proofs.requireProven(obligations);
  const { weight, fees } = contentsOf(parts, incoming);
  const unseen = unseenOf(parts, incoming);
  const version = branch.view.hardForkVersion;
  proofs.requireProven(unseen.flatMap((tx) => verifyTransactionAlone(tx, version)));
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
  const draft = sideBlocks.draft();
  transact(parts, (writer) => {
    for (const { key } of draft.evictable(toHex(incoming.block.header.previousId), row.blob.length)) {
      draft.remove(writer, key);
    }
    draft.put(writer, incoming.id, row);
    // The branch may become the main chain later: until then its transactions wait in the pool.
    returnToPool(parts, writer, unseen);
  });
  draft.apply();
  for (const { id } of unseen) {
    if (parts.pool.get(toHex(id)) !== undefined) parts.emit({ type: "transactionAdded", id });
  }
  const { isCheckpoint } = verified;
  if (!isCheckpoint && cumulativeDifficulty <= view.cumulativeDifficulty) return undefined;
  return { isCheckpoint, blocks: sideBlocks.branchTo(incoming.key), transactions: incoming.transactions };
}

/** The rules' view of the branch below a block; throws RuleViolation where its parent is unknown. */
export function branchBelow(
  { store, state, network, sideBlocks, now }: ChainParts,
  { block }: IncomingBlock,
): Branch {
  const { previousId } = block.header;
  const blocks = sideBlocks.branchTo(toHex(previousId));
  const forkHeight = store.read.heightOf(blocks[0]?.parentId ?? previousId);
  if (forkHeight === undefined) throw new RuleViolation({ code: "UNKNOWN_PARENT" });
  const { fixedDifficulty, seedSchedule, checkpoints } = state.view();
  const options = { network, read: store.read, fixedDifficulty, seedSchedule, checkpoints, now: now() };
  return branchView(options, { forkHeight, blocks });
}

/**
 * The branch of side blocks that has more work than the main chain, for example after blocks were popped; undefined if
 * there is none.
 */
export function heavierBranch({ sideBlocks, state }: ChainParts): HeavierBranch | undefined {
  const heaviest = sideBlocks.heaviest();
  if (heaviest === undefined || heaviest.cumulativeDifficulty <= state.view().cumulativeDifficulty)
    return undefined;
  return { isCheckpoint: false, blocks: sideBlocks.branchTo(heaviest.key), transactions: undefined };
}

/** Those of a block's transactions that were supplied with it and are neither in the pool nor in the chain. */
function unseenOf(
  { pool, store }: ChainParts,
  { block, transactions }: IncomingBlock,
): TransactionCandidate[] {
  return block.transactionHashes.flatMap((hash) => {
    const supplied = transactions?.get(toHex(hash));
    if (supplied === undefined || pool.get(toHex(hash)) !== undefined) return [];
    return store.read.transaction(hash) === undefined ? [withProofs(supplied)] : [];
  });
}

/**
 * Weight and fees of a block's transactions, which were supplied or are in the pool or chain; throws where one is
 * missing.
 */
function contentsOf(parts: ChainParts, { block, transactions }: IncomingBlock): TransactionTotals {
  const { pool, store, setAside } = parts;
  const contents = block.transactionHashes.map((hash, index): TransactionTotals => {
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

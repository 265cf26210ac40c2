import { epee, type Field, type FieldValue, NULL_HASH } from "@anulo/protocol";

/** A transaction as peers send it: `prunableHash` (32 bytes) is zero if the blob is complete. */
export interface TransactionEntry {
  readonly blob: Uint8Array;
  readonly prunableHash: Uint8Array;
}

/** A block with its transactions; `weight` (bytes) is sent only for pruned blocks, else it is 0. */
export interface BlockEntry {
  readonly pruned: boolean;
  readonly block: Uint8Array;
  readonly weight: number;
  readonly txs: readonly TransactionEntry[];
}

const facts = {
  pruned: epee.defaultsTo(epee.bool, false),
  block: epee.blob,
  block_weight: epee.defaultsTo(epee.count64, 0),
};
const wholeForm = epee.record({ ...facts, txs: epee.list(epee.blob) });
const prunedForm = epee.record({
  ...facts,
  txs: epee.list(epee.record({ blob: epee.blob, prunable_hash: epee.fixedBytes(32) })),
});
const prunedFlag = epee.record({ pruned: facts.pruned });

function whole({ pruned, block, weight, txs }: BlockEntry) {
  return { pruned, block, block_weight: weight, txs: txs.map((tx) => tx.blob) };
}

function pruned({ pruned: isPruned, block, weight, txs }: BlockEntry) {
  const entries = txs.map((tx) => ({ blob: tx.blob, prunable_hash: tx.prunableHash }));
  return { pruned: isPruned, block, block_weight: weight, txs: entries };
}

type WholeForm = FieldValue<typeof wholeForm>;
type PrunedForm = FieldValue<typeof prunedForm>;

function ofWhole({ pruned: isPruned, block, block_weight: weight, txs }: WholeForm): BlockEntry {
  return {
    pruned: isPruned,
    block,
    weight,
    txs: txs.map((tx) => ({ blob: tx, prunableHash: NULL_HASH })),
  };
}

function ofPruned({ pruned: isPruned, block, block_weight: weight, txs }: PrunedForm): BlockEntry {
  const entries = txs.map((tx) => ({ blob: tx.blob, prunableHash: tx.prunable_hash }));
  return { pruned: isPruned, block, weight, txs: entries };
}

/**
 * A block with its transactions; its flag determines which form they have. Source: cryptonote_protocol_defs.h
 * `block_complete_entry`.
 */
export const blockEntry: Field<BlockEntry> = {
  toPortable: (entry) =>
    entry.pruned ? prunedForm.toPortable(pruned(entry)) : wholeForm.toPortable(whole(entry)),
  fromPortable: (value) =>
    prunedFlag.fromPortable(value).pruned
      ? ofPruned(prunedForm.fromPortable(value))
      : ofWhole(wholeForm.fromPortable(value)),
  toJson: (entry) => (entry.pruned ? prunedForm.toJson(pruned(entry)) : wholeForm.toJson(whole(entry))),
  fromJson: (json) =>
    prunedFlag.fromJson(json).pruned
      ? ofPruned(prunedForm.fromJson(json))
      : ofWhole(wholeForm.fromJson(json)),
};

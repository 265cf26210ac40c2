import { BadRequest } from "../errors.ts";
import { isJsonObject } from "../json.ts";
import { list, object } from "../schema/composites.ts";
import { rawBytes } from "../schema/scalars.ts";
import type { Schema } from "../schema/schema.ts";

/** A transaction's bytes; `prunable_hash` (32 bytes) is there when the prunable part is not. */
export type TransactionBlob = {
  readonly blob: Uint8Array;
  readonly prunable_hash?: Uint8Array | undefined;
};

const prunedBlobs = list(object({ blob: rawBytes, prunable_hash: rawBytes }));
const wholeBlobs = list(rawBytes);

/** True when the list is written as records: as soon as one transaction is pruned. */
function isPrunedList(blobs: readonly TransactionBlob[]): boolean {
  return blobs.some((blob) => blob.prunable_hash !== undefined);
}

/** The records of a pruned list; a whole transaction among pruned ones carries an empty hash. */
function prunedRecords(blobs: readonly TransactionBlob[]) {
  return blobs.map(({ blob, prunable_hash = new Uint8Array(32) }) => ({ blob, prunable_hash }));
}

/**
 * Transactions of a block entry: plain byte strings, or records when pruned.
 * Source: cryptonote_protocol_defs.h `block_complete_entry`.
 */
export const transactionBlobs: Schema<TransactionBlob[], readonly TransactionBlob[], false> = {
  kind: "transactionBlobs",
  omittable: false,
  presence: "contract",
  absent: () => [],
  absentInAnswer: true,
  read: (value, reading) => {
    if (!Array.isArray(value)) throw new BadRequest("not a list");
    if (isJsonObject(value[0])) return prunedBlobs.read(value, reading);
    return wholeBlobs.read(value, reading).map((blob) => ({ blob }));
  },
  write: (value, dialect, indent) =>
    isPrunedList(value)
      ? prunedBlobs.write(prunedRecords(value), dialect, indent)
      : wholeBlobs.write(
          value.map(({ blob }) => blob),
          dialect,
          indent,
        ),
  readPortable: (entry, reading) => {
    if (entry.type === "object") return prunedBlobs.readPortable(entry, reading);
    return wholeBlobs.readPortable(entry, reading).map((blob) => ({ blob }));
  },
  writePortable: (value) =>
    isPrunedList(value)
      ? prunedBlobs.writePortable(prunedRecords(value))
      : wholeBlobs.writePortable(value.map(({ blob }) => blob)),
  isEmpty: (value) => value.length === 0,
  describe: wholeBlobs.describe,
};

/**
 * Rows that follow from others, so that opening a wallet need not read them all: segments of the indices of outputs and
 * receipts, and hashes of key images for scans. The head of the ledger names those that belong to it, by an id that each of them has: a change deletes, in
 * the same step, those that it makes wrong, and what the head does not name, or what can't be read, is made anew.
 */

import { randomBytes } from "node:crypto";
import { DamagedStore, type Table, type WalletStore } from "@anulo/store";
import { KeyHashes } from "../outputs/key-set.ts";
import { HashSegment, SEGMENT_PLACES } from "../packed/hash-segment.ts";
import { LazyMap } from "../packed/lazy-map.ts";
import { RECEIPT_INDICES } from "../packed/receipt-indices.ts";
import { PAGE_RECEIPTS } from "../packed/receipt-pages.ts";
import type { WalletState } from "../state.ts";
import type { Cells } from "./cells.ts";
import { receiptSegmentTable, rowKey, segmentTable } from "./ledger-tables.ts";

const ROW_ID_BYTES = 8;
/** Index of key images, and number of the rows with hashes of theirs for scans, behind those of the indices. */
const KEY_IMAGES = 1;
const IMAGE_HASHES = 2;
/** Number of the rows with the zones of a segment, behind those of the indices. */
const ZONES = RECEIPT_INDICES;
const ZONES_PER_SEGMENT = SEGMENT_PLACES / PAGE_RECEIPTS;

type RowId = Uint8Array;

/** What the head of a ledger says of its indices. */
export type IndexHead = {
  /** Of each index of outputs: what decides its hashes, and its segments. */
  readonly outputs: readonly {
    readonly factors: Uint8Array;
    readonly segments: readonly [segment: number, rowId: RowId][];
  }[];
  /** What decides the hashes of key images for scans, which the segments of key images have beside them. */
  readonly imageFactors?: Uint8Array;
  /** The ids are those of the first segments. */
  readonly receipts: { readonly seed: Uint8Array; readonly rowIds: readonly RowId[] };
};

/** What a ledger of an earlier version has. */
export const NO_INDICES: IndexHead = {
  outputs: [],
  receipts: { seed: new Uint8Array(), rowIds: [] },
};

export class IndexRows {
  readonly #state: Pick<WalletState, "outputs" | "incoming">;
  readonly #cells: Cells;
  /** Ids of the stored segments of each index of outputs, by number. */
  readonly #stored: readonly LazyMap<number, RowId>[];
  /** The stored segments of receipts. */
  #storedReceipts: { readonly segment: object; readonly rowId: RowId }[] = [];

  constructor(state: Pick<WalletState, "outputs" | "incoming">, cells: Cells) {
    this.#state = state;
    this.#cells = cells;
    this.#stored = state.outputs.indices.map(() => new LazyMap<number, RowId>());
  }

  /** What the head has to say once the rows put so far are written. */
  get head(): IndexHead {
    const { outputs, incoming } = this.#state;
    return {
      outputs: outputs.indices.map(({ factors }, i) => ({ factors, segments: [...this.#stored[i]!] })),
      imageFactors: outputs.images.hashing.factors,
      receipts: { seed: incoming.indices.seed, rowIds: this.#storedReceipts.map(({ rowId }) => rowId) },
    };
  }

  /** Takes over the segments that belong to a ledger whose outputs are loaded, but not indexed. */
  async loadOutputs(store: WalletStore, head: IndexHead): Promise<void> {
    const { outputs } = this.#state;
    for (const [i, index] of outputs.indices.entries()) {
      const { factors, segments } = head.outputs[i] ?? { factors: new Uint8Array(), segments: [] };
      if (segments.length === 0) continue;
      index.useFactors(factors);
      for (const [number, rowId] of segments) {
        const bytes = await readWithId(store, segmentTable, { places: [i, number], rowId });
        if (bytes === undefined) continue;
        index.addSegment(number, bytes);
        this.#stored[i]!.set(number, rowId);
      }
    }
    if (head.imageFactors === undefined || !store.readsNow) return;
    outputs.images.use(KeyHashes.of(head.imageFactors), (number) => {
      const rowId = this.#stored[KEY_IMAGES]!.get(number);
      if (rowId === undefined || !outputs.indices[KEY_IMAGES]!.hasSegment(number)) return undefined;
      const bytes = readWithIdNow(store, segmentTable, { places: [IMAGE_HASHES, number], rowId });
      return bytes && new Uint32Array(new Uint8Array(bytes).buffer);
    });
  }

  /**
   * Takes over the segments that belong to a ledger whose receipts are not loaded yet; where rows can be read at once,
   * those of the segments are left to be read when they are needed.
   */
  async loadReceipts(store: WalletStore, { receipts: { seed, rowIds } }: IndexHead): Promise<void> {
    const { indices, pages, zones } = this.#state.incoming;
    const read: (Uint8Array | undefined)[][] = [];
    for (const [number, rowId] of rowIds.entries()) {
      const bytesOf = (index: number) =>
        readWithId(store, receiptSegmentTable, { places: [index, number], rowId });
      const zonesOfSegment = await bytesOf(ZONES);
      if (zonesOfSegment === undefined) break;
      if (store.readsNow) {
        zones.addBytes(zonesOfSegment, ZONES_PER_SEGMENT);
        pages.addUnread(ZONES_PER_SEGMENT);
      }
      read.push([]);
      for (let index = 0; index < RECEIPT_INDICES && !store.readsNow; index++)
        read[number]!.push(await bytesOf(index));
    }
    if (read.length === 0) return;
    indices.useSegments(read.length, seed, (index, number) => {
      const row = { places: [index, number], rowId: rowIds[number]! };
      const bytes = store.readsNow ? readWithIdNow(store, receiptSegmentTable, row) : read[number]![index];
      return bytes && segmentOf(number, bytes);
    });
    this.#storedReceipts = indices.segments.map((segment, number) => ({ segment, rowId: rowIds[number]! }));
  }

  /**
   * Puts the rows that make the store's segments those of the indices, in steps; segments of outputs that are missing
   * are made, and those of receipts put, at most `most` of each.
   */
  *put(most: number): Generator<void> {
    yield* this.#putOutputs(most);
    yield* this.#putReceipts(most);
  }

  *#putOutputs(most: number): Generator<void> {
    const { outputs } = this.#state;
    let made = 0;
    for (const [i, index] of outputs.indices.entries()) {
      const stored = this.#stored[i]!;
      for (const number of [...stored.keys()]) {
        if (index.hasSegment(number)) continue;
        this.#cells.delete(segmentTable, [i, number]);
        if (i === KEY_IMAGES) this.#cells.delete(segmentTable, [IMAGE_HASHES, number]);
        stored.delete(number);
      }
      const count = Math.floor(outputs.count / SEGMENT_PLACES);
      for (let number = 0; number < count && made < most; number++) {
        if (index.hasSegment(number)) continue;
        const rowId = newRowId();
        this.#cells.put(segmentTable, [i, number], Buffer.concat([rowId, index.makeSegment(number)]));
        if (i === KEY_IMAGES) yield* this.#putImageHashes(number, rowId);
        stored.set(number, rowId);
        made += 1;
        yield;
      }
    }
  }

  *#putImageHashes(number: number, rowId: RowId): Generator<void> {
    const parts: Uint8Array[] = [rowId];
    for (const hashes of this.#state.outputs.images.ofSegment(number)) {
      parts.push(new Uint8Array(hashes.buffer));
      yield;
    }
    this.#cells.put(segmentTable, [IMAGE_HASHES, number], Buffer.concat(parts));
  }

  *#putReceipts(most: number): Generator<void> {
    const { indices, zones } = this.#state.incoming;
    const { segments } = indices;
    const firstOther = this.#storedReceipts.findIndex(({ segment }, number) => segment !== segments[number]);
    if (firstOther !== -1) {
      for (let number = firstOther; number < this.#storedReceipts.length; number++)
        for (let index = 0; index <= ZONES; index++) this.#cells.delete(receiptSegmentTable, [index, number]);
      this.#storedReceipts.length = firstOther;
    }
    const end = Math.min(segments.length, this.#storedReceipts.length + most);
    for (let number = this.#storedReceipts.length; number < end; number++) {
      const rowId = newRowId();
      const first = number * ZONES_PER_SEGMENT;
      for (let index = 0; index <= ZONES; index++) {
        const bytes =
          index === ZONES
            ? zones.bytes(first, first + ZONES_PER_SEGMENT)
            : indices.segmentBytes(index, number);
        this.#cells.put(receiptSegmentTable, [index, number], Buffer.concat([rowId, bytes]));
      }
      this.#storedReceipts.push({ segment: segments[number]!, rowId });
      yield;
    }
  }
}

const newRowId = (): RowId => new Uint8Array(randomBytes(ROW_ID_BYTES));

/** Undefined if it is not one: it can be made again. */
function segmentOf(number: number, bytes: Uint8Array): HashSegment | undefined {
  try {
    return HashSegment.read(number, bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

type RowToRead = { readonly places: readonly number[]; readonly rowId: RowId };

const valueWithId = (bytes: Uint8Array | undefined, rowId: RowId): Uint8Array | undefined =>
  bytes !== undefined && Buffer.compare(bytes.subarray(0, ROW_ID_BYTES), rowId) === 0
    ? bytes.subarray(ROW_ID_BYTES)
    : undefined;

/** Undefined if there is no row that is as it was written, or none with the id. */
async function readWithId(
  store: WalletStore,
  table: Table,
  { places, rowId }: RowToRead,
): Promise<Uint8Array | undefined> {
  const bytes = await store.read(table, rowKey(places)).catch((error: unknown) => {
    if (error instanceof DamagedStore) return undefined;
    throw error;
  });
  return valueWithId(bytes, rowId);
}

/** The same at once, and never with an error: what can't be read is made from rows that are. */
function readWithIdNow(
  store: WalletStore,
  table: Table,
  { places, rowId }: RowToRead,
): Uint8Array | undefined {
  try {
    return valueWithId(store.readNow(table, rowKey(places)), rowId);
  } catch {
    return undefined;
  }
}

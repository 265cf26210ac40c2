import { forEachSliced } from "@anulo/limits";
import type { WalletStore } from "@anulo/store";
import { encodeEvent, type NewEvent } from "./event.ts";
import type { WriteStep } from "./gathered-writes.ts";
import { sequenceKey, tables } from "./tables.ts";

/** The events of a wallet that belong to one of its changes. */
export interface SourceEntry {
  /** 16 bytes that never change for a wallet's file. */
  readonly source: Uint8Array;
  /** The wallet's name in the events. */
  readonly wallet: string;
  /** Number of the change: a source's changes arrive in order. */
  readonly change: number;
  readonly events: readonly NewEvent[];
  /** Number of the change's events before these, where they come in several parts, which have to follow in order. */
  readonly before?: number;
  /** Whether further parts of the change follow. */
  readonly isPart?: boolean;
}

/** How far a source has come: its last complete change, and how many events of `partial` are in the log after it. */
export interface SourceCursor {
  readonly change: number | undefined;
  readonly partial: { readonly change: number; readonly count: number } | undefined;
}

const SOURCE_BYTES = 16;
/** Stands for no change: real numbers are safe integers. */
const NO_CHANGE = 2n ** 64n - 1n;
const NO_CURSOR: SourceCursor = { change: undefined, partial: undefined };

function encodeCursor({ change, partial }: SourceCursor): Buffer {
  const bytes = Buffer.alloc(20);
  bytes.writeBigUInt64BE(change === undefined ? NO_CHANGE : BigInt(change));
  bytes.writeBigUInt64BE(partial === undefined ? NO_CHANGE : BigInt(partial.change), 8);
  bytes.writeUInt32BE(partial?.count ?? 0, 16);
  return bytes;
}

function decodeCursor(value: Uint8Array): SourceCursor {
  const bytes = Buffer.from(value);
  const [change, next] = [bytes.readBigUInt64BE(), bytes.readBigUInt64BE(8)];
  return {
    change: change === NO_CHANGE ? undefined : Number(change),
    partial: next === NO_CHANGE ? undefined : { change: Number(next), count: bytes.readUInt32BE(16) },
  };
}

/** Reads the cursor of a source; undefined for an unknown source. */
export async function readCursor(store: WalletStore, source: Uint8Array): Promise<SourceCursor | undefined> {
  if (source.length !== SOURCE_BYTES) throw new RangeError(`a source has ${SOURCE_BYTES} bytes`);
  const value = await store.read(tables.sources, source);
  return value === undefined ? undefined : decodeCursor(value);
}

export interface AppendContext {
  readonly store: () => WalletStore;
  /** Seconds since 1970. */
  readonly time: number;
  nextSequence(): number;
}

/** A part of a change came before the one that it follows: all parts have to be told again. */
export class PartMissing extends Error {
  override readonly name = "PartMissing";
}

/** Returns the step that adds an entry. Throws a RangeError for an invalid entry, and `PartMissing`. */
export function appendStep(entry: SourceEntry, { store, time, nextSequence }: AppendContext): WriteStep {
  const { source, wallet, change, events, before = 0, isPart = false } = entry;
  if (!Number.isSafeInteger(change) || change < 0) throw new RangeError(`${change} numbers no change`);
  const place = { wallet, time };
  const key = { table: tables.sources, key: source };
  return async (rows) => {
    const pending = rows.valueOf(key);
    const cursor = pending ? decodeCursor(pending) : ((await readCursor(store(), source)) ?? NO_CURSOR);
    if (cursor.change !== undefined && change <= cursor.change) return true;
    let count = cursor.partial?.change === change ? cursor.partial.count : 0;
    if (count < before) throw new PartMissing("the events before these are not in the log");
    const end = before + events.length;
    // All events are checked before the first is added.
    if (count === before) await forEachSliced(events, (event) => void encodeEvent(event, place));
    for (; count < end && !rows.isFull; count++) {
      const value = encodeEvent(events[count - before]!, place);
      rows.put({ table: tables.events, key: sequenceKey(nextSequence()), value });
    }
    const isAdded = count >= end;
    rows.put({
      ...key,
      value: encodeCursor(
        isAdded && !isPart
          ? { change, partial: undefined }
          : { change: cursor.change, partial: { change, count } },
      ),
    });
    return isAdded;
  };
}

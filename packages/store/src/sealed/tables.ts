import { type KeyRange, MAX_KEY_BYTES, MAX_TABLE_NUMBER, type TableNumber } from "../engine.ts";
import { keyedHash } from "./seal.ts";

/**
 * A table of a wallet, as its owner declares it. The first `groupBytes` bytes of a key are replaced by a keyed hash: a
 * reader of the engine sees which rows share them. The next `orderedBytes` bytes remain visible and in order: only
 * bytes by which a range must be ordered belong there. The rest is replaced by a keyed hash. By default the whole key
 * is: rows are found by their whole key, and a range is the whole table, in no order.
 */
export interface Table {
  /** 1 to 254, different for each table. */
  readonly number: TableNumber;
  readonly groupBytes?: number;
  readonly orderedBytes?: number;
  /** Deleting or replacing a row destroys its old value (`key-slots.ts`). */
  readonly isSecret?: boolean;
}

/** Number of the table with the store's own rows. */
export const OWN_TABLE = 0;
/** A collision of the hashes of two keys cannot be found in practice, and would be detected. */
const HASH_BYTES = 16;

/** Throws a RangeError unless the tables have different numbers and valid lengths. */
export function checkTables(tables: readonly Table[]): void {
  const numbers = new Set(tables.map(({ number }) => number));
  if (numbers.size < tables.length) throw new RangeError("two tables with one number");
  for (const { number, orderedBytes = 0 } of tables) {
    if (!Number.isInteger(number) || number <= OWN_TABLE || number > MAX_TABLE_NUMBER) {
      throw new RangeError(`a table with number ${number}`);
    }
    if (orderedBytes > MAX_KEY_BYTES - 2 * HASH_BYTES) throw new RangeError(`${orderedBytes} ordered bytes`);
  }
}

/** Converts a wallet's keys to those of the engine. */
export class RowKeys {
  readonly #secret: Uint8Array;

  /** `secret` belongs to the wallet, 32 bytes; the caller keeps ownership. */
  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** The engine's key of a row. */
  hide(table: Table, key: Uint8Array): Buffer {
    const { groupEnd, orderedEnd } = partsOf(table);
    if (key.length < groupEnd)
      throw new RangeError(`a key of ${key.length} bytes, its group has ${groupEnd}`);
    const hidden = [key.subarray(groupEnd, orderedEnd)];
    if (groupEnd > 0) hidden.unshift(this.#groupOf(table, key));
    // This is done even for an empty rest, because a key and a longer one that begins with it differ only in length.
    if (key.length > orderedEnd || groupEnd + orderedEnd === 0) {
      hidden.push(this.#hash("rest", table, key));
    }
    return Buffer.concat(hidden);
  }

  /** The engine's range for a range of the wallet. Throws a RangeError for one that cannot be ordered. */
  hideRange(table: Table, { from, to, ...rest }: KeyRange): KeyRange {
    const { groupEnd, orderedEnd } = partsOf(table);
    for (const bound of [from, to]) {
      if (bound !== undefined && (bound.length < groupEnd || bound.length > orderedEnd)) {
        throw new RangeError(`a range of table ${table.number} ends at ${groupEnd} to ${orderedEnd} bytes`);
      }
    }
    if (groupEnd === 0) return { ...rest, ...(from?.length && { from }), ...(to && { to }) };
    const inGroup = from ?? to;
    if (inGroup === undefined) return rest;
    const group = this.#groupOf(table, inGroup);
    if (from && to && !this.#groupOf(table, to).equals(group)) throw new RangeError("a range in two groups");
    const low = from === undefined ? group : Buffer.concat([group, from.subarray(groupEnd)]);
    const high = to === undefined ? afterAll(group) : Buffer.concat([group, to.subarray(groupEnd)]);
    return { ...rest, from: low, ...(high && { to: high }) };
  }

  #groupOf(table: Table, key: Uint8Array): Buffer {
    return this.#hash("group", table, key.subarray(0, table.groupBytes));
  }

  #hash(kind: "group" | "rest", { number }: Table, bytes: Uint8Array): Buffer {
    return keyedHash(this.#secret, `row ${kind}:`, Uint8Array.of(number), bytes).subarray(0, HASH_BYTES);
  }
}

function partsOf({ groupBytes = 0, orderedBytes = 0 }: Table) {
  return { groupEnd: groupBytes, orderedEnd: groupBytes + orderedBytes };
}

/** The smallest byte string above all that begin with these bytes; undefined if there is none. */
function afterAll(bytes: Buffer): Buffer | undefined {
  const at = bytes.findLastIndex((byte) => byte !== 255);
  if (at === -1) return undefined;
  const next = Buffer.from(bytes.subarray(0, at + 1));
  next[at]!++;
  return next;
}

import { setImmediate } from "node:timers/promises";
import type { Engine, KeyRange, Row, TableNumber, WalletId } from "./engine.ts";

/** The smallest key above `key`: the key followed by a zero byte. */
const successor = (key: Uint8Array): Uint8Array => Buffer.concat([key, Buffer.alloc(1)]);

/**
 * Reads a range page by page, in key order. Each row is returned once, as it is when its page is read: rows that change
 * meanwhile may be returned in either form.
 */
export async function* rangeOf(
  engine: Engine,
  wallet: WalletId,
  { table, ...range }: KeyRange & { readonly table: TableNumber },
): AsyncGenerator<Row, void> {
  let rest: KeyRange = range;
  let left = range.limit ?? Number.POSITIVE_INFINITY;
  while (left > 0) {
    const { rows, isLast } = await engine.page(wallet, table, {
      ...rest,
      ...(left !== Number.POSITIVE_INFINITY && { limit: left }),
    });
    yield* rows;
    const last = rows.at(-1);
    if (isLast || last === undefined) return;
    // An engine may answer in the same turn: other code gets a turn between two pages.
    await setImmediate();
    left -= rows.length;
    rest = range.reverse === true ? { ...rest, to: last.key } : { ...rest, from: successor(last.key) };
  }
}

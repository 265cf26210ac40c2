/** The engine's keys of a wallet's rows: what stays visible in them, and which ranges can be read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DamagedStore } from "../src/index.ts";
import { slotOf } from "../src/sealed/rows.ts";
import { checkTables, RowKeys, type Table } from "../src/sealed/tables.ts";
import { bytes } from "./harness.ts";

const HASH_BYTES = 16;
const keys = new RowKeys(new Uint8Array(32).fill(5));
const whole: Table = { number: 1 };
const ordered: Table = { number: 2, orderedBytes: 4 };
const grouped: Table = { number: 3, groupBytes: 2, orderedBytes: 4 };
const groups: Table = { number: 4, groupBytes: 2 };

test("tables have numbers of their own, 1 to 254, and keys that fit the engine's", () => {
  checkTables([{ number: 1 }, { number: 254 }, { number: 2, orderedBytes: 255 - 2 * HASH_BYTES }]);
  const refused: readonly (readonly Table[])[] = [
    [{ number: 0 }],
    [{ number: 255 }],
    [{ number: -1 }],
    [{ number: 1.5 }],
    [{ number: 7 }, { number: 8 }, { number: 7 }],
    [{ number: 2, orderedBytes: 256 - 2 * HASH_BYTES }],
  ];
  for (const tables of refused) assert.throws(() => checkTables(tables), RangeError);
});

test("a key is 16 bytes for its group, its ordered bytes, and 16 bytes for a rest", () => {
  const lengths = (table: Table, ...texts: readonly string[]) =>
    texts.map((text) => keys.hide(table, bytes(text)).length);
  assert.deepEqual(lengths(whole, "a", "a long key"), [16, 16]);
  assert.deepEqual(lengths(ordered, "abcd", "abcde", "abc"), [4, 20, 3]);
  assert.deepEqual(lengths(grouped, "gg", "ggabcd", "ggabcde"), [16, 20, 36]);
  assert.deepEqual(lengths(groups, "gg", "gga"), [16, 32]);
  assert.throws(() => keys.hide(grouped, bytes("g")), RangeError);
  const [one, two] = ["abcde", "abcdf"].map((text) => keys.hide(ordered, bytes(text)));
  assert.deepEqual(one!.subarray(0, 4), Buffer.from("abcd"));
  assert.notDeepEqual(one, two);
  const inGroup = keys.hide(grouped, bytes("ggabcde"));
  assert.deepEqual(inGroup.subarray(0, HASH_BYTES), keys.hide(grouped, bytes("gg")));
  assert.deepEqual(inGroup.subarray(HASH_BYTES, HASH_BYTES + 4), Buffer.from("abcd"));
  assert.notDeepEqual(keys.hide(grouped, bytes("gg")), keys.hide(groups, bytes("gg")), "of another table");
});

test("a range is bounded by ordered bytes, of one group where a table has groups", () => {
  assert.deepEqual(keys.hideRange(whole, { limit: 3 }), { limit: 3 });
  const inOrder = keys.hideRange(ordered, { from: bytes("ab"), to: bytes("abcd"), reverse: true });
  assert.deepEqual(inOrder, { from: bytes("ab"), to: bytes("abcd"), reverse: true });
  assert.deepEqual(keys.hideRange(ordered, { from: bytes(""), to: bytes("b") }), { to: bytes("b") });
  assert.deepEqual(keys.hideRange(grouped, { limit: 1 }), { limit: 1 }, "of all groups");
  const group = keys.hide(grouped, bytes("gg"));
  const part = keys.hideRange(grouped, { from: bytes("gga"), to: bytes("ggb") });
  assert.deepEqual(part, {
    from: Buffer.concat([group, bytes("a")]),
    to: Buffer.concat([group, bytes("b")]),
  });
  const below = keys.hideRange(grouped, { to: bytes("ggb") });
  assert.deepEqual(below, { from: group, to: Buffer.concat([group, bytes("b")]) });
  const { from, to } = keys.hideRange(grouped, { from: bytes("gg") });
  assert.deepEqual(from, group);
  assert.ok(Buffer.compare(to!, Buffer.concat([group, new Uint8Array(239).fill(255)])) > 0);
  assert.ok(Buffer.compare(to!, group) > 0 && to!.length <= HASH_BYTES);
  const refused: readonly (readonly [Table, string | undefined, string | undefined])[] = [
    [whole, "a", undefined],
    [whole, undefined, "a"],
    [ordered, "abcde", undefined],
    [ordered, undefined, "abcde"],
    [grouped, "g", undefined],
    [grouped, undefined, "ggabcde"],
    [grouped, "gga", "hhb"],
  ];
  for (const [table, low, high] of refused) {
    const range = {
      ...(low !== undefined && { from: bytes(low) }),
      ...(high !== undefined && { to: bytes(high) }),
    };
    assert.throws(() => keys.hideRange(table, range), RangeError, `${table.number} ${low} ${high}`);
  }
});

test("a group whose hash ends in 255 has an upper bound, too", () => {
  const endsHigh = Array.from({ length: 5000 }, (_, i) => bytes(String(i).padStart(4, "0")))
    .map((name) => ({ name, hash: keys.hide({ number: 5, groupBytes: 4 }, name) }))
    .find(({ hash }) => hash.at(-1) === 255)!;
  const { from, to } = keys.hideRange({ number: 5, groupBytes: 4 }, { from: endsHigh.name });
  assert.deepEqual(from, endsHigh.hash);
  assert.ok(to!.length < HASH_BYTES && Buffer.compare(to!, endsHigh.hash) > 0);
  assert.equal(to!.at(-1), endsHigh.hash.at(to!.length - 1)! + 1);
});

test("a row of secrets that is too short to name its slot is damaged", () => {
  const row = new Uint8Array(20).map((_, at) => at);
  const head = row.slice(0, 18);
  assert.deepEqual(slotOf(head), { index: 0x06070809, id: Buffer.from(head.subarray(10)) });
  // Its bytes go on behind it, where another row may be.
  for (const length of [0, 17]) assert.throws(() => slotOf(row.subarray(0, length)), DamagedStore);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkLookahead, SubaddressTable } from "../src/scan/subaddress-table.ts";
import { seededRandom } from "./transfer-fixture.ts";

test("the table reaches as far beyond an address in use as the keys file wants", () => {
  const table = new SubaddressTable({ accounts: 2, addresses: 3 });
  assert.deepEqual(table.missingFor({ major: 0, minor: 0 }), [
    { major: 0, fromMinor: 0, toMinor: 3 },
    { major: 1, fromMinor: 0, toMinor: 3 },
  ]);
  for (const { major, fromMinor, toMinor } of table.missingFor({ major: 0, minor: 0 }))
    table.add({ major, fromMinor, keys: new Uint8Array(32 * (toMinor - fromMinor)) });
  assert.deepEqual(table.missingFor({ major: 1, minor: 1 }), [
    { major: 1, fromMinor: 3, toMinor: 4 },
    { major: 2, fromMinor: 0, toMinor: 3 },
  ]);
});

test("a table knows every key it was given, in any order and number, and no other", () => {
  const random = seededRandom("subaddress table");
  const table = new SubaddressTable({ accounts: 1, addresses: 1 });
  const given: { key: Uint8Array; major: number; minor: number }[] = [];
  const covered = [0, 0, 0];
  for (let round = 0; round < 300; round++) {
    const major = random(1)[0]! % 3;
    const count = round % 50 === 0 ? 700 : random(1)[0]! % 4;
    const keys = random(32 * count);
    // Many keys that begin alike, so that they stand beside one another.
    for (let i = 0; i < count; i++) if (i % 3 === 0) keys.set([7, 7, 7, 7], 32 * i);
    table.add({ major, fromMinor: covered[major]!, keys });
    for (let i = 0; i < count; i++)
      given.push({ key: keys.slice(32 * i, 32 * i + 32), major, minor: covered[major]! + i });
    covered[major]! += count;
  }
  assert.equal(table.size, given.length);
  for (const [place, { key, major, minor }] of given.entries()) {
    assert.deepEqual(table.indexOf(key), { major, minor });
    assert.deepEqual(table.indexOf(Buffer.concat([Uint8Array.of(1), key]), 1), { major, minor });
    assert.deepEqual(table.entryAt(place), { key, index: { major, minor } });
    const other = key.slice();
    other[31]! ^= 1;
    assert.equal(table.indexOf(other), undefined);
  }
});

test("a look-ahead that is none is the usual one, one beyond memory is cut", () => {
  for (const [accounts, addresses] of [
    [undefined, 5],
    [0, 5],
    [5, -1],
    [1.5, 5],
    ["5", 5],
  ])
    assert.equal(checkLookahead(accounts, addresses), undefined);
  assert.deepEqual(checkLookahead(1, 100_000), { accounts: 1, addresses: 100_000 });
  const { accounts, addresses } = checkLookahead(0xffff_ffff, 0xffff_ffff)!;
  assert.ok(accounts * addresses <= 2_000_000 && addresses >= 1);
});

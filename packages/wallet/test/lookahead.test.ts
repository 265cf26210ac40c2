import assert from "node:assert/strict";
import { test } from "node:test";
import { addRange, checkLookahead, createSubaddressTable, missingFor } from "../src/scan/subaddress-table.ts";

test("the table reaches as far beyond an address in use as the keys file wants", () => {
  const table = createSubaddressTable({ accounts: 2, addresses: 3 });
  assert.deepEqual(missingFor(table, { major: 0, minor: 0 }), [
    { major: 0, fromMinor: 0, toMinor: 3 },
    { major: 1, fromMinor: 0, toMinor: 3 },
  ]);
  for (const { major, fromMinor, toMinor } of missingFor(table, { major: 0, minor: 0 }))
    addRange(table, { major, fromMinor, keys: new Uint8Array(32 * (toMinor - fromMinor)) });
  assert.deepEqual(missingFor(table, { major: 1, minor: 1 }), [
    { major: 1, fromMinor: 3, toMinor: 4 },
    { major: 2, fromMinor: 0, toMinor: 3 },
  ]);
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

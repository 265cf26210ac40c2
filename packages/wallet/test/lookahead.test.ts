import assert from "node:assert/strict";
import { test } from "node:test";
import { subaddressSpendPublicKeys } from "@anulo/crypto";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { AddressMarks, fitsMarks, reserveMarks, type SharedMarks } from "../src/scan/address-marks.ts";
import { checkLookahead, SubaddressTable } from "../src/scan/subaddress-table.ts";
import { checkSameAddresses } from "./same-addresses.ts";
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
  assert.deepEqual(
    [...table.entries()],
    given.map(({ key, major, minor }) => ({ key, index: { major, minor } })),
  );
  for (const { key, major, minor } of given) {
    assert.deepEqual(table.indexOf(key), { major, minor });
    assert.deepEqual(table.indexOf(Buffer.concat([Uint8Array.of(1), key]), 1), { major, minor });
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

test("marks recognise the same addresses as whole keys, in both threads, while they grow", () => {
  const keys = createKeys(seededRandom("address marks"));
  const lookahead = { accounts: 4, addresses: 500 };
  const memory = reserveMarks([{ major: 0, minor: 0 }], lookahead);
  const [own, other] = [0, 1].map(() => new AddressMarks(keys, lookahead, memory));
  const whole = new SubaddressTable(lookahead);
  const replaced: (SharedMarks | undefined)[] = [];
  // The last two reach beyond the memory that was reserved.
  for (const index of [
    { major: 0, minor: 0 },
    { major: 2, minor: 700 },
    { major: 5, minor: 1 },
  ]) {
    assert.deepEqual(own!.missingFor(index), whole.missingFor(index));
    for (const { major, fromMinor, toMinor } of own!.missingFor(index)) {
      const range = { major, fromMinor, count: toMinor - fromMinor };
      const marks = own!.extend(range);
      replaced.push(marks);
      other!.adopt(range, marks);
      whole.add({ ...range, keys: subaddressSpendPublicKeys({ keys, ...range }) });
    }
  }
  assert.equal(memory.length, 4096 + 2000);
  assert.deepEqual(
    replaced.slice(0, 5).map((marks) => marks !== undefined),
    [false, false, false, false, true],
  );
  assert.equal(own!.size, whole.size);
  for (const table of [own!, other!]) checkSameAddresses(table, whole);
});

test("a wallet with very many addresses has whole keys", () => {
  assert.ok(fitsMarks([{ major: 0, minor: 0 }], { accounts: 50, addresses: 200 }));
  assert.ok(fitsMarks([{ major: 0, minor: 10_000 }], { accounts: 50, addresses: 200 }));
  assert.ok(!fitsMarks([{ major: 0, minor: 40_000 }], { accounts: 50, addresses: 200 }));
  assert.ok(!fitsMarks([{ major: 0, minor: 0 }], { accounts: 200, addresses: 200 }));
});

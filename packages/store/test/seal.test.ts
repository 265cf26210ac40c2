import assert from "node:assert/strict";
import { createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { seal, unseal } from "../src/sealed/seal.ts";
import { checkTables, RowKeys, type Table } from "../src/sealed/tables.ts";

const someBytes = fc.uint8Array({ maxLength: 60 });

test("what was sealed opens in its place, with all its keys, and in no other", () => {
  const key = randomBytes(32);
  fc.assert(
    fc.property(someBytes, someBytes, someBytes, (message, place, rowKey) => {
      const context = { key, place, rowKey };
      const sealed = seal(context, message);
      assert.deepEqual(new Uint8Array(unseal(context, sealed)!), message);
      assert.equal(unseal({ ...context, key: randomBytes(32) }, sealed), undefined);
      assert.equal(
        unseal({ ...context, place: Buffer.concat([place, Uint8Array.of(0)]) }, sealed),
        undefined,
      );
      assert.equal(
        unseal({ ...context, rowKey: Buffer.concat([rowKey, Uint8Array.of(0)]) }, sealed),
        undefined,
      );
    }),
  );
});

test("a sealed message is a salt of 32 bytes, AES-256-GCM under a hash of all that it is bound to, and a tag", () => {
  const [key, place, rowKey, message] = [32, 8, 16, 50].map((length) => randomBytes(length));
  const sealed = seal({ key: key!, place: place!, rowKey: rowKey! }, message!);
  assert.equal(sealed.length, 32 + 50 + 16);
  const salt = sealed.subarray(0, 32);
  const messageKey = createHmac("sha256", key!).update(salt).update(rowKey!).update(place!).digest();
  const decipher = createDecipheriv("aes-256-gcm", messageKey, Buffer.alloc(12));
  decipher.setAAD(place!).setAuthTag(sealed.subarray(-16));
  const opened = Buffer.concat([decipher.update(sealed.subarray(32, -16)), decipher.final()]);
  assert.deepEqual(opened, message);
});

test("a changed bit, a cut or an added byte is refused, and nothing is sealed alike twice", () => {
  const context = { key: randomBytes(32), place: randomBytes(8) };
  const sealed = seal(context, randomBytes(20));
  for (let bit = 0; bit < 8 * sealed.length; bit++) {
    const changed = sealed.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
    assert.equal(unseal(context, changed), undefined);
  }
  for (let length = 0; length < sealed.length; length++) {
    assert.equal(unseal(context, sealed.subarray(0, length)), undefined);
  }
  assert.equal(unseal(context, Buffer.concat([sealed, Uint8Array.of(0)])), undefined);
  const all = Array.from({ length: 1000 }, () => seal(context, new Uint8Array()).toString("hex"));
  assert.equal(new Set(all.map((hex) => hex.slice(0, 64))).size, 1000);
  assert.equal(new Set(all.map((hex) => hex.slice(64))).size, 1000);
});

test("hidden keys have the order of what is ordered, groups stay together, and different keys differ", () => {
  const keys = new RowKeys(randomBytes(32));
  const table: Table = { number: 1, groupBytes: 1, orderedBytes: 2 };
  const key = fc.uint8Array({ minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(key, key, (one, other) => {
      const [a, b] = [keys.hide(table, one), keys.hide(table, other)];
      assert.equal(a.equals(b), Buffer.from(one).equals(other));
      assert.equal(a.subarray(0, 16).equals(b.subarray(0, 16)), one[0] === other[0]);
      const ordered = Buffer.compare(one.subarray(1, 3), other.subarray(1, 3));
      if (one[0] === other[0] && ordered !== 0) assert.equal(Buffer.compare(a, b), ordered);
      assert.notDeepEqual(a, keys.hide({ ...table, number: 2 }, one));
      assert.notDeepEqual(a, new RowKeys(randomBytes(32)).hide(table, one));
    }),
    { numRuns: 500 },
  );
});

test("a range of a group has its rows and no others, at the end of all hashes too", () => {
  const table: Table = { number: 1, groupBytes: 1, orderedBytes: 1 };
  const keys = new RowKeys(randomBytes(32));
  for (let group = 0; group < 256; group++) {
    const { from, to } = keys.hideRange(table, { from: Uint8Array.of(group) });
    for (const ordered of [0, 255]) {
      const hidden = keys.hide(table, Uint8Array.of(group, ordered, 7));
      assert.ok(Buffer.compare(hidden, from!) >= 0 && Buffer.compare(hidden, to!) < 0);
    }
  }
});

test("tables that cannot stand side by side are refused", () => {
  for (const tables of [
    [{ number: 1 }, { number: 1 }],
    [{ number: 0 }],
    [{ number: 255 }],
    [{ number: 1.5 }],
  ]) {
    assert.throws(() => checkTables(tables), RangeError);
  }
  assert.throws(() => checkTables([{ number: 1, orderedBytes: 230 }]), RangeError);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BadCbor, type Plain, readCbor, writeCbor } from "../src/cbor.ts";

const { plain } = fc.letrec<{ plain: Plain }>((tie) => ({
  plain: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(undefined, null, true, false),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.double({ noNaN: true }),
    fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
    fc.string({ unit: "grapheme" }),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(tie("plain"), { maxLength: 5 }),
    fc.dictionary(
      fc.string().filter((name) => name !== "__proto__"),
      tie("plain"),
      { maxKeys: 5, noNullPrototype: true },
    ),
    fc.array(fc.tuple(fc.string(), tie("plain")), { maxLength: 5 }).map((entries) => new Map(entries)),
  ),
}));

test("plain data reads back as what it was", () => {
  fc.assert(
    fc.property(plain, (value) => {
      assert.deepEqual(readCbor(writeCbor(value)), value);
    }),
    { numRuns: 300 },
  );
});

test("small numbers stay numbers and amounts stay bigints", () => {
  assert.equal(readCbor(writeCbor(5)), 5);
  assert.equal(readCbor(writeCbor(5n)), 5n);
  assert.equal(readCbor(writeCbor((1n << 64n) - 1n)), (1n << 64n) - 1n);
});

test("any other bytes are refused as such, never with another error", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        readCbor(bytes);
      } catch (error) {
        assert.ok(error instanceof BadCbor, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});

test("a class instance or an amount beyond 64 bits is not written", () => {
  assert.throws(() => writeCbor(new Date() as unknown as Plain), TypeError);
  assert.throws(() => writeCbor(1n << 64n), TypeError);
  assert.throws(() => writeCbor(JSON.parse('{"__proto__": 1}') as Plain), TypeError);
});

test("names that were read before are told apart, also where their hashes or lengths agree", () => {
  // 31 * "A" + "a" is 31 * "B" + "B".
  const names = [["Aa"], ["BB"], ["Aa", "BB"], ["Äa"], ["Aa"]];
  const records = names.map((each, i) => Object.fromEntries(each.map((name) => [name, i])));
  assert.deepEqual(readCbor(writeCbor(records)), records);
  const many = Array.from({ length: 3000 }, (_, i) => ({ [`name ${i % 2000}`]: i }));
  assert.deepEqual(readCbor(writeCbor(many)), many);
});

/** Lists in one another, with nothing in the innermost. */
const nested = (depth: number) => Uint8Array.from({ length: depth }, (_, i) => (i < depth - 1 ? 0x81 : 0x80));

test("values nested too deep, and names that are no text or no field, are refused", () => {
  const refusal = (bytes: Uint8Array, message: RegExp) =>
    assert.throws(
      () => readCbor(bytes),
      (error) => error instanceof BadCbor && message.test(error.message),
    );
  assert.ok(Array.isArray(readCbor(nested(30))));
  refusal(nested(5000), /too deep/);
  // A record, and a map, with a number for a name.
  refusal(Uint8Array.of(0xa1, 0x01, 0x01), /key is no text/);
  const map = writeCbor(new Map([["", 1]]));
  assert.deepEqual([...map.subarray(-2)], [0x60, 0x01]);
  refusal(Buffer.concat([map.subarray(0, -2), Uint8Array.of(0x01, 0x01)]), /key is no text/);
  const name = Buffer.from("__proto__");
  refusal(
    Buffer.concat([Uint8Array.of(0xa1, 0x60 + name.length), name, Uint8Array.of(0x01)]),
    /no record has/,
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatJson, type Json, parseJson } from "../src/json.ts";

test("integers of 64 bits and more are exact in both directions", () => {
  const text = '{"a":18446744073709551615,"b":[9007199254740993,-5,0.5],"c":"18446744073709551615 \\"1\\\\"}';
  const value = parseJson(text);
  assert.deepEqual(value, {
    a: 18446744073709551615n,
    b: [9007199254740993n, -5, 0.5],
    c: '18446744073709551615 "1\\',
  });
  assert.equal(formatJson(value), text);
});

const strings = fc.string({ unit: "binary" });
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.boolean(),
    fc.constant(null),
    fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Number.isInteger(number)),
    strings,
    fc.array(tie("value")),
    fc.dictionary(strings, tie("value")),
  ),
}));

/** Small integers are numbers, whoever wrote them. */
const normal = (json: Json): Json => {
  if (typeof json === "bigint") return Number.isSafeInteger(Number(json)) ? Number(json) : json;
  if (Array.isArray(json)) return json.map(normal);
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(Object.entries(json).map(([name, member]) => [name, normal(member)]));
};

test("what was written is read again, by either of the two parsers", () => {
  const long = 2n ** 64n;
  fc.assert(
    fc.property(value, (json) => {
      assert.deepEqual(parseJson(formatJson([json, long])), [normal(json), long]);
      assert.deepEqual(parseJson(formatJson([normal(json)])), [normal(json)]);
    }),
  );
});

test("text that is no JSON is refused, also beside long numbers", () => {
  const long = "[1234567890123456789,";
  for (const bad of [
    "01]",
    "tru]",
    '"a]',
    "1",
    "{1:2}]",
    '{"a"}]',
    "1]]",
    "[".repeat(300),
    "-]",
    "1.]",
    "\u00a0 1]",
  ])
    assert.throws(() => parseJson(long + bad), SyntaxError, bad);
  assert.throws(() => parseJson(`[${"9".repeat(1_000_000)}]`), SyntaxError);
});

test("params that JSON does not have are refused, and what is undefined is left out", () => {
  assert.equal(formatJson({ a: undefined, b: 1n, c: [null] }), '{"b":1,"c":[null]}');
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, [undefined], () => 1])
    assert.throws(() => formatJson(bad), TypeError);
});

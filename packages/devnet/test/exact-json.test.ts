import assert from "node:assert/strict";
import { test } from "node:test";
import { formatExact, parseExact, WrittenAsFraction } from "../src/exact-json.ts";

test("integers beyond 2^53 stay exact, in and out", () => {
  const text =
    '{"a":18446744073709551615,"b":[9007199254740993,-5],"c":"18446744073709551615 \\"1\\"","d":1.5e3,"e":0.5}';
  const value = parseExact(text);
  assert.deepEqual(value, {
    a: 18446744073709551615n,
    b: [9007199254740993n, -5],
    c: '18446744073709551615 "1"',
    d: new WrittenAsFraction("1.5e3"),
    e: 0.5,
  });
  assert.deepEqual(parseExact(formatExact(value)), value);
});

test("text that is no JSON is refused", () => {
  for (const text of ["", "{", "01", '{"a":1,}', "nan"]) assert.throws(() => parseExact(text), SyntaxError);
});

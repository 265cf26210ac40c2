import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { BadJson, formatJson, type Json, parseJson, Real } from "../src/index.ts";

const plain = (value: unknown): unknown => structuredClone(value);

describe("parseJson", () => {
  it("reads integers of 64 bits exactly", () => {
    const { a, b, c } = parseJson('{"a":9007199254740993,"b":-9223372036854775808,"c":9007199254740991 }');
    assert.deepEqual([a, b, c], [9007199254740993n, -9223372036854775808n, 9007199254740991]);
  });

  it("tells a fraction from an integer", () => {
    assert.ok(parseJson('{"a":1.0}').a instanceof Real);
  });

  const accepted: [string, unknown][] = [
    ["", {}],
    [" ", {}],
    ["{", {}],
    ['{"a":', {}],
    ['{"a":1,}', { a: 1 }],
    ['{"a":1}x', { a: 1 }],
    ['{"a":1}{"a":2}', { a: 1 }],
    ['{"a":1,"a":2}', { a: 2 }],
    ['\n{\t"a": [1, 2 ] }', { a: [1, 2] }],
    ['{"a":TRUE,"b":null}', { a: true, b: null }],
    ['{"\\u0061":"\\u00fc\\n"}', { a: "ü\n" }],
  ];
  for (const [body, value] of accepted) {
    it(`accepts ${JSON.stringify(body)}`, () => assert.deepEqual(plain({ ...parseJson(body) }), value));
  }

  const refused = [
    "[]",
    "5",
    "null",
    "hello",
    '"x"',
    "{'a':1}",
    "{a:1}",
    '{"a":NaN}',
    '{"a":"x',
    '{"a":[[1]]}',
    '{"a":[1,"b"]}',
    '{"a":[null]}',
    '{"a":18446744073709551616}',
    '{"a":"\\u12"}',
    "/*x*/{}",
    '{"a" 1}',
    '{"a":1 "b":2}',
    "\ufeff{}",
  ];
  for (const body of refused) {
    it(`refuses ${JSON.stringify(body)}`, () => assert.throws(() => parseJson(body), BadJson));
  }

  it("allows ninety levels and refuses two hundred", () => {
    const nested = (depth: number) => `${'{"x":'.repeat(depth)}1${"}".repeat(depth)}`;
    assert.ok(parseJson(nested(90)));
    assert.throws(() => parseJson(nested(200)), BadJson);
  });

  it("takes no more values than it may, objects, lists and fields alike", () => {
    const body = '{"a":{"b":"c"},"d":[1,2]}';
    assert.ok(parseJson(body, 5));
    assert.throws(() => parseJson(body, 4), { name: "BadJson", message: "too many values" });
    const many = `{"a":[${"{},".repeat(2 ** 21)}{}]}`;
    assert.throws(() => parseJson(many), { message: "too many values" });
  });

  it("keeps bytes that are not UTF-8", () => {
    const bytes = Buffer.from("7b226964223a22fffe4122 7d".replace(" ", ""), "hex");
    const { id } = parseJson(bytes);
    assert.equal(Buffer.from(formatJson(id!), "latin1").toString("hex"), "22fffe4122");
  });

  it("does not touch prototypes", () => {
    parseJson('{"__proto__":{"polluted":1}}');
    assert.equal(({} as { polluted?: number }).polluted, undefined);
  });

  it("gives a value or BadJson for any text", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.string().map((s) => `{"a":${s}`),
        ),
        (body) => {
          try {
            parseJson(body);
          } catch (error) {
            assert.ok(error instanceof BadJson);
          }
        },
      ),
    );
  });
});

describe("formatJson", () => {
  it("is read back exactly", () => {
    const leaf = fc.oneof(fc.string({ unit: "grapheme" }), fc.bigInt(0n, 2n ** 64n - 1n), fc.boolean());
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.oneof(leaf, fc.array(fc.string(), { minLength: 1 }))),
        (value) => {
          const bytes = Buffer.from(formatJson(value as Json), "latin1");
          const normal = Object.entries(value).map(([k, v]) => [
            k,
            typeof v === "bigint" && v <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(v) : v,
          ]);
          assert.deepEqual({ ...parseJson(bytes) }, { ...Object.fromEntries(normal) });
        },
      ),
    );
  });
});

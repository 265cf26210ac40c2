import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { textOfBytes } from "../src/body-text.ts";
import { BadJson, byteStringOf, formatJson, type Json, parseJson, Real } from "../src/index.ts";

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
    ['{"a":1,"a":null}', { a: 1 }],
    ['{"a":null,"a":1}', { a: 1 }],
    ['{"a":null}', { a: null }],
    ['\n{\t"a": [1, 2 ] }', { a: [1, 2] }],
    ['{"a":TRUE,"b":null}', { a: true, b: null }],
    ['{"l":[{"a":1},{"at":2},{"a":3}]}', { l: [{ a: 1 }, { at: 2 }, { a: 3 }] }],
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
    // A name is recognized by what was written before, not by what it meant.
    '{"a":[{"x\\"y":1},{"x"y":2}]}',
  ];
  for (const body of refused) {
    it(`refuses ${JSON.stringify(body)}`, () => assert.throws(() => parseJson(body), BadJson));
  }

  it("allows ninety levels and refuses two hundred", () => {
    const nested = (depth: number) => `${'{"x":'.repeat(depth)}1${"}".repeat(depth)}`;
    assert.ok(parseJson(nested(90)));
    assert.throws(() => parseJson(nested(200)), BadJson);
  });

  it("never makes a number of more digits than 64 bits can need", (t) => {
    // Closes: input whose parsing takes more than linear time.
    const made: number[] = [];
    const { BigInt: makeNumber } = globalThis;
    const spy = (digits: string) => {
      made.push(digits.length);
      return makeNumber(digits);
    };
    t.mock.method(globalThis, "BigInt", spy as never);
    for (const sign of ["", "-"]) {
      assert.throws(() => parseJson(`{"a":${sign}${"1".repeat(21)}}`), BadJson);
      assert.throws(() => parseJson(`{"a":${sign}${"9".repeat(2 ** 20)}}`), BadJson);
    }
    assert.equal(parseJson('{"a":18446744073709551615}').a, 2n ** 64n - 1n);
    assert.ok(made.length > 0 && Math.max(...made) <= 20);
  });

  it("reads integers however many zeros precede them, and none beyond 64 bits", () => {
    const zeros = "0".repeat(10_000);
    const read = (text: string) => parseJson(`{"a":${text}}`).a;
    assert.equal(read(`${zeros}7`), 7);
    assert.equal(read(`-${zeros}7`), -7);
    assert.equal(read(`${zeros}18446744073709551615`), 2n ** 64n - 1n);
    for (const text of ["18446744073709551616", "-9223372036854775809", `${zeros}18446744073709551616`])
      assert.throws(() => read(text), { name: "BadJson", message: "number beyond 64 bits" });
  });

  it("takes no more values than it may, objects, lists and fields alike", () => {
    const body = '{"a":{"b":"c"},"d":[1,2]}';
    assert.ok(parseJson(body, 5));
    assert.throws(() => parseJson(body, 4), { name: "BadJson", message: "too many values" });
    const many = `{"a":[${"{},".repeat(2 ** 21)}{}]}`;
    assert.throws(() => parseJson(many), { message: "too many values" });
  });

  it("takes no more fields in an object, and no more escapes, than a request can need", () => {
    // Closes: input that takes far longer to parse than others of its length.
    const fields = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":0`).join()}}`;
    assert.ok(parseJson(fields(4096)));
    assert.throws(() => parseJson(fields(4097)), { message: "too many fields" });
    assert.throws(() => parseJson(`{"a":[{},${fields(4097)}]}`), { message: "too many fields" });
    const escapes = (count: number) => `{"a":"${"\\n".repeat(count)}"}`;
    assert.ok(parseJson(escapes(72), 10));
    assert.throws(() => parseJson(escapes(73), 10), { message: "too many values" });
  });

  it("reads the escapes that the original knows, and refuses others", () => {
    assert.equal(parseJson(String.raw`{"a":"\"\\\/\'\b\f\n\r\t\v\u0041"}`).a, "\"\\/'\b\f\n\r\t\vA");
    for (const letter of "xaU0 ")
      assert.throws(() => parseJson(`{"a":"\\${letter}41"}`), { name: "BadJson", message: "unknown escape" });
  });

  it("keeps bytes that are not UTF-8", () => {
    const bytes = Buffer.from("7b226964223a22fffe4122 7d".replace(" ", ""), "hex");
    const { id } = parseJson(bytes);
    assert.equal(Buffer.from(formatJson(id!), "latin1").toString("hex"), "22fffe4122");
  });

  it("keeps any bytes at all, and finds the characters among them as Node does", () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 8 }),
      fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
      fc
        .constantFrom("c080", "eda080", "f4908080", "e0808f", "f0808080", "c3", "f09f98")
        .map((hex) => Buffer.from(hex, "hex")),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const bytes = Buffer.concat(pieces);
        const text = textOfBytes(bytes);
        assert.equal(Buffer.from(byteStringOf(text), "latin1").toString("hex"), bytes.toString("hex"));
        const replaced = text.replace(/(?<![\ud800-\udbff])[\udc80-\udcff]+/g, "\ufffd");
        assert.equal(replaced, bytes.toString("utf8").replace(/\ufffd+/g, "\ufffd"));
      }),
      { numRuns: 2000 },
    );
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

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openPortable, writePortable } from "@anulo/protocol";
import {
  type AnySchema,
  BadRequest,
  contractZero,
  flag,
  hex,
  i64,
  implementFor,
  int,
  int8,
  list,
  method,
  object,
  omitEmpty,
  optional,
  or,
  parseJson,
  switched,
  text,
  u64,
  uint,
  uint8,
  uint16,
  uint32,
  wireForm,
} from "../src/index.ts";

const request = { of: "request" } as const;

function json(
  value: { write: (v: never, d: "contract" | "upstream", i: string) => string },
  v: unknown,
  d: "contract" | "upstream",
) {
  return value.write(v as never, d, "").replace(/\s+/g, "");
}

describe("schema", () => {
  const record = object({ height: uint, amount: u64, name: text, lists: list(uint32) });

  it("gives absent, null and empty list fields of a request their zero value", () => {
    const zero = { height: 0, amount: 0n, name: "", lists: [] };
    assert.deepEqual(record.read(parseJson("{}"), request), zero);
    assert.deepEqual(record.read(parseJson('{"height":null,"amount":[],"name":null}'), request), zero);
  });

  it("keeps 64-bit amounts exact in both directions", () => {
    const read = record.read(parseJson('{"amount":18446744073709551615,"height":1}'), request);
    assert.equal(read.amount, 18446744073709551615n);
    assert.match(record.write(read, "contract", ""), /"amount": 18446744073709551615,/);
  });

  it("reads digits in a string as a number for 64-bit fields only", () => {
    assert.equal(record.read(parseJson('{"height":"12"}'), request).height, 12);
    assert.throws(() => record.read(parseJson('{"height":"abc"}'), request), BadRequest);
    assert.throws(() => record.read(parseJson('{"lists":["5"]}'), request), BadRequest);
  });

  for (const bad of [
    '{"height":-1}',
    '{"height":1.5}',
    '{"height":1e3}',
    '{"height":true}',
    '{"height":{}}',
  ]) {
    it(`refuses ${bad}`, () => {
      assert.throws(() => record.read(parseJson(bad), request), { name: "BadRequest", path: ["height"] });
    });
  }

  it("reads what is no list as an empty one in a request and refuses it in an answer", () => {
    assert.deepEqual(record.read(parseJson('{"lists":"abc"}'), request).lists, []);
    assert.throws(
      () => record.read(parseJson('{"height":1,"amount":2,"name":"","lists":"abc"}'), { of: "answer" }),
      BadRequest,
    );
  });

  it("refuses an answer that lacks a field, but not one that lacks a list", () => {
    const answer = { of: "answer" } as const;
    assert.throws(() => record.read(parseJson('{"height":1}'), answer), { path: ["amount"] });
    assert.deepEqual(record.read(parseJson('{"height":1,"amount":2,"name":""}'), answer).lists, []);
  });

  it("writes empty lists and zero optionals in the contract dialect only", () => {
    const answer = object({
      items: list(uint),
      confirmations: contractZero(uint),
      extra: omitEmpty(list(uint)),
    });
    const value = { items: [], confirmations: 0, extra: [] };
    assert.equal(json(answer, value, "contract"), '{"confirmations":0,"items":[]}');
    assert.equal(json(answer, value, "upstream"), "{}");
    const full = { items: [1], confirmations: 2, extra: [3] };
    assert.equal(json(answer, full, "upstream"), '{"confirmations":2,"extra":[3],"items":[1]}');
  });

  it("leaves hex digits out where there are none, as bytes and as text", () => {
    const answer = object({ seed: omitEmpty(hex) });
    for (const none of ["", new Uint8Array(0)]) assert.equal(json(answer, { seed: none }, "contract"), "{}");
    for (const one of ["0a", Uint8Array.of(10)])
      assert.equal(json(answer, { seed: one }, "contract"), '{"seed":"0a"}');
  });

  it("fills defaults in both directions", () => {
    const schema = object({ status: or(text, "OK"), relay: or(flag, true), note: optional(text) });
    assert.deepEqual(schema.read(parseJson("{}"), request), { status: "OK", relay: true, note: undefined });
    assert.equal(json(schema, {}, "contract"), '{"relay":true,"status":"OK"}');
  });

  it("writes a switched value in the form of the dialect and reads both", () => {
    const host = switched<string>({
      contract: wireForm({ schema: uint, toWire: Number, fromWire: String }),
      upstream: wireForm({ schema: text, toWire: (v: string) => v, fromWire: (v: string) => v }),
    });
    const peer = object({ host });
    assert.equal(json(peer, { host: "7" }, "contract"), '{"host":7}');
    assert.equal(json(peer, { host: "7" }, "upstream"), '{"host":"7"}');
    assert.deepEqual(peer.read(parseJson('{"host":7}'), request), { host: "7" });
    assert.deepEqual(peer.read(parseJson('{"host":"7"}'), request), { host: "7" });
  });

  it("lays records out as the original programs do", () => {
    const schema = object({ b: uint, a: object({ c: text }) });
    assert.equal(
      schema.write({ b: 1, a: { c: "x/y" } }, "contract", "  "),
      '{\r\n    "a": {\r\n      "c": "x\\/y"\r\n    },\r\n    "b": 1\r\n  }',
    );
  });
});

/** The integer as it comes in portable storage, signed where it is negative. */
function readPortableInteger(schema: AnySchema, value: bigint): unknown {
  const type = value < 0n ? "int64" : "uint64";
  const bytes = writePortable(new Map([["a", { type, value }]]));
  return object({ a: schema }).readPortable(openPortable(bytes), request).a;
}

describe("integers", () => {
  const upTo = (bits: number) => 2n ** BigInt(bits) - 1n;
  const bounds: readonly [string, AnySchema, bigint, bigint][] = [
    ["u64", u64, 0n, upTo(64)],
    ["i64", i64, -(2n ** 63n), upTo(63)],
    ["uint32", uint32, 0n, upTo(32)],
    ["uint16", uint16, 0n, upTo(16)],
    ["uint8", uint8, 0n, upTo(8)],
    ["int8", int8, -128n, 127n],
  ];
  /** As the parser gives it. */
  const parsed = (value: bigint) => parseJson(`{"a":${value}}`).a!;
  const fits64 = (value: bigint) => value >= -(2n ** 63n) && value < 2n ** 64n;

  for (const [name, schema, least, most] of bounds) {
    it(`${name} takes what fits, on both sides of both ends`, () => {
      // Closes: a number outside a field's range reaches a handler.
      for (const inside of [least, least + 1n, most - 1n, most]) {
        assert.equal(BigInt(schema.read(parsed(inside), request) as number), inside);
        assert.equal(BigInt(readPortableInteger(schema, inside) as number), inside);
      }
      for (const outside of [least - 1n, most + 1n, -(2n ** 63n) - 1n, 2n ** 64n]) {
        if ((outside >= least && outside <= most) || !fits64(outside)) continue;
        assert.throws(() => readPortableInteger(schema, outside), BadRequest, `${outside}`);
        assert.throws(() => schema.read(parsed(outside), request), BadRequest, `${outside}`);
      }
    });
  }

  it("of 64 bits are counted as 2^53-1 above it, in requests alone", () => {
    for (const value of [2n ** 53n - 1n, 2n ** 53n, upTo(64)])
      assert.equal(uint.read(parsed(value), request), Number.MAX_SAFE_INTEGER);
    assert.throws(() => uint.read(2n ** 53n, { of: "answer" }), BadRequest);
    assert.throws(() => uint.read(2n ** 64n, request), BadRequest);
    assert.throws(() => uint.read(-1, request), BadRequest);
    assert.throws(() => uint.read("18446744073709551616", request), BadRequest);
    assert.equal(u64.read("18446744073709551615", request), upTo(64));
    assert.throws(() => u64.read("18446744073709551616", request), BadRequest);
  });

  it("of 64 bits with a sign are counted as 2^53-1 beyond it, in requests alone", () => {
    const most = Number.MAX_SAFE_INTEGER;
    for (const value of [2n ** 53n - 1n, 2n ** 53n, upTo(63)]) {
      assert.equal(int.read(parsed(value), request), most);
      assert.equal(int.read(parsed(-value), request), -most);
    }
    assert.equal(int.write(most, "contract", ""), String(most));
    assert.throws(() => int.read(-(2n ** 53n), { of: "answer" }), BadRequest);
    for (const value of [2n ** 63n, -(2n ** 63n) - 1n])
      assert.throws(() => int.read(value, request), BadRequest);
  });

  it("are written only where they fit", () => {
    for (const value of [-1n, 2n ** 64n]) assert.throws(() => u64.write(value, "contract", ""), RangeError);
    assert.equal(u64.write(upTo(64), "contract", ""), "18446744073709551615");
    assert.throws(() => uint8.write(256, "contract", ""), RangeError);
    assert.throws(() => uint8.write(-1, "contract", ""), RangeError);
    assert.throws(() => uint.write(2 ** 53, "contract", ""), RangeError);
    assert.equal(int8.write(-128, "contract", ""), "-128");
    assert.throws(() => int8.write(128, "contract", ""), RangeError);
  });
});

describe("implementFor", () => {
  const group = {
    getHeight: method({
      name: "get_height",
      summary: "Height.",
      params: object({}),
      result: object({ height: uint }),
    }),
    getVersion: method({ name: "get_version", summary: "Version.", params: object({}), result: object({}) }),
  };

  it("binds handlers and leaves what is named as missing without one", () => {
    const bound = implementFor<{ top: number }>()(
      group,
      { getHeight: (_params, { top }) => ({ height: top + 1 }) },
      ["getVersion"],
    );
    assert.deepEqual(
      bound.map(({ call, handler }) => [call.name, handler !== undefined]),
      [
        ["get_height", true],
        ["get_version", false],
      ],
    );
  });
});

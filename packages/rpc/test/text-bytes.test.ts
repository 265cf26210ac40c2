import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Drawn, hash, list, object, text, u64, uint } from "../src/index.ts";
import { BytePieces } from "../src/schema/byte-pieces.ts";
import { bytesOfText, TextBytes, textOf, textWords } from "../src/schema/text-bytes.ts";
import { serialized, type Written, writtenInParts } from "../src/schema/written.ts";
import { writeLongLists } from "../src/server/long-answer.ts";

const written = (write: (out: TextBytes) => void): string =>
  bytesOfText("contract", write).toString("latin1");

describe("text written as bytes", () => {
  it("has whole numbers as JavaScript writes them", () => {
    const edges = [0, 9, 10, 2 ** 31 - 1, 2 ** 31, 10 * 2 ** 31, Number.MAX_SAFE_INTEGER];
    for (const edge of edges) {
      for (const value of [edge - 1, edge, edge + 1]) {
        if (value >= 0 && Number.isSafeInteger(value))
          assert.equal(
            written((out) => out.integer(value)),
            `${value}`,
          );
      }
    }
    const long = Float64Array.from({ length: 5000 }, (_, i) => Number.MAX_SAFE_INTEGER - i);
    assert.equal(
      written((out) => out.moreIntegers(long)),
      `,${long.join()}`,
    );
    for (const value of [0n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 64n - 1n])
      assert.equal(object({ a: u64 }).write({ a: value }, "contract", ""), `{\r\n  "a": ${value}\r\n}`);
  });

  it("has all bytes in hexadecimal, and each character as its byte", () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    assert.equal(
      written((out) => out.hex(bytes)),
      `"${Buffer.from(bytes).toString("hex")}"`,
    );
    assert.equal(
      written((out) => out.hex(bytes, 254, 2)),
      '"feff"',
    );
    const text = Buffer.from(bytes).toString("latin1");
    for (const part of [text, text.slice(240)])
      assert.equal(
        written((out) => out.text(part)),
        part,
      );
    for (let length = 0; length < 9; length++)
      assert.equal(
        written((out) => out.words(textWords(text.slice(120, 120 + length)))),
        text.slice(120, 120 + length),
      );
  });

  it("grows beyond the memory it begins in, also within another text", () => {
    const long = "x".repeat(100_000);
    const whole = written((out) => {
      out.text("a");
      out.text(written((inner) => inner.text(long)));
      out.bytes(Buffer.from(long));
    });
    assert.equal(whole, `a${long}${long}`);
    assert.equal(
      written((out) => out.text("b")),
      "b",
    );
  });

  it("is set aside in pieces where it is long, and nothing of it is copied into what encloses it", async () => {
    const out = new TextBytes("contract");
    const text = "0123456789".repeat(30_000);
    for (let at = 0; at < text.length; at += 1000) {
      out.text(text.slice(at, at + 1000));
      out.setAside();
      assert.equal(out.length, at + 1000);
    }
    const { result } = out;
    assert.ok(result instanceof BytePieces && result.pieces.every(({ length }) => length < 70_000));
    assert.equal(result.length, text.length);
    assert.equal(out.contents.toString("latin1"), text);
    const outerText = textOf("contract", (outer) => {
      outer.text("<");
      outer.add(result);
      outer.text(">");
    });
    assert.ok(outerText instanceof BytePieces && outerText.pieces.includes(result.pieces[1]!));
    assert.equal(outerText.toString(), `<${text}>`);
    assert.equal(
      written((outer) => outer.add(result)),
      text,
    );
  });

  it("is a string of any length whose parts arrive one after the other", async () => {
    async function* parts(count: number) {
      for (let i = 0; i < count; i++) yield "abc".repeat(100);
    }
    const schema = object({ a: serialized(text), b: uint });
    for (const count of [0, 1, 1000]) {
      const a = await writtenInParts(parts(count));
      assert.equal(a.length, 300 * count);
      const expected = { a: "abc".repeat(100 * count), b: 1 };
      const value = { a, b: 1 } as { a: Written; b: number };
      assert.equal(schema.write(value, "contract", ""), schema.write(expected, "contract", ""));
    }
  });

  it("is whole again after a value that could not be written", () => {
    assert.throws(() => list(uint).write([1, -1], "contract", ""), RangeError);
    assert.equal(list(uint).write([1, 2], "contract", ""), "[1,2]");
    assert.equal(list(hash).write([new Uint8Array(2)], "contract", ""), '["0000"]');
  });
});

describe("a list that is read while it is written", () => {
  it("is in pieces where it is long, each released once it is sent", async () => {
    const schema = object({ a: list(hash) });
    const value = { a: new Drawn(3000, (place) => new Uint8Array(32).fill(place)) };
    const writing = { form: { dialect: "contract", indent: "" }, maxBytes: 1e6 } as const;
    const result = (await writeLongLists(schema, value, writing)) as typeof value;
    const whole = textOf("contract", (out) => schema.put!(result, out, ""));
    assert.ok(whole instanceof BytePieces && whole.pieces.every(({ length }) => length < 70_000));
    const all = { a: Array.from({ length: 3000 }, (_, place) => value.a.at(place)) };
    assert.equal(whole.toString(), schema.write(all, "contract", ""));
  });

  it("holds what it is read from before others are let go first, and releases it", async () => {
    const schema = object({ a: list(uint) });
    const events: string[] = [];
    const from = { hold: () => void events.push("hold"), release: () => void events.push("release") };
    const busy = (place: number): number => {
      const end = performance.now() + 6;
      while (performance.now() < end);
      events.push(`${place}`);
      return place;
    };
    const writing = { form: { dialect: "contract", indent: "" }, maxBytes: 1e6 } as const;
    const result = await writeLongLists(schema, { a: new Drawn(5, busy, from) }, writing);
    assert.equal(schema.write(result as { a: number[] }, "contract", ""), '{\r\n  "a": [0,1,2,3,4]\r\n}');
    assert.equal(events.at(-1), "release");
    assert.ok(events.indexOf("hold") > 0 && events.indexOf("hold") < events.indexOf("4"));
  });
});

import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { type PortableObject, readPortable, writePortable } from "@anulo/protocol";
import {
  drawn,
  flag,
  lasting,
  list,
  object,
  omitEmpty,
  optional,
  or,
  quoted,
  text,
  uint,
} from "../src/index.ts";
import { writeLongLists } from "../src/server/long-answer.ts";

const record = object({
  a: text,
  b: optional(uint),
  c: omitEmpty(list(uint)),
  d: uint,
  status: or(text, "OK"),
});

describe("lasting records", () => {
  it("are written as others are, whatever changes and whatever is left out", () => {
    const facts = { a: "x/y", c: [1, 2] };
    const changes = [{ b: 1, d: 2 }, { b: undefined, d: 2 }, { d: 3 }, { b: 4, d: 3, status: "bad" }];
    for (const changing of [...changes, ...changes.toReversed()]) {
      for (const dialect of ["contract", "upstream"] as const) {
        for (const indent of ["", "  "]) {
          const whole = record.write({ ...facts, ...changing }, dialect, indent);
          assert.equal(record.write(lasting(facts, changing), dialect, indent), whole);
        }
      }
    }
  });

  it("may be whole", () => {
    const facts = { a: "x", c: [], d: 1 };
    assert.equal(record.write(lasting(facts, {}), "upstream", ""), record.write(facts, "upstream", ""));
  });

  it("refuse a first field that changes or is missing", () => {
    assert.throws(() => record.write(lasting({ d: 1, c: [] }, { a: "" }), "contract", ""), TypeError);
    const first = object({ a: omitEmpty(list(uint)), b: uint });
    assert.throws(() => first.write(lasting({ a: [] }, { b: 1 }), "upstream", ""), TypeError);
  });

  it("may lack the first field where nothing changes", () => {
    const first = object({ a: optional(list(uint)), b: uint });
    for (const facts of [{ b: 1 }, { a: [1], b: 2 }]) {
      const whole = first.write(facts, "upstream", "  ");
      assert.equal(first.write(lasting(facts, {}), "upstream", "  "), whole);
    }
    const none = object({ a: optional(uint) });
    assert.equal(none.write(lasting({}, {}), "upstream", "  "), none.write({}, "upstream", "  "));
  });

  it("have their long lists written once, in turns", async () => {
    let writings = 0;
    const write = (value: number) => {
      writings++;
      return `${value}`;
    };
    const { put: _, ...plain } = uint;
    const item = { ...plain, write };
    const schema = object({ a: list(item), b: uint });
    const facts = { a: Array.from({ length: 3000 }, (_, i) => i), b: 1 };
    const form = { dialect: "contract", indent: "  " } as const;
    const answer = async () => {
      const result = await writeLongLists(schema, lasting(facts, {}), {
        form,
        maxBytes: Number.POSITIVE_INFINITY,
      });
      return schema.write(result as typeof facts, form.dialect, form.indent);
    };
    const texts = await Promise.all([answer(), answer()]);
    texts.push(await answer());
    assert.equal(writings, 3000);
    const whole = schema.write(facts, form.dialect, form.indent);
    for (const text of texts) assert.equal(text, whole);
  });

  it("are not written on once they are longer than any response, nor again for others", async () => {
    let writings = 0;
    const write = (value: number) => {
      writings++;
      return `${value}`;
    };
    const { put: _, ...plain } = uint;
    const schema = object({ a: list({ ...plain, write }) });
    const facts = { a: Array.from({ length: 100_000 }, (_, i) => i) };
    const form = { dialect: "contract", indent: "  " } as const;
    const answer = async () => await writeLongLists(schema, lasting(facts, {}), { form, maxBytes: 1000 });
    for (let i = 0; i < 2; i++) await assert.rejects(answer(), { name: "OverBudget", of: "response" });
    assert.ok(writings < 1000, `${writings} elements were written`);
  });

  it("have the binary form of their fields as they are now", () => {
    const schema = object({ outs: list(object({ height: uint, unlocked: flag })) });
    const facts = { height: 7 };
    for (const unlocked of [false, false, true, false]) {
      const written = schema.writePortable({ outs: [lasting(facts, { unlocked })] });
      const plain = schema.writePortable({ outs: [{ ...facts, unlocked }] });
      assert.ok(written?.type === "object" && "value" in written);
      assert.ok(plain?.type === "object" && "value" in plain);
      assert.deepEqual(writePortable(written.value), writePortable(plain.value));
      assert.deepEqual(readPortable(writePortable(written.value)), plain.value);
    }
  });
});

describe("prepared text", () => {
  it("is written as the text itself", () => {
    const value = 'a "quoted" / ü \n';
    const schema = object({ a: text });
    const dialect = "contract";
    assert.equal(schema.write({ a: quoted(value) }, dialect, ""), schema.write({ a: value }, dialect, ""));
    assert.deepEqual(schema.writePortable({ a: quoted(value) }), schema.writePortable({ a: value }));
  });
});

for (const length of [3, 1000]) {
  test(`a list of ${length} whose elements are drawn is written as the list of them`, async () => {
    const schema = object({ items: list(object({ n: uint, text })) });
    const numbers = Array.from({ length }, (_, i) => i);
    const draw = (n: number) => ({ n, text: `number ${n}` });
    const form = { dialect: "contract", indent: "" } as const;
    const whole = { items: numbers.map(draw) };
    const given = await writeLongLists(schema, { items: drawn(numbers, draw) }, { form, maxBytes: 1e6 });
    assert.equal(schema.write(given as never, "contract", ""), schema.write(whole, "contract", ""));
    const binary = await writeLongLists(
      schema,
      { items: drawn(numbers, draw) },
      { form: "portable", maxBytes: 1e6 },
    );
    const bytesOf = (value: typeof whole) =>
      writePortable((schema.writePortable(value) as { value: PortableObject }).value);
    assert.deepEqual(bytesOf(binary as never), bytesOf(whole));
  });
}

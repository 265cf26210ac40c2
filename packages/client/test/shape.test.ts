import assert from "node:assert/strict";
import { test } from "node:test";
import { BadShape, parseShape, readAs } from "../src/shape.ts";

const shape = parseShape(
  '{id:s,amount:n,count:i,list~:[{n:n}],maybe?:b,status~"OK":s,form:(i|s),inner~:{x:i,y:[s]}}',
);
const full = {
  id: "a",
  amount: 5,
  count: 3,
  list: [{ n: 2n ** 60n }],
  maybe: true,
  status: "BUSY",
  form: "f",
  inner: { x: 1, y: ["z"] },
};

test("amounts become bigint, and every field is as declared", () => {
  assert.deepEqual(readAs(shape, full), { ...full, amount: 5n });
  assert.deepEqual(readAs(shape, { ...full, form: 7 }), { ...full, amount: 5n, form: 7 });
});

test("what a service leaves out has its value, or is left out", () => {
  const { id, amount, count, form } = full;
  const expected = { id, amount: 5n, count, list: [], status: "OK", form, inner: { x: 0, y: [] } };
  assert.deepEqual(readAs(shape, { id, amount, count, form }), expected);
  assert.deepEqual(readAs(shape, { id, amount, count, form, list: [], maybe: null }), expected);
});

test("two results do not share what was left out", () => {
  const read = () => readAs(parseShape("{list~:[i]}"), {}) as { list: number[] };
  const [first, second] = [read(), read()];
  first.list.push(1);
  assert.deepEqual(second.list, []);
});

test("anything else is refused, with the name of the field", () => {
  const refused = (change: object, field: string) =>
    assert.throws(
      () => readAs(shape, { ...full, ...change }),
      (error) => error instanceof BadShape && error.message.includes(field),
    );
  refused({ id: 5 }, "result.id");
  refused({ id: undefined }, "result.id");
  refused({ amount: "5" }, "result.amount");
  refused({ amount: 0.5 }, "result.amount");
  refused({ count: 2n ** 60n }, "result.count");
  refused({ list: {} }, "result.list");
  refused({ list: [{ n: null }] }, "result.list[0].n");
  refused({ maybe: 1 }, "result.maybe");
  refused({ form: true }, "result.form");
  assert.throws(() => readAs(shape, []), BadShape);
});

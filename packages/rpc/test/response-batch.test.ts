import assert from "node:assert/strict";
import { test } from "node:test";
import { ResponseBatch } from "../src/server/http/response-batch.ts";

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("responses of one turn are sent together at its end, in order", async () => {
  const sent: number[] = [];
  const batch = new ResponseBatch(() => 0);
  for (const response of [1, 2, 3]) batch.add(() => sent.push(response));
  assert.deepEqual([...sent], []);
  await turn();
  assert.deepEqual([...sent], [1, 2, 3]);
});

test("none waits for longer than the next one and a millisecond", async () => {
  const sent: number[] = [];
  let now = 10;
  const batch = new ResponseBatch(() => now);
  batch.add(() => sent.push(1));
  now = 11;
  batch.add(() => sent.push(2));
  assert.deepEqual([...sent], []);
  now = 11.1;
  batch.add(() => sent.push(3));
  assert.deepEqual([...sent], [1, 2, 3]);
  batch.add(() => sent.push(4));
  assert.deepEqual([...sent], [1, 2, 3], "a batch of its own");
  await turn();
  assert.deepEqual([...sent], [1, 2, 3, 4]);
});

test("one that can't be sent keeps back no other", async () => {
  const sent: number[] = [];
  const batch = new ResponseBatch(() => 0);
  batch.add(() => sent.push(1));
  batch.add(() => {
    throw new Error("bug");
  });
  batch.add(() => sent.push(2));
  assert.throws(() => batch.sendAll(), /bug/);
  assert.deepEqual([...sent], [1]);
  await turn();
  assert.deepEqual([...sent], [1, 2]);
});

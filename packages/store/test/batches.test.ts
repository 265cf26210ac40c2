/** Requests that come while a batch is under way share the next one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Batches } from "../src/postgres/batches.ts";

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test("one batch is under way at a time, and the next has those who came meanwhile, up to its most", async () => {
  const runs: number[][] = [];
  let underWay = 0;
  const batches = new Batches<number, number>(3, async (requests) => {
    assert.equal(underWay++, 0);
    runs.push([...requests]);
    await nextTurn();
    underWay--;
    return requests.map((request) => 2 * request);
  });
  const first = batches.submit(0);
  await new Promise((resolve) => process.nextTick(resolve));
  const others = [1, 2, 3, 4].map((request) => batches.submit(request));
  assert.deepEqual(await Promise.all([first, ...others]), [0, 2, 4, 6, 8]);
  assert.deepEqual(runs, [[0], [1, 2, 3], [4]]);
  assert.equal(await batches.submit(9), 18);
});

test("a batch that fails fails those in it, and no others", async () => {
  const batches = new Batches<string, string>(2, async (requests) => {
    await nextTurn();
    if (requests.includes("bad")) throw new Error("away");
    return requests;
  });
  const results = await Promise.allSettled(["a", "bad", "b"].map((request) => batches.submit(request)));
  assert.deepEqual(
    results.map((result) => (result.status === "fulfilled" ? result.value : String(result.reason))),
    ["Error: away", "Error: away", "b"],
  );
});

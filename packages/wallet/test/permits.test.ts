/** Which task is next when a permit is free. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Permits } from "../src/turns.ts";

test("tasks that are needed by now are first, each kind in the order in which it came", async () => {
  const permits = new Permits(1);
  const order: string[] = [];
  const needed = new Set<string>();
  let release: () => void = () => undefined;
  const held = permits.run(() => new Promise<void>((resolve) => (release = resolve)));
  const run = (name: string) =>
    permits.run(
      async () => void order.push(name),
      () => needed.has(name),
    );
  const tasks = ["a", "b", "c", "d"].map(run);
  tasks.push(permits.run(async () => void order.push("call")));
  needed.add("c");
  release();
  await Promise.all([held, ...tasks]);
  assert.deepEqual(order, ["c", "call", "a", "b", "d"]);
});

test("no more tasks than permits run at once, and one that fails gives its permit back", async () => {
  const permits = new Permits(2);
  let [running, most] = [0, 0];
  const results = await Promise.allSettled(
    Array.from({ length: 9 }, (_, i) =>
      permits.run(async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        if (i % 2 === 0) throw new Error("no");
      }),
    ),
  );
  assert.equal(most, 2);
  assert.equal(results.filter(({ status }) => status === "rejected").length, 5);
});

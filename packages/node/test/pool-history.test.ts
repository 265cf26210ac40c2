import assert from "node:assert/strict";
import { test } from "node:test";
import { createPoolHistory } from "../src/pool/pool-history.ts";

function history(present: readonly string[] = []) {
  const clock = { time: 1000 };
  const made = createPoolHistory(present, () => clock.time);
  const idOf = (key: string) => Buffer.from(key);
  return {
    clock,
    add: made.recordAdded,
    remove: (key: string, isHidden = false) => made.recordRemoved(key, { id: idOf(key), isHidden }),
    since(moment: number) {
      const news = made.since(BigInt(moment));
      return news && [news.added.join(), news.removed.map(({ id }) => String(id)).join()];
    },
  };
}

test("news go back to when both something had come and something had left", () => {
  const { clock, add, remove, since } = history();
  assert.equal(since(2000), undefined);
  add("a");
  assert.equal(since(2000), undefined);
  clock.time = 1010;
  remove("a");
  assert.equal(since(1010), undefined, "of that second not everything is known");
  assert.deepEqual(since(1011), ["", ""]);
  clock.time = 1011;
  add("b");
  assert.deepEqual(since(1011), ["b", ""], "its second is included");
  assert.deepEqual(since(1012), ["", ""]);
  const loaded = history(["x"]);
  loaded.remove("x");
  assert.deepEqual(loaded.since(1001), ["", ""]);
  assert.equal(loaded.since(1000), undefined);
});

test("what came again is told once, and what left is not told as having come", () => {
  const { clock, add, remove, since } = history(["old"]);
  remove("old");
  clock.time = 1001;
  for (const key of ["a", "b", "c", "a"]) add(key);
  remove("b");
  assert.deepEqual(since(1001), ["c,a", "b"]);
  clock.time = 1002;
  add("b");
  assert.deepEqual(since(1001), ["c,a,b", "b"], "gone first, then there again");
  assert.deepEqual(since(1002), ["b", ""]);
});

test("a clock that is set back loses no news", () => {
  const { clock, add, remove, since } = history(["old"]);
  remove("old");
  clock.time = 1005;
  add("a");
  clock.time = 900;
  add("b");
  assert.deepEqual(since(1005), ["a,b", ""]);
});

test("departures are remembered for half an hour, and 20,000 of them", () => {
  const { clock, add, remove, since } = history(["old"]);
  remove("old");
  clock.time = 1001;
  add("a");
  remove("a");
  clock.time = 1000 + 1800;
  remove("b");
  assert.deepEqual(since(1001), ["", "a,b"]);
  clock.time = 1002 + 1800;
  remove("c");
  assert.equal(since(1002), undefined);
  assert.deepEqual(since(1003), ["", "b,c"]);
  for (let i = 0; i < 60_000; i++) {
    if (i % 5000 === 0) clock.time++;
    remove(`${i}`);
  }
  assert.equal(since(2804), undefined);
  const left = since(clock.time - 1)![1]!.split(",");
  assert.equal(left.at(-1), "59999");
  assert.ok(left.length >= 10_000 && left.length <= 20_000);
});

test("beyond 20,000 departures the oldest quarter is forgotten, and one more", () => {
  const { clock, remove, since } = history(["old"]);
  const removeMany = (count: number) => {
    clock.time++;
    for (let i = 0; i < count; i++) remove(`${clock.time} ${i}`);
  };
  for (const count of [5001, 1, 14_998]) removeMany(count);
  assert.equal(since(1002)?.[1]?.split(",").length, 14_999, "20,000 are remembered");
  removeMany(1);
  assert.equal(since(1002), undefined);
  assert.equal(since(1003)?.[1]?.split(",").length, 14_999);
});

test("a time before 1970 is before everything that is known", () => {
  const { clock, add, remove, since } = history(["old"]);
  remove("old");
  clock.time = 1001;
  add("a");
  assert.equal(since(-1), undefined);
  assert.equal(since(0), undefined);
});

test("transactions that come and go leave nothing behind", () => {
  const { clock, add, remove, since } = history(["old"]);
  remove("old");
  for (let i = 0; i < 10_000; i++) {
    if (i % 1000 === 0) clock.time++;
    add(`${i % 7}`);
  }
  assert.deepEqual(since(clock.time), ["4,5,6,0,1,2,3", ""]);
});

test("what is kept of additions is twice what is there and a thousand more at most, and seldom looked through", (t) => {
  const { clock, add, remove, since } = history(["old"]);
  remove("old");
  clock.time = 1001;
  const get = t.mock.method(Map.prototype, "get");
  const looksOf = (run: () => void) => {
    const before = get.mock.callCount();
    run();
    return get.mock.callCount() - before;
  };
  // "old" came in the second before, and is kept, too.
  const most = 2 * 7 + 1000;
  for (let i = 0; i < most - 1; i++)
    assert.equal(
      looksOf(() => add(`${i % 7}`)),
      0,
    );
  assert.equal(
    looksOf(() => since(1001)),
    most - 1,
  );
  assert.equal(
    looksOf(() => add("0")),
    most + 1,
  );
  assert.equal(
    looksOf(() => since(1001)),
    7,
  );
});

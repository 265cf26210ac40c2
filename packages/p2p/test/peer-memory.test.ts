import assert from "node:assert/strict";
import { test } from "node:test";
import { type MemoryHolder, PeerMemory, SharedMemory } from "../src/connection/peer-memory.ts";

function holders(capacity: number, directions: readonly ("in" | "out")[], keptForSmall = 0) {
  const open: MemoryHolder[] = [];
  const shared = new SharedMemory(() => open, { capacity, keptForSmall });
  const all = directions.map((direction) => {
    const memory = new PeerMemory(shared);
    const frames = memory.reserve(0)!;
    const holder = {
      direction,
      memory,
      frames,
      isOpen: true,
      drop: () => {
        holder.isOpen = false;
        open.splice(open.indexOf(holder), 1);
        frames.release();
      },
    };
    open.push(holder);
    return holder;
  });
  return { shared, all };
}

const MiB = 1024 * 1024;

// Closes: strangers who together hold more memory than one of them may.
test("whatever peers make us hold counts in one budget; the largest incoming one goes first", () => {
  const { shared, all } = holders(10 * MiB, ["out", "in", "in", "in"]);
  const [out, small, large, last] = all as [
    (typeof all)[0],
    (typeof all)[0],
    (typeof all)[0],
    (typeof all)[0],
  ];
  assert.ok(out.frames.resize(5 * MiB) && small.frames.resize(2 * MiB) && large.frames.resize(3 * MiB));
  const reservation = last.memory.reserve(MiB);
  assert.equal(reservation?.bytes, MiB);
  assert.deepEqual(
    all.map(({ isOpen }) => isOpen),
    [true, true, false, true],
  );
  assert.equal(shared.budget.used, 8 * MiB);
  reservation.release();
  assert.equal(shared.budget.used, 7 * MiB);
});

test("a connection closed to make room for itself gets none, and loses none", () => {
  const { shared, all } = holders(10 * MiB, ["in", "out"]);
  const [largest, other] = all;
  const drop = largest!.drop;
  largest!.drop = () => {
    largest!.memory.close();
    drop();
  };
  assert.ok(largest!.frames.resize(6 * MiB) && other!.frames.resize(3 * MiB));
  assert.equal(largest!.frames.resize(9 * MiB), false);
  assert.equal(largest!.isOpen, false);
  assert.equal(shared.budget.used, 3 * MiB);
});

test("where only who asks holds anything, it is refused and keeps what it has", () => {
  const { shared, all } = holders(1024 * MiB, ["in"]);
  const [only] = all;
  assert.ok(only!.frames.resize(100 * MiB));
  assert.equal(only!.memory.reserve(20 * MiB), undefined);
  assert.equal(only!.isOpen, true);
  assert.equal(shared.budget.used, 100 * MiB);
});

// Closes: strangers whose messages are still being handled when they are dropped, at an honest peer's expense.
test("who holds little gets memory while what dropped connections held is still being released", () => {
  const { shared, all } = holders(10 * MiB, ["in", "in", "in"], 2 * MiB);
  const [greedy, other, honest] = all;
  const handled = greedy!.memory.reserve(8 * MiB)!;
  assert.equal(
    other!.memory.reserve(2 * MiB),
    undefined,
    "large ones get nothing of what is kept for small ones",
  );
  assert.equal(greedy!.isOpen, false, "the largest was dropped, and holds what is being handled");
  assert.equal(shared.budget.used, 8 * MiB);
  assert.equal(honest!.memory.reserve(MiB / 2)?.bytes, MiB / 2);
  assert.deepEqual([other!.isOpen, honest!.isOpen], [true, true]);
  handled.release();
  assert.equal(other!.memory.reserve(2 * MiB)?.bytes, 2 * MiB);
});

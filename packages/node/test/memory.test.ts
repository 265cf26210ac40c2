import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMemo } from "../src/pool/once.ts";
import { createChainMemory, createEpochs, createMemory } from "../src/rpc/memory.ts";

describe("memory of answers", () => {
  it("forgets the oldest when it is full", () => {
    const memory = createMemory<number, string>({ capacity: 10, cost: (value) => value.length });
    memory.set(1, "aaaa");
    memory.set(2, "bbbb");
    memory.set(1, "aaaaaa");
    assert.equal(memory.get(2), "bbbb");
    memory.set(3, "cc");
    assert.equal(memory.get(2), undefined);
    assert.equal(memory.get(1), "aaaaaa");
    memory.set(4, "x".repeat(11));
    assert.deepEqual(
      [1, 3, 4].map((key) => memory.get(key)),
      [undefined, undefined, undefined],
    );
  });

  it("is empty once blocks were taken off, also for who began before", () => {
    let ids = [1, 2, 3];
    let view = { height: 3, topId: Uint8Array.of(3) };
    const parts = {
      state: { view: () => view },
      store: { read: { blockInfo: (at: number) => ids[at] && { hash: Uint8Array.of(ids[at]) } } },
    };
    const become = (now: number[]) => {
      ids = now;
      view = { height: now.length, topId: Uint8Array.of(now.at(-1)!) };
    };
    const memory = createChainMemory<number, string>(createEpochs(parts as never), { capacity: 10 });
    const begun = memory.now();
    begun.set(1, "two");
    become([1, 2, 3, 4]);
    assert.equal(memory.now().get(1), "two");
    assert.equal(begun.get(1), "two");
    become([1, 2, 5, 6, 7]);
    assert.equal(begun.get(1), undefined);
    begun.set(2, "three");
    assert.equal(memory.now().get(2), undefined);
    assert.equal(memory.now().get(1), undefined);
  });

  it("computes once for the same facts", () => {
    let computed = 0;
    const once = createMemo<number>();
    const ask = (...facts: unknown[]) => once(facts, () => ++computed);
    assert.deepEqual([ask(1, "a"), ask(1, "a"), ask(1, "b"), ask(1, "b"), ask(1, "a")], [1, 1, 2, 2, 3]);
  });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createBlockQueue,
  overviewOf,
  queuedBytes,
  type Span,
  sizeOf,
  speedOf,
} from "../src/peers/block-queue.ts";
import type { PeerLink } from "../src/peers/link.ts";

const [one, two, three] = ["one", "two", "three"].map((name) => ({ name }) as unknown as PeerLink) as [
  PeerLink,
  PeerLink,
  PeerLink,
];
const blocksOf = (start: number, count: number, weight = 100) =>
  Array.from({ length: count }, (_, i) => ({ height: start + i, key: `${start + i}`, weight })) as never;

test("spans stand in order of height, whenever they were requested", () => {
  const queue = createBlockQueue();
  for (const start of [30, 10, 20, 40]) queue.reserve(one, blocksOf(start, 5), 7);
  assert.deepEqual(
    queue.spans.map(({ start, askedAt, isStaged, fetched, rate }) => [
      start,
      askedAt,
      isStaged,
      fetched,
      rate,
    ]),
    [10, 20, 30, 40].map((start) => [start, 7, false, undefined, 0]),
  );
  assert.equal(queue.bytes, 4 * 5 * (100 + 4096));
  assert.equal(queuedBytes(1), 4097);
  assert.equal(sizeOf({ blob: new Uint8Array(5), txs: [new Uint8Array(2), new Uint8Array(3)] } as never), 10);
  assert.equal(queue.find(["20", "21", "22", "23", "24"])?.start, 20);
  // Closes: a late answer filled, with other blocks than its own, a span that was requested of somebody else since.
  assert.equal(queue.find(["20", "21"]), undefined, "of another length");
  assert.equal(queue.find(["20", "21", "22", "23", "x"]), undefined, "with another block");
  assert.equal(queue.find(["21"]), undefined, "in the middle of one");
  assert.equal(queue.has("24"), true);
  assert.equal(queue.has("25"), false);
});

test("a span that is removed leaves a gap, which is found from below", () => {
  const queue = createBlockQueue();
  for (const start of [10, 15, 20, 30]) queue.reserve(one, blocksOf(start, 5), 0);
  assert.deepEqual(
    [9, 10, 12, 24, 25, 30, 35].map((height) => queue.gapFrom(height)),
    [9, 25, 25, 25, 25, 35, 35],
  );
  const span = queue.find(["15", "16", "17", "18", "19"])!;
  queue.remove(span);
  queue.remove(span);
  assert.equal(queue.spans.length, 3);
  assert.equal(queue.has("15"), false);
  assert.equal(queue.has("20"), true);
  assert.equal(queue.gapFrom(10), 15);
});

test("what a peer that left was asked is forgotten, what it sent stays where it is of use", () => {
  const make = () => {
    const queue = createBlockQueue();
    const spans = [10, 20, 30, 40].map((start) =>
      queue.reserve(start === 40 ? two : one, blocksOf(start, 5), 0),
    );
    spans[0]!.isStaged = true;
    spans[0]!.fetched = [];
    spans[1]!.fetched = [];
    return { queue, spans };
  };
  const startsOf = ({ spans }: { spans: readonly Span[] }) => spans.map(({ start }) => start);
  const everything = make();
  everything.queue.forget(one, { all: true });
  assert.deepEqual(startsOf(everything.queue), [10, 40]);
  for (const [gap, left] of [
    [19, [10, 40]],
    [20, [10, 20, 40]],
    [99, [10, 20, 40]],
  ] as const) {
    const { queue } = make();
    queue.forget(one, { gap });
    assert.deepEqual(startsOf(queue), left, `gap ${gap}`);
  }
  const { queue, spans } = make();
  assert.deepEqual(startsOf({ spans: queue.arrived() }), [20]);
  spans[3]!.fetched = [];
  assert.deepEqual(startsOf({ spans: queue.arrived() }), [20, 40]);
  for (const span of spans) span.isStaged = true;
  assert.deepEqual(queue.arrived(), []);
});

test("the queue as a line shows what is requested, fetched, next, missing and twice there", () => {
  const queue = createBlockQueue();
  const spans = [10, 15, 30, 32, 60].map((start) => queue.reserve(one, blocksOf(start, 5), 0));
  assert.equal(overviewOf(queue, 10), "[..__.<_____.]");
  spans[0]!.fetched = [];
  spans[1]!.fetched = [];
  assert.equal(overviewOf(queue, 10), "[mo__.<_____.]");
  assert.equal(overviewOf(queue, 8), "[_oo__.<_____.]");
  assert.equal(overviewOf(createBlockQueue(), 5), "[]");
});

test("a peer's speed is in percent of the fastest, each later span counting as much as all before", () => {
  const queue = createBlockQueue();
  const rates: [PeerLink, number, boolean][] = [
    [one, 100, true],
    [one, 300, true],
    [two, 50, true],
    [three, 900, false],
  ];
  for (const [i, [link, rate, isFetched]] of rates.entries()) {
    const span = queue.reserve(link, blocksOf(10 * i, 5), 0);
    span.rate = rate;
    if (isFetched) span.fetched = [];
  }
  assert.deepEqual(
    [one, two, three].map((link) => speedOf(queue, link)),
    [100, 25, 100],
  );
  assert.equal(speedOf(createBlockQueue(), one), 100);
});

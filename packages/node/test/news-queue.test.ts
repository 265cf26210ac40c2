import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createNewsQueue, type NewsItem, newsLimits } from "../src/news/news-queue.ts";

/** A publisher that remembers what it was given. */
function createPublisher({ wanted = ["a", "b"], unread = 0 } = {}) {
  const sent: string[] = [];
  const dropped: string[] = [];
  const publisher = {
    unread,
    isWanted: (topic: string) => wanted.includes(topic),
    publish: (topic: string, text: string) => void sent.push(`${topic} ${text}`),
    dropAll: (reason: string) => void dropped.push(reason),
  };
  const bugs: unknown[] = [];
  const queue = createNewsQueue(publisher as never, (error) => void bugs.push(error));
  return { queue, publisher, sent, dropped, bugs, wanted };
}

/** An item that is written in some steps. */
function item(topic: string, text: string, { bytes = 100, steps = 2 } = {}): NewsItem {
  return {
    topic,
    bytes,
    *write() {
      for (let i = 0; i < steps; i++) yield;
      return text;
    },
  };
}

/** More turns than short items need where each of their steps is one, as on a busy machine. */
async function settle(): Promise<void> {
  for (let i = 0; i < 500; i++) await setImmediate();
}

test("news that somebody wants is published in order, other news is not even made", async () => {
  const { queue, sent, bugs } = createPublisher();
  const unwanted: NewsItem = { ...item("c", "none"), write: () => assert.fail("made for nobody") };
  queue.push([item("a", "1"), unwanted, item("b", "2", { steps: 0 })]);
  queue.push([item("a", "3")]);
  await settle();
  assert.deepEqual(sent, ["a 1", "b 2", "a 3"]);
  queue.push([item("b", "4")]);
  await settle();
  assert.deepEqual(sent.at(-1), "b 4");
  assert.deepEqual(bugs, []);
});

test("what nobody wants any more is not made, and what cannot be made is reported, without ending the rest", async () => {
  const { queue, sent, bugs, wanted } = createPublisher();
  const failing: NewsItem = {
    ...item("a", ""),
    // biome-ignore lint/correctness/useYield: it fails before
    *write() {
      throw new Error("a bug");
    },
  };
  const leaving: NewsItem = {
    ...item("a", ""),
    *write() {
      wanted.splice(wanted.indexOf("b"), 1);
      yield;
      return "last";
    },
  };
  queue.push([failing, leaving, item("b", "late"), item("a", "after")]);
  await settle();
  assert.deepEqual(sent, ["a last", "a after"]);
  assert.deepEqual(bugs.map(String), ["Error: a bug"]);
});

test("of more than 32 MiB that wait, all are dropped, and counted anew", async () => {
  assert.equal(newsLimits.waitingBytes, 33_554_432);
  const { queue, sent, dropped } = createPublisher();
  const half = newsLimits.waitingBytes / 2;
  // The first is being written when the second comes.
  queue.push([item("a", "1", { bytes: half }), item("a", "2", { bytes: half })]);
  assert.deepEqual(dropped, []);
  await settle();
  assert.deepEqual(sent, ["a 1", "a 2"]);
  queue.push([
    item("a", "3", { bytes: half }),
    item("a", "4", { bytes: half }),
    item("a", "5", { bytes: 1 }),
  ]);
  assert.equal(dropped.length, 1);
  await settle();
  assert.equal(sent.length, 2);
  queue.push([item("a", "6", { bytes: 2 * half })]);
  await settle();
  assert.deepEqual([sent.at(-1), dropped.length], ["a 6", 1]);
});

test("subscribers that have much to read get a moment between messages, but no more than that", async () => {
  const { queue, publisher, sent } = createPublisher({ unread: newsLimits.unreadBytes + 1 });
  queue.push([item("a", "1"), item("a", "2")]);
  for (let i = 0; i < 5; i++) await setImmediate();
  assert.deepEqual(sent, ["a 1"]);
  publisher.unread = newsLimits.unreadBytes;
  while (sent.length < 2) await setImmediate();
  assert.deepEqual(sent, ["a 1", "a 2"]);
});

test("a queue that is stopped drops what waits, and is done with what it was writing", async () => {
  const { queue, sent } = createPublisher();
  queue.push([item("a", "1"), item("a", "2")]);
  await queue.stop();
  assert.ok(sent.length <= 1);
  const before = sent.length;
  await settle();
  assert.equal(sent.length, before);
});

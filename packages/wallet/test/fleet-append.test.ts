/** How events of a fleet's wallets travel to the process that has the log: together, in parts, and each with its outcome. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { packJson, unpackJson } from "@anulo/events";
import { AppendQueue } from "../src/fleet/events/append-queue.ts";
import type { LogFailure, SentEntry } from "../src/fleet/events/log-requests.ts";

const KIB = 1024;
/** More than the events of any change here. */
const TURNS = 20;
type Entry = Parameters<AppendQueue["append"]>[0];

/** A change of some wallet with events whose texts have about so many bytes. */
function changeOf(change: number, ...sizes: readonly number[]): Entry {
  const events = sizes.map((size) => ({ type: "made_up", text: "x".repeat(size) }));
  return { source: Uint8Array.of(1, 255), wallet: "w", change, events } as unknown as Entry;
}

/** A queue whose requests are answered one by one by the test. */
function start() {
  const requests: { readonly entries: readonly SentEntry[]; readonly bytes: number }[] = [];
  const answers: {
    readonly resolve: (failures: readonly (LogFailure | null)[]) => void;
    readonly reject: (error: Error) => void;
  }[] = [];
  const queue = new AppendQueue((body) => {
    const { ask, entries } = unpackJson(body) as unknown as { ask: string; entries: readonly SentEntry[] };
    assert.equal(ask, "append");
    requests.push({ entries, bytes: Buffer.byteLength(body) });
    return new Promise((resolve, reject) => answers.push({ resolve, reject }));
  });
  // To make a text takes a turn for each event at the most, on a machine that gives little time.
  const settle = async () => {
    for (let turn = 0; turn < TURNS; turn++) await new Promise(setImmediate);
  };
  return {
    queue,
    requests,
    settle,
    /** Answers the oldest request, and lets the next come. */
    async answer(failures: readonly (LogFailure | null)[] = []) {
      answers.shift()!.resolve(failures);
      await settle();
    },
    async fail(error: Error) {
      answers.shift()!.reject(error);
      await settle();
    },
    underWay: () => answers.length,
  };
}

test("changes that come while a request is under way share the next one, in their order", async () => {
  const { queue, requests, settle, answer, underWay } = start();
  const outcomes = [queue.append(changeOf(1, 5))];
  await settle();
  for (const change of [changeOf(2, 5, 6), changeOf(3)]) {
    outcomes.push(queue.append(change));
    await settle();
  }
  assert.equal(underWay(), 1);
  await answer();
  assert.equal(underWay(), 1);
  const failure: LogFailure = { kind: "value", message: "no such thing" };
  await answer([null, failure]);
  assert.deepEqual(await Promise.all(outcomes), [undefined, undefined, failure]);
  assert.deepEqual(
    requests.map(({ entries }) => entries.map(({ change, events }) => [change, events.length])),
    [
      [[1, 1]],
      [
        [2, 2],
        [3, 0],
      ],
    ],
  );
  const [{ events: _, ...first }] = requests[0]!.entries as [SentEntry];
  assert.deepEqual(first, { source: "01ff", wallet: "w", change: 1, before: 0, isPart: false });
  const last = queue.append(changeOf(4, 1));
  await settle();
  await answer();
  assert.equal(await last, undefined);
});

test("a change with many events is sent in parts, each of which says how many came before it", async () => {
  const { queue, requests, settle, answer } = start();
  const failure: LogFailure = { kind: "refused", message: "not now" };
  const outcome = queue.append(changeOf(1, ...Array(5).fill(64 * KIB)));
  await settle();
  await answer([null, failure, { ...failure, message: "nor now" }]);
  const entries = requests.flatMap((request) => request.entries);
  assert.deepEqual(
    entries.map(({ before, isPart, events }) => [before, isPart, events.length]),
    [
      [0, true, 2],
      [2, true, 2],
      [4, false, 1],
    ],
  );
  for (const entry of entries) assert.deepEqual([entry.source, entry.wallet, entry.change], ["01ff", "w", 1]);
  if (requests.length > 1) await answer();
  assert.deepEqual(await outcome, failure, "the first of its parts that failed says why");
});

test("a request ends with the entry that brings it to 256 KiB", async () => {
  const { queue, requests, settle, answer } = start();
  const first = queue.append(changeOf(0));
  await settle();
  const others: Promise<unknown>[] = [];
  for (let change = 1; change <= 6; change++) {
    others.push(queue.append(changeOf(change, 100 * KIB)));
    await settle();
  }
  for (let i = 0; i < 3; i++) await answer();
  await Promise.all([first, ...others]);
  assert.deepEqual(
    requests.map(({ entries }) => entries.map(({ change }) => change)),
    [[0], [1, 2, 3], [4, 5, 6]],
  );
});

test("a request without an answer fails those in it, and no others", async () => {
  const { queue, settle, answer, fail } = start();
  const lost = queue.append(changeOf(1, 1));
  lost.catch(() => {});
  await settle();
  const next = queue.append(changeOf(2, 1));
  await settle();
  await fail(new Error("nobody there"));
  await assert.rejects(lost, /nobody there/);
  await answer();
  assert.equal(await next, undefined);
});

test("what is one byte below 256 KiB takes one more entry, and 256 KiB are enough", async () => {
  const { queue, requests, settle, answer } = start();
  const empty = Buffer.byteLength(packJson({ ask: "append", entries: [] }));
  const first = queue.append(changeOf(1, 0));
  await settle();
  const overhead = requests[0]!.bytes - empty;
  await answer();
  await first;
  for (const missing of [0, 1]) {
    const under = queue.append(changeOf(1));
    await settle();
    const sizes = [100 * KIB, 156 * KIB - missing, overhead].map((size) => size - overhead);
    const others: Promise<unknown>[] = [];
    for (const [i, size] of sizes.entries()) {
      others.push(queue.append(changeOf(2 + i, size)));
      await settle();
    }
    requests.length = 0;
    await answer();
    if (missing === 0) await answer();
    await answer();
    await Promise.all([under, ...others]);
    const changes = requests.map(({ entries }) => entries.map(({ change }) => change));
    assert.deepEqual(changes, missing === 0 ? [[2, 3], [4]] : [[2, 3, 4]]);
  }
});

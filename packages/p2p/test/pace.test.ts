import assert from "node:assert/strict";
import { test } from "node:test";
import { Pace } from "../src/connection/pace.ts";
import { PeerMemory, SharedMemory } from "../src/connection/peer-memory.ts";
import type { Transport } from "../src/connection/transport.ts";
import { WriteQueue } from "../src/connection/write-queue.ts";
import { FairShare } from "../src/throttle.ts";
import { FakeClock } from "./fakes.ts";

/** A connection's pace by a clock that goes when it is told to; `tick` says nothing special of its state. */
function createPace() {
  let now = 1_700_000_000_000;
  const clock = { seconds: () => Math.floor(now / 1000), milliseconds: () => now, after: () => () => {} };
  const pace = new Pace(clock);
  const idle = { isInsideFrame: false, isIdleOurs: false, waitingOut: 0, writtenBytes: 0 };
  return {
    pace,
    tick: (state: Partial<typeof idle> = {}) => pace.tick({ ...idle, ...state }),
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

test("rates are averages in which what is new counts a fifth, whenever it is measured", () => {
  const { pace, tick, pass } = createPace();
  pace.received(1000);
  pace.queued(500);
  pass(1000);
  tick({ writtenBytes: 400 });
  const rates = () => [pace.traffic.receiveRate, pace.traffic.sendRate];
  assert.deepEqual(rates(), [200, 80]);
  pace.received(1000);
  pass(500);
  tick({ writtenBytes: 400 });
  assert.deepEqual(rates(), [560, 64]);
  tick({ writtenBytes: 1400 });
  assert.deepEqual(rates(), [560, 64], "in no time nothing is measured");
  pass(2000);
  tick({ writtenBytes: 1400 });
  assert.deepEqual(rates(), [448, 151]);
  const { received, sent, lastReceived, lastSent } = pace.traffic;
  assert.deepEqual([received, sent, lastReceived - lastSent], [2000, 500, 1]);
});

test("who says nothing for more than five minutes is too slow, unless it was we who did not listen", () => {
  const { pace, tick, pass } = createPace();
  pass(300_000);
  assert.equal(tick(), undefined);
  pass(1);
  assert.equal(tick(), "says nothing");
  pace.received(1);
  assert.equal(tick(), undefined);
  pass(300_001);
  assert.equal(tick({ isIdleOurs: true }), undefined);
  pass(300_000);
  assert.equal(tick(), undefined);
  pass(1);
  assert.equal(tick(), "says nothing");
});

test("a message may take half a minute, and a second longer for each kibibyte that arrives", () => {
  const { pace, tick, pass } = createPace();
  const inside = { isInsideFrame: true };
  pace.received(100_000);
  assert.equal(tick(inside), undefined);
  pass(30_000);
  assert.equal(tick(inside), undefined, "what came before it is not counted");
  pass(1);
  assert.equal(tick(inside), "sends too slowly");
  pace.received(2048);
  pass(1999);
  assert.equal(tick(inside), undefined);
  pass(1);
  assert.equal(tick(inside), "sends too slowly");
  // The next message has its own time, and so has one after a pause.
  pace.packetsIn++;
  assert.equal(tick(inside), undefined);
  pass(30_001);
  assert.equal(tick(), undefined);
  assert.equal(tick(inside), undefined);
});

test("who reads less than a kibibyte a second for a minute is too slow while something waits for it", () => {
  const { pace, tick, pass } = createPace();
  const minute = (state: { waitingOut: number; writtenBytes: number }) => {
    pace.received(1);
    pass(60_000);
    return tick(state);
  };
  assert.equal(tick({ waitingOut: 1, writtenBytes: 7 }), undefined);
  pass(59_999);
  assert.equal(tick({ waitingOut: 1, writtenBytes: 7 }), undefined);
  pass(1);
  assert.equal(tick({ waitingOut: 1, writtenBytes: 7 + 61_440 }), undefined);
  assert.equal(minute({ waitingOut: 1, writtenBytes: 7 + 2 * 61_440 }), undefined);
  assert.equal(minute({ waitingOut: 1, writtenBytes: 6 + 3 * 61_440 }), "reads too slowly");
  assert.equal(minute({ waitingOut: 0, writtenBytes: 200_000 }), undefined);
  assert.equal(tick({ waitingOut: 1, writtenBytes: 200_000 }), undefined);
});

/** A queue to a peer that takes all until it is full; what it was written. */
function createQueue() {
  const writes: Uint8Array[] = [];
  const state = { isFull: false };
  const transport = {
    write(bytes: Uint8Array) {
      writes.push(bytes);
      return !state.isFull;
    },
  } as unknown as Transport;
  const memory = new PeerMemory(new SharedMemory(() => []));
  const queue = new WriteQueue(transport, new FairShare(new FakeClock(), 1e9), memory);
  return { queue, writes, state, memory };
}

test("a queue counts what it has written and what waits, byte for byte", async () => {
  const { queue, writes, state, memory } = createQueue();
  assert.deepEqual([queue.writtenBytes, queue.waiting], [0, 0]);
  const message = Uint8Array.from({ length: 3 * 64 * 1024 + 1 }, (_, i) => i);
  assert.equal(queue.push(new Uint8Array(0)), true);
  assert.equal(queue.push(message), true);
  assert.deepEqual(Buffer.concat(writes), Buffer.from(message));
  assert.deepEqual([writes.length, queue.writtenBytes, queue.waiting], [4, message.length, 0]);
  state.isFull = true;
  queue.push(message);
  const left = message.length - 64 * 1024;
  assert.deepEqual([queue.writtenBytes, queue.waiting], [message.length + 64 * 1024, left]);
  assert.equal(memory.used, left);
  assert.equal(queue.below(left), undefined);
  let isBelow = false;
  const below = queue.below(left - 1)?.then(() => {
    isBelow = true;
  });
  await new Promise(setImmediate);
  assert.equal(isBelow, false);
  state.isFull = false;
  queue.drained();
  await below;
  assert.deepEqual([queue.writtenBytes, queue.waiting, memory.used], [2 * message.length, 0, 0]);
});

test("of messages that wait there are a thousand at most, and none once the queue is closed", async () => {
  const { queue, state, memory } = createQueue();
  state.isFull = true;
  queue.push(Uint8Array.of(0));
  const results = Array.from({ length: 1001 }, () => queue.push(Uint8Array.of(1)));
  assert.deepEqual([results.filter(Boolean).length, results.at(-1)], [1000, false]);
  const below = queue.below(0);
  queue.close();
  await below;
  assert.deepEqual([queue.push(Uint8Array.of(1)), queue.waiting, memory.used], [false, 0, 0]);
  assert.equal(queue.writtenBytes, 1);
});

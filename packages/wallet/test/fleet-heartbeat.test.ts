import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Heartbeat } from "../src/fleet/heartbeat.ts";

/** A heartbeat whose pauses and beats end when told to. */
function start(beatFails = false) {
  let nowMs = 0;
  const pauses: { ms: number; signal: AbortSignal; end: () => void }[] = [];
  const beats: (() => void)[] = [];
  const failures: unknown[] = [];
  const heartbeat = new Heartbeat({
    intervalMs: 100,
    beat: async () => {
      await new Promise<void>((end) => beats.push(end));
      if (beatFails) throw new Error("no beat");
    },
    onFailure: (error) => failures.push(error),
    elapsed: () => nowMs,
    wait: (ms, signal) =>
      new Promise((end) => {
        pauses.push({ ms, signal, end });
        signal.addEventListener("abort", () => end());
      }),
  });
  heartbeat.start();
  return {
    heartbeat,
    pauses,
    beats,
    failures,
    /** The pause under way passes, and the beat behind it takes so long. */
    async beat(takesMs: number) {
      const { ms, end } = pauses.at(-1)!;
      nowMs += ms;
      end();
      await setImmediate();
      nowMs += takesMs;
      beats.at(-1)!();
      await setImmediate();
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

test("beats come at intervals, however long each takes, and none is made up for later", async () => {
  const { heartbeat, pauses, beats, beat } = start();
  for (const takesMs of [0, 30, 250, 0]) await beat(takesMs);
  assert.deepEqual(
    pauses.map(({ ms }) => ms),
    [100, 100, 70, 0, 100],
  );
  assert.equal(beats.length, 4);
  await heartbeat.stop();
  assert.equal(beats.length, 4, "the pause ends, and no beat follows");
});

test("a beat that is asked for comes at once, also if that is done while another one is under way", async () => {
  const { heartbeat, pauses, beats, beat, pass } = start();
  await beat(0);
  pass(40);
  heartbeat.beatSoon();
  await setImmediate();
  assert.equal(beats.length, 2);
  heartbeat.beatSoon();
  heartbeat.beatSoon();
  assert.equal(beats.length, 2, "one at a time");
  beats[1]!();
  await setImmediate();
  assert.deepEqual([beats.length, pauses.length], [3, 2]);
  beats[2]!();
  await setImmediate();
  assert.deepEqual([beats.length, pauses.length, pauses[2]?.ms], [3, 3, 100]);
  assert.equal(new Set(pauses.map(({ signal }) => signal)).size, 3, "no signal outlives its pause");
  await heartbeat.stop();
});

test("a beat that fails is told, and others follow; who stops waits for the one under way", async () => {
  const { heartbeat, beats, failures, pauses, beat } = start(true);
  await beat(0);
  await beat(0);
  assert.deepEqual([beats.length, failures.length], [2, 2]);
  pauses.at(-1)!.end();
  await setImmediate();
  let isStopped = false;
  const stopping = heartbeat.stop().then(() => {
    isStopped = true;
  });
  await setImmediate();
  assert.equal(isStopped, false);
  beats[2]!();
  await stopping;
  assert.deepEqual([beats.length, failures.length], [3, 3]);
});

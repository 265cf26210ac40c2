/** What the log says while the chain grows. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "@anulo/rpc";
import { createProgress } from "../src/peers/progress.ts";

function start() {
  let milliseconds = 5000;
  const lines: string[] = [];
  const log = createLog({
    write: ({ event, fields }) => lines.push(`${event} ${JSON.stringify(fields)}`),
  });
  const clock = { milliseconds: () => milliseconds, seconds: () => 0, after: () => () => undefined };
  const progress = createProgress(clock, log);
  const pass = (ms: number) => {
    milliseconds += ms;
  };
  return { progress, pass, take: () => lines.splice(0) };
}

test("a line comes every two seconds while blocks are missing, and one when none are", () => {
  const { progress, pass, take } = start();
  progress.advance(1000, 4000);
  pass(1999);
  progress.advance(1500, 4000);
  assert.deepEqual(take(), []);
  pass(1);
  progress.advance(2000, 4000);
  assert.deepEqual(take(), [
    'synchronizing {"height":2000,"target":4000,"percent":50,"blocksPerSecond":500,"secondsLeft":4}',
  ]);
  pass(1999);
  progress.advance(2500, 4000);
  pass(4001);
  progress.advance(4000, 4000);
  assert.deepEqual(take(), []);
  progress.finish(4000);
  assert.deepEqual(take(), ['synchronized {"height":4000,"blocksPerSecond":375}']);
  progress.finish(4000);
  assert.deepEqual(take(), [], "it was said");
});

test("without a block since the last line nobody knows how long it takes, and the last percent is the last block", () => {
  const { progress, pass, take } = start();
  progress.advance(999, 1000);
  pass(2000);
  progress.advance(999, 1000);
  assert.deepEqual(take(), ['synchronizing {"height":999,"target":1000,"percent":99,"blocksPerSecond":0}']);
});

test("of twenty blocks nothing is said, of twenty-one it is", () => {
  for (const [blocks, lines] of [
    [20, 0],
    [21, 1],
  ] as const) {
    const { progress, take } = start();
    progress.advance(100, 200);
    progress.finish(100 + blocks);
    assert.equal(take().length, lines);
  }
});

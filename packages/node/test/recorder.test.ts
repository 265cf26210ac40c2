/** What is recorded of appended blocks until they are announced. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChainView } from "@anulo/consensus";
import { toHex } from "@anulo/protocol";
import type { AppendedBlock } from "../src/chain/parts.ts";
import { createRecorder, type RecorderOptions } from "../src/news/recorder.ts";
import { idOf } from "./numbered-ids.ts";

const recorder = (more: Partial<RecorderOptions> = {}) =>
  createRecorder({
    backlog: {} as never,
    isWanted: () => true,
    isMinerDataWanted: () => false,
    unannounced: () => [],
    ...more,
  });

const appended = (height: number) => {
  const id = idOf(height);
  return { incoming: { block: { height }, id, key: toHex(id) } } as unknown as AppendedBlock;
};

/** The chain after a block of this height. */
const after = (height: number) => ({ height: height + 1 }) as ChainView;

test("a block is recorded with its height for one reader, unless nobody wants blocks", () => {
  const of = (height: number) => appended(height).incoming;
  const news = [{ blob: new Uint8Array(1) }] as never;
  const { observe, take } = recorder({ unannounced: () => news });
  observe(after(7), appended(7));
  const { block, id } = of(7);
  assert.deepEqual(take(idOf(7)), { block, id, height: 7, unannounced: news, minerData: undefined });
  assert.equal(take(idOf(7)), undefined);
  const idle = recorder({ isWanted: () => false, unannounced: () => assert.fail("nobody wants it") });
  idle.observe(after(7), appended(7));
  assert.equal(idle.take(idOf(7)), undefined);
});

test("of more than five thousand the oldest are removed, and one appended again is new", () => {
  const { observe, take } = recorder();
  for (let height = 0; height < 5000; height++) observe(after(height), appended(height));
  observe(after(0), appended(0));
  observe(after(5000), appended(5000));
  observe(after(5001), appended(5001));
  const isRecorded = (height: number) => take(idOf(height)) !== undefined;
  assert.deepEqual([0, 1, 2, 3, 4999, 5000, 5001].map(isRecorded), [
    true,
    false,
    false,
    true,
    true,
    true,
    true,
  ]);
});

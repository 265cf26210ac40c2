/** What is recorded of appended blocks until they are announced. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChainView } from "@anulo/consensus";
import { readIdentifiedTransaction, toHex } from "@anulo/protocol";
import type { AppendedBlock } from "../src/chain/parts.ts";
import type { BacklogTransaction } from "../src/mining/backlog.ts";
import { createRecorder, type RecorderOptions } from "../src/news/recorder.ts";
import type { PoolEntry } from "../src/pool/entry.ts";
import { compareTableOrder } from "../src/pool/table-order.ts";
import { idOf } from "./numbered-ids.ts";
import { recordedChain } from "./recorded-chains.ts";

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

/** The chain after a block, as far as a miner needs it. */
const minersView = (height: number) =>
  ({
    ...after(height),
    hardForkVersion: 16,
    topId: idOf(height),
    alreadyGenerated: 5n,
    fixedDifficulty: 1n,
    longTermWeightMedian: 1,
    recentWeights: () => [100],
    blockId: idOf,
  }) as unknown as ChainView;

const candidates = recordedChain()
  .flatMap(({ transactions }) => transactions)
  .slice(0, 4)
  .map((blob) => readIdentifiedTransaction(blob))
  .sort((a, b) => compareTableOrder(a.id, b.id));

const entryOf = ({ id, weight }: (typeof candidates)[number], isPublic: boolean) =>
  ({
    id,
    key: toHex(id),
    keyImages: [],
    row: { weight, fee: 1n, keptByBlock: false, doNotRelay: false, phase: isPublic ? "fluff" : "stem" },
  }) as unknown as PoolEntry;

test("a miner is offered what waits after a block: no mined transactions, but those that a removed block had", () => {
  const backlog = { choose: (_: ChainView, waiting: readonly BacklogTransaction[]) => waiting };
  const [first, second, third, fourth] = candidates as [
    (typeof candidates)[number],
    (typeof candidates)[number],
    (typeof candidates)[number],
    (typeof candidates)[number],
  ];
  const waitingAfter = (
    entries: readonly PoolEntry[],
    more: Partial<Pick<AppendedBlock, "freed" | "mined">>,
  ) => {
    const { observe, take } = recorder({ backlog: backlog as never, isMinerDataWanted: () => true });
    observe(minersView(7), { ...appended(7), pool: { entries: () => entries }, ...more } as never);
    const { minerData } = take(idOf(7))!;
    assert.deepEqual([minerData?.height, minerData?.previousId], [8, idOf(7)]);
    return minerData!.backlog.map(({ key }) => candidates.findIndex(({ id }) => toHex(id) === key));
  };
  const entries = [entryOf(third, true), entryOf(second, false), entryOf(first, true)];
  assert.deepEqual(waitingAfter(entries, {}), [2, 0], "in the order of the pool");
  const freed = new Map([third, fourth, second].map((each) => [toHex(each.id), each as never]));
  assert.deepEqual(waitingAfter(entries, { freed }), [0, 1, 2, 3]);
  const mined = new Set([toHex(first.id), toHex(fourth.id)]);
  assert.deepEqual(waitingAfter(entries, { freed, mined }), [1, 2]);
});

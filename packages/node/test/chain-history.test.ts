/** Which blocks of its chain a node names to peers, at every boundary, with a made-up chain. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pruningSeed } from "@anulo/protocol";
import { chainAnswer, commonHeightSteps, shortHistory } from "../src/peers/chain-history.ts";
import { BLOCK_IDS_SENT, type PayloadOf } from "../src/peers/messages.ts";
import { heightOfId, idOf } from "./numbered-ids.ts";

const STRIPE = 4096;
const TIP = 5500;

/** A reader of a chain of so many blocks, which may change; `named` are the heights looked up. */
function chainOf(length: number) {
  const chain = { length, named: [] as number[] };
  const columns = {
    hash: idOf,
    weight: (height: number) => 2 * height,
  };
  const reader = {
    height: () => chain.length,
    heightOf(id: Uint8Array) {
      const height = heightOfId(id);
      chain.named.push(height);
      return height < chain.length ? height : undefined;
    },
    blockInfo: (height: number) => ({ hash: idOf(height), cumulativeDifficulty: 2n ** 64n + BigInt(height) }),
    blockInfoColumn: (name: "hash" | "weight", from: number, to: number) =>
      Array.from({ length: Math.max(0, Math.min(to, chain.length) - from) }, (_, i) =>
        columns[name](from + i),
      ),
    blockBlob: (height: number) => Uint8Array.of(height % 256),
  };
  return { chain, read: reader as never };
}

interface Question {
  /** Heights of the blocks it names before genesis. */
  readonly known: readonly number[];
  readonly prune?: boolean;
  readonly seed?: number;
}

function answerOf(read: never, { known, prune = false, seed = 0 }: Question, onPause = () => {}) {
  const steps = chainAnswer(read, { block_ids: [...known, 0].map(idOf), prune }, seed);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    onPause();
  }
}

const rangeOf = (answer: PayloadOf<"chain"> | undefined) =>
  answer && [answer.start_height, answer.start_height + answer.m_block_ids.length];

test("ten blocks are named one by one, then at doubling distances, genesis always last", () => {
  const heights = (length: number) => shortHistory(chainOf(length).read).map(heightOfId);
  assert.deepEqual(heights(1), [0]);
  assert.deepEqual(heights(2), [1, 0]);
  assert.deepEqual(heights(12), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  assert.deepEqual(heights(40), [39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 27, 23, 15, 0]);
});

test("the newest block that both have is found, with a pause before each id, and none of another chain", () => {
  const { read } = chainOf(100);
  const found = (...heights: number[]) => {
    const steps = commonHeightSteps(read, heights.map(idOf));
    let pauses = 0;
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return [step.value, pauses];
      pauses++;
    }
  };
  assert.deepEqual(found(150, 120, 99, 50, 0), [99, 3]);
  assert.deepEqual(found(0), [0, 1]);
  assert.deepEqual(found(50, 1), [undefined, 0]);
  assert.deepEqual(found(), [undefined, 0]);
});

test("an answer begins with the newest common block and has so many ids at most, with weights and the next block", () => {
  const { read } = chainOf(BLOCK_IDS_SENT + 6);
  const whole = answerOf(read, { known: [6] })!;
  assert.deepEqual(rangeOf(whole), [6, BLOCK_IDS_SENT + 6]);
  assert.deepEqual([whole.m_block_ids[0], whole.m_block_ids.at(-1)], [idOf(6), idOf(BLOCK_IDS_SENT + 5)]);
  assert.deepEqual(whole.m_block_weights.slice(0, 2), [12, 14]);
  assert.deepEqual(whole.first_block, Uint8Array.of(7));
  assert.equal(whole.total_height, BLOCK_IDS_SENT + 6);
  assert.equal(whole.cumulative_difficulty, BigInt(BLOCK_IDS_SENT + 5));
  assert.equal(whole.cumulative_difficulty_top64, 1n);
  assert.deepEqual(rangeOf(answerOf(read, { known: [5] })), [5, BLOCK_IDS_SENT + 5]);
  const last = answerOf(read, { known: [BLOCK_IDS_SENT + 5] })!;
  assert.deepEqual(
    [rangeOf(last), last.first_block],
    [[BLOCK_IDS_SENT + 5, BLOCK_IDS_SENT + 6], new Uint8Array()],
  );
  const two = answerOf(read, { known: [BLOCK_IDS_SENT + 4] })!;
  assert.equal(two.first_block.length, 1);
});

test("a pruned node names whole blocks up to the first it has pruned, and none from one it has pruned", () => {
  const length = 8 * STRIPE + TIP;
  const { read } = chainOf(length);
  const seed = pruningSeed(2);
  const range = (known: number, prune: boolean) => rangeOf(answerOf(read, { known: [known], prune, seed }));
  assert.equal(range(STRIPE - 1, false), undefined);
  assert.deepEqual(range(STRIPE, false), [STRIPE, 2 * STRIPE]);
  assert.deepEqual(range(2 * STRIPE - 1, false), [2 * STRIPE - 1, 2 * STRIPE]);
  assert.equal(range(2 * STRIPE, false), undefined);
  // The newest blocks are whole everywhere.
  assert.equal(range(length - TIP - 1, false), undefined);
  assert.deepEqual(range(length - TIP, false), [length - TIP, length]);
  // Who takes pruned blocks is named all.
  assert.deepEqual(range(STRIPE - 1, true), [STRIPE - 1, STRIPE - 1 + BLOCK_IDS_SENT]);
});

test("an answer is read in turns of 500 blocks, and again where what was read has left the chain", () => {
  const { chain, read } = chainOf(1201);
  let pauses = 0;
  const count = () => void pauses++;
  answerOf(read, { known: [201] }, count);
  assert.equal(pauses, 2, "1,000 blocks");
  pauses = 0;
  answerOf(read, { known: [200] }, count);
  assert.equal(pauses, 3, "1,001 blocks");

  pauses = 0;
  const shorter = answerOf(read, { known: [200] }, () => {
    if (++pauses === 2) chain.length = 900;
  })!;
  assert.equal(pauses, 4, "two turns, and two again");
  assert.deepEqual([rangeOf(shorter), shorter.total_height], [[200, 900], 900]);

  pauses = 0;
  const longer = answerOf(read, { known: [200] }, () => {
    if (++pauses === 1) chain.length = 1000;
  })!;
  assert.equal(pauses, 2);
  assert.deepEqual([rangeOf(longer), longer.total_height], [[200, 900], 1000]);
});

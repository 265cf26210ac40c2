/** What a node learns of an output by what it is asked for: the real one must not be all that its questions share. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { createRuntime } from "../src/runtime.ts";
import { createRings, type NodeOutput, type OutputSource, type RingMemory } from "../src/transfer/rings.ts";
import { RING_SIZE } from "../src/transfer/stages.ts";
import { createChain, receive, seededRandom } from "./transfer-fixture.ts";

const { threads } = createRuntime();
const random = seededRandom("asked outputs");
const REAL = 4000;
const owned = receive(createKeys(random), { amount: 5n, globalIndex: REAL, height: 200 }, random);
const visible = { ...owned, rct: false, mask: Uint8Array.of(1, ...new Uint8Array(31)) };
const chain = createChain(1000, 20, [owned]);
/** A chain of which nine tenths of the outputs are in its youngest blocks, so that every ring looks odd. */
const oddCounts: OutputSource["hiddenCounts"] = async () => {
  const { startHeight, cumulative } = await chain.hiddenCounts();
  return { startHeight, cumulative: cumulative.with(-1, 10 * cumulative.at(-1)!) };
};

/** A chain of which almost no output is old enough to be spent, at every other question. */
function shrinking(): OutputSource["hiddenCounts"] {
  let questions = 0;
  return async () => {
    const { startHeight, cumulative } = await chain.hiddenCounts();
    const most = ++questions % 2 === 0 ? REAL + 20 : Number.POSITIVE_INFINITY;
    return { startHeight, cumulative: cumulative.map((count) => Math.min(count, most)) };
  };
}

function createMemory(): RingMemory & { readonly rings: Map<string, readonly number[]> } {
  const rings = new Map<string, readonly number[]>();
  return {
    rings,
    ringOf: (key) => rings.get(key),
    remember: async (shown) => {
      for (const [key, indices] of shown) rings.set(key, indices);
    },
  };
}

type Answers = (
  names: Parameters<OutputSource["outputs"]>[0],
  question: number,
) => Promise<readonly NodeOutput[]>;

/** A node that notes what it is asked for. */
function createSpy(answers: Answers, others: Partial<OutputSource> = {}) {
  const questions: number[][] = [];
  const outputs: OutputSource["outputs"] = (names) => {
    questions.push(names.map(({ globalIndex }) => globalIndex));
    return answers(names, questions.length - 1);
  };
  return { questions, source: { ...chain, isTrusted: false, ...others, outputs } };
}

const shared = (lists: readonly (readonly number[])[]): number[] =>
  lists[0]!.filter((index) => lists.every((list) => list.includes(index)));

const pay = (source: OutputSource, memory: RingMemory, output = owned) =>
  createRings({ inputs: [output], source, memory, random, threads });

const fails: Answers = async () => {
  throw new WalletRefusal("DAEMON_IS_BUSY", "daemon is busy. Please try again later.");
};
const locksDecoys: Answers = async (names) =>
  (await chain.outputs(names)).map((answer, i) => ({ ...answer, unlocked: names[i]!.globalIndex === REAL }));

for (const [what, answers, others, output] of [
  ["answers nothing", fails, {}, owned],
  ["answers nothing of a visible amount", fails, {}, visible],
  ["calls all decoys locked", locksDecoys, {}, owned],
  ["takes back most of its outputs, and answers nothing", fails, { hiddenCounts: shrinking() }, owned],
  [
    "has outputs in its youngest blocks that make any ring odd",
    chain.outputs,
    { hiddenCounts: oddCounts },
    owned,
  ],
] as const)
  test(`a node that ${what} is not told by repeated questions which output is real`, async () => {
    const memory = createMemory();
    const { questions, source } = createSpy(answers, others);
    for (let call = 0; call < 5; call++) await assert.rejects(pay(source, memory, output), WalletRefusal);
    assert.ok(questions.length >= 5);
    assert.ok(shared(questions).length >= RING_SIZE, `they share ${shared(questions)}`);
    assert.ok(questions.every((names) => names.length <= 1000));
  });

test("a node that answers at last gets a ring that what it was asked before does not tell apart", async () => {
  const memory = createMemory();
  const { questions, source } = createSpy((names, question) =>
    question < 2 ? fails(names, question) : chain.outputs(names),
  );
  for (let call = 0; call < 2; call++) await assert.rejects(pay(source, memory));
  const [ring] = await pay(source, memory);
  assert.equal(questions.length, 3);
  const members = ring!.members.map(({ globalIndex }) => globalIndex);
  assert.deepEqual(shared([members, ...questions]), members);
});

test("a stranger's node does not bring about a second ring of an output", async () => {
  const locksOnce: Answers = async (names) =>
    (await chain.outputs(names)).map((answer, i) => ({
      ...answer,
      unlocked: !first.includes(names[i]!.globalIndex) || names[i]!.globalIndex === REAL,
    }));
  const memory = createMemory();
  const [ring] = await pay({ ...chain, isTrusted: false }, memory);
  const first = ring!.members.map(({ globalIndex }) => globalIndex);
  for (const [answers, others] of [
    [locksOnce, {}],
    [chain.outputs, { hiddenCounts: oddCounts }],
  ] as const) {
    const { questions, source } = createSpy(answers, others);
    await assert.rejects(pay(source, memory), WalletRefusal);
    assert.deepEqual([...memory.rings.values()], [first]);
    assert.deepEqual(shared([first, ...questions]), first);
  }
  const [again] = await pay({ ...chain, isTrusted: false }, memory);
  assert.deepEqual(again, ring);
});

test("an owner's node that can't have an earlier ring gets another", async () => {
  const memory = createMemory();
  const [ring] = await pay({ ...chain, isTrusted: true }, memory);
  const first = ring!.members.map(({ globalIndex }) => globalIndex);
  const lost = first.find((index) => index !== REAL)!;
  const outputs: OutputSource["outputs"] = async (names) =>
    (await chain.outputs(names)).map((answer, i) => ({
      ...answer,
      unlocked: names[i]!.globalIndex !== lost,
    }));
  const [second] = await pay({ ...chain, isTrusted: true, outputs }, memory);
  const members = second!.members.map(({ globalIndex }) => globalIndex);
  assert.equal(members.length, RING_SIZE);
  assert.ok(!members.includes(lost) && members.includes(REAL));
});

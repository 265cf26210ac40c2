import assert from "node:assert/strict";
import { test } from "node:test";
import { RemoteError } from "@anulo/rpc";
import { checked, type Daemon, reached, toldByNode } from "../src/daemon.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { createRuntime } from "../src/runtime.ts";
import { type CountingNode, feeRateOf, outputSourceOf, relayOf } from "../src/transfer/node.ts";
import { agreesWith, KeptOutputCounts } from "../src/transfer/output-counts.ts";
import { createRings, type OutputSource, type RingMemory } from "../src/transfer/rings.ts";
import { createChain, receive, seededRandom } from "./transfer-fixture.ts";

const runtime = createRuntime();

type Distribution = { start_height: number; base: number; distribution: number[] };

/** A node that reports `counts` outputs for each of its blocks, or lies by `lie`. */
function nodeWith(counts: () => readonly number[], lie = (honest: Distribution): Distribution => honest) {
  const asked: number[] = [];
  const client = {
    getOutputDistributionBin: async ({ from_height = 0 }) => {
      asked.push(from_height);
      const all = counts();
      if (from_height >= all.length)
        return { status: "Failed to get output distribution", distributions: [] };
      const base = all.slice(0, from_height).reduce((sum, count) => sum + count, 0);
      const honest = { start_height: from_height, base, distribution: all.slice(from_height) };
      return { status: "OK", distributions: [{ amount: 0n, ...lie(honest) }] };
    },
  };
  const daemon = { client } as unknown as Daemon;
  return { asked, node: { daemon, outputCounts: new KeptOutputCounts(), clock: runtime.clock } };
}

const countsOf = (node: CountingNode, height: number) => outputSourceOf(node, height).hiddenCounts();
const totals = (counts: readonly number[]) => {
  let total = 0;
  return counts.map((count) => {
    total += count;
    return total;
  });
};

test("numbers of outputs are asked for once, then only those of the newest blocks", async () => {
  const chain = Array.from({ length: 500 }, (_, i) => i % 7);
  const { node, asked } = nodeWith(() => chain);
  assert.deepEqual((await countsOf(node, 500)).cumulative, totals(chain));
  chain.push(3, 4, 5);
  assert.deepEqual((await countsOf(node, 503)).cumulative, totals(chain));
  assert.deepEqual((await countsOf(node, 503)).cumulative, totals(chain));
  assert.deepEqual(asked, [0, 400, 403]);
});

test("numbers of outputs follow a reorganisation, however deep", async () => {
  let chain = Array.from({ length: 500 }, (_, i) => i % 7);
  const { node, asked } = nodeWith(() => chain);
  await countsOf(node, 500);
  chain = [...chain.slice(0, 450), ...Array.from({ length: 60 }, () => 9)];
  assert.deepEqual((await countsOf(node, 500)).cumulative, totals(chain));
  chain = [...chain.slice(0, 300), ...Array.from({ length: 300 }, () => 2)];
  assert.deepEqual((await countsOf(node, 500)).cumulative, totals(chain));
  chain = chain.slice(0, 420);
  assert.deepEqual((await countsOf(node, 420)).cumulative, totals(chain));
  assert.deepEqual(asked, [0, 400, 410, 0, 500, 0]);
});

test("numbers of outputs that cannot be are refused", async () => {
  const lies: [string, (honest: Distribution) => Distribution][] = [
    ["fewer blocks", (honest) => ({ ...honest, distribution: honest.distribution.slice(0, 300) })],
    ["more blocks", (honest) => ({ ...honest, start_height: 2 ** 30 })],
    ["more outputs", (honest) => ({ ...honest, distribution: honest.distribution.with(7, 2 ** 40) })],
    ["more outputs", (honest) => ({ ...honest, base: 2 ** 50 })],
  ];
  for (const [complaint, lie] of lies) {
    const { node } = nodeWith(() => Array.from({ length: 500 }, () => 3), lie);
    await assert.rejects(countsOf(node, 500), new RegExp(complaint));
  }
});

test("numbers of outputs must leave an output of ours its place", () => {
  const counts = { startHeight: 100, cumulative: [5, 9, 9, 12] };
  const isAt = (height: number, globalIndex: bigint) => agreesWith(counts, { height, globalIndex });
  assert.ok(isAt(100, 0n) && isAt(101, 5n) && isAt(101, 8n) && isAt(103, 11n));
  assert.ok(!isAt(101, 9n) && !isAt(101, 4n) && !isAt(102, 9n) && !isAt(104, 12n) && !isAt(99, 0n));
});

const random = seededRandom("lying node");
const keys = createKeys(random);
const owned = receive(keys, { amount: 5n, globalIndex: 4000, height: 200 }, random);
const memory: RingMemory = { ringOf: () => undefined, remember: async () => undefined };
const honest = createChain(1000, 20, [owned]);
const ringFrom = (lies: Partial<OutputSource>) =>
  createRings({ inputs: [owned], source: { ...honest, ...lies }, memory, random, threads: runtime.threads });

test("a node that misplaces our output is noticed", async () => {
  const shifted = createChain(1000, 19, []).hiddenCounts;
  await assert.rejects(ringFrom({ hiddenCounts: shifted }), /other than those scanned/);
});

test("a node that tells another key, amount or lock of our output is noticed", async () => {
  const [truth] = await honest.outputs([{ amount: 0n, globalIndex: 4000 }]);
  const [stranger] = await honest.outputs([{ amount: 0n, globalIndex: 4001 }]);
  for (const lie of [{ key: stranger!.key }, { commitment: stranger!.commitment }, { unlocked: false }]) {
    const outputs: OutputSource["outputs"] = async (names) => {
      const answers = await honest.outputs(names);
      return answers.map((each, i) => (names[i]!.globalIndex === 4000 ? { ...truth!, ...lie } : each));
    };
    await assert.rejects(ringFrom({ outputs }), /real output/);
  }
});

test("a node that answers for less than it was asked, or with one key for all, gets no transaction", async () => {
  const fewer: OutputSource["outputs"] = async (names) => (await honest.outputs(names)).slice(1);
  await assert.rejects(ringFrom({ outputs: fewer }), /get_outs/);
  const same: OutputSource["outputs"] = async (names) => {
    const [stranger] = await honest.outputs([{ amount: 0n, globalIndex: 4001 }]);
    const answers = await honest.outputs(names);
    return answers.map((each, i) => (names[i]!.globalIndex === 4000 ? each : stranger!));
  };
  await assert.rejects(ringFrom({ outputs: same }), { code: -19 });
});

function nodeAsking(fees: readonly bigint[], quantization_mask = 10_000): Daemon {
  const client = { getFeeEstimate: async () => ({ status: "OK", fees, quantization_mask }) };
  return { client } as unknown as Daemon;
}

test("fees as the network has them are taken, absurd ones are not", async () => {
  const today = [20_000n, 80_000n, 320_000n, 4_000_000n];
  const seen = { lastBlockReward: 600_000_000_000n, height: 3_000_000 };
  for (const [i, feePerByte] of today.entries())
    assert.deepEqual(await feeRateOf(nodeAsking(today), i + 1, seen), {
      feePerByte,
      quantizationMask: 10_000n,
    });
  const absurd = today.map((fee) => fee * 11n);
  for (const priority of [0, 1, 2, 3, 4, 9])
    await assert.rejects(feeRateOf(nodeAsking(absurd), priority, seen), /absurd fees/);
  await assert.rejects(feeRateOf(nodeAsking(today, 10 ** 12), 1, seen), /absurd fees/);
  await assert.rejects(feeRateOf(nodeAsking([]), 1, seen), /did not tell/);
  // In the first years rewards were high, and so were fees.
  const early = { lastBlockReward: 35_000_000_000_000n, height: 1000 };
  await feeRateOf(nodeAsking([1_200_000n]), 1, early);
  await feeRateOf(nodeAsking([1_200_000n]), 1, { ...early, lastBlockReward: 0n });
});

test("a made-up block with an impossible reward makes no fee less absurd", async () => {
  const told = 2n ** 64n - 1n;
  for (const [height, feePerByte] of [
    [1000, 20_000_000n],
    [3_000_000, 1_000_000n],
  ] as const)
    await assert.rejects(
      feeRateOf(nodeAsking([feePerByte]), 1, { lastBlockReward: told, height }),
      /absurd fees/,
    );
});

test("what a node says is repeated in a short line, since it is logged and kept", async () => {
  const endless = `no\n\u001b[2J\u202efake line ${"x".repeat(1_000_000)}`;
  const isShort = ({ message }: Error) => message.length < 400 && /no {2}\[2J fake line x/.test(message);
  const answer = { status: "Failed", reason: endless };
  const daemon = { client: { sendRawTransaction: async () => answer } } as unknown as Daemon;
  const { accepted, reason } = await relayOf(daemon)(new Uint8Array(1));
  assert.ok(!accepted && isShort(new Error(reason)), reason.slice(0, 100));
  await assert.rejects(checked(Promise.resolve({ status: endless })), isShort);
  await assert.rejects(reached(Promise.reject(new RemoteError("get_info", -1, endless))), isShort);
  assert.equal(toldByNode("Transaction is not possible: größer"), "Transaction is not possible: größer");
});

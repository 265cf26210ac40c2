import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { type Network, networks, writePortable } from "@anulo/protocol";
import { daemon, RowMeter } from "@anulo/rpc";
import { createAnswerMemory } from "../src/rpc/memory.ts";
import { binaryOutputDistribution, outputDistribution } from "../src/rpc/output-distribution.ts";
import { outputHandlers } from "../src/rpc/outputs.ts";

/** Blocks of one branch: its name makes their ids and counts. */
function branch(name: string, length: number) {
  return Array.from({ length }, (_, i) => {
    const hash = new Uint8Array(createHash("sha256").update(`${name} ${i}`).digest());
    return { hash, outputs: hash[0]! };
  });
}

type Blocks = ReturnType<typeof branch>;

interface Made {
  readonly network?: Pick<Network, "name" | "hardForks">;
  /** Heights of the outputs of every amount but 0. */
  readonly visible?: readonly number[];
  readonly restricted?: boolean;
}

/** As much of a node as the call needs, whose chain becomes another. */
function createNode({ network = networks.regtest, visible = [], restricted = false }: Made = {}) {
  let blocks: Blocks = [];
  let totals: number[] = [];
  let view = { height: 0, topId: new Uint8Array() };
  const read = {
    height: () => blocks.length,
    blockInfo: (at: number) =>
      at < blocks.length ? { hash: blocks[at]!.hash, cumulativeRctOutputs: totals[at]! } : undefined,
    blockInfoColumn: (_: string, from: number, to: number) => totals.slice(from, to),
    outputCount: () => visible.length,
    outputHeight: (_: bigint, index: number) => visible[index],
  };
  const store = { read, snapshot: () => ({ ...read, close: () => {} }) };
  const parts = { network, store, state: { view: () => view } };
  const memory = createAnswerMemory(parts as never);
  return {
    context: {
      parts,
      memory,
      restricted,
      signal: new AbortController().signal,
      rows: new RowMeter(() => 0),
    } as never,
    become(next: Blocks) {
      blocks = next;
      let sum = 0;
      totals = next.map(({ outputs }) => {
        sum += outputs;
        return sum;
      });
      view = { height: next.length, topId: next.at(-1)!.hash };
    },
  };
}

const { getOutputDistribution, getOutputDistributionBin } = daemon.outputs;

/** A response with the status that the server adds. */
function withStatus(response: object): never {
  return { status: "OK", ...("facts" in response ? (response.facts as object) : response) } as never;
}

/** Responses to all kinds of questions, as they are sent. */
async function answers(context: never): Promise<string[]> {
  const found: string[] = [];
  for (const from_height of [0, 7]) {
    for (const [binary, compress] of [
      [false, false],
      [true, false],
      [true, true],
    ] as const) {
      for (const cumulative of [false, true]) {
        const request = { amounts: [0n], from_height, to_height: 0, cumulative, compress, binary };
        const response = await outputDistribution(request, context);
        found.push(getOutputDistribution.result.write(withStatus(response), "contract", ""));
        const portable = await binaryOutputDistribution(request, context);
        const entry = getOutputDistributionBin.result.writePortable(withStatus(portable));
        const { value } = entry as { value: Parameters<typeof writePortable>[0] };
        found.push(Buffer.from(writePortable(value)).toString("hex"));
      }
    }
  }
  return found;
}

// Closes the class of responses that are written anew for each block that comes.
test("a distribution that grew with the chain is the one of a node that was never asked before", async () => {
  const main = branch("main", 6000);
  const other = [...main.slice(0, 5900), ...branch("other", 300)];
  const node = createNode();
  for (const blocks of [
    main.slice(0, 5000),
    main.slice(0, 5001),
    main,
    main,
    other,
    main.slice(0, 40),
    main,
  ]) {
    node.become(blocks);
    const fresh = createNode();
    fresh.become(blocks);
    assert.deepEqual(await answers(node.context), await answers(fresh.context));
  }
});

test("where a caller does not say whether a distribution is to be binary, the dialect does", async () => {
  const node = createNode();
  node.become(branch("main", 100));
  const { handler } = outputHandlers().find(({ call }) => call.name === "get_output_distribution")!;
  const question = { amounts: [0n], from_height: 0, to_height: 0, cumulative: false, compress: false };
  const isBinary = async (dialect: string, binary?: boolean) => {
    const context = { ...(node.context as object), dialect } as never;
    const answer = await handler!({ ...question, binary } as never, context);
    const { distributions } = withStatus(answer as object) as { distributions: { binary: boolean }[] };
    return distributions[0]!.binary;
  };
  assert.deepEqual([await isBinary("contract"), await isBinary("upstream")], [false, true]);
  assert.deepEqual([await isBinary("contract", true), await isBinary("upstream", false)], [true, false]);
});

/** The answer for one amount: where it begins, what came before, and what each block added; or the refusal. */
async function told(context: never, question: { amount?: bigint; from?: number; to?: number }) {
  const { amount = 0n, from = 0, to = 0 } = question;
  const rest = { cumulative: false, compress: false, binary: false };
  const request = { amounts: [amount], from_height: from, to_height: to, ...rest };
  const response = await outputDistribution(request, context).catch((error: unknown) => String(error));
  if (typeof response === "string") return response;
  const text = getOutputDistribution.result.write(withStatus(response), "contract", "");
  const [only] = (JSON.parse(text) as { distributions: Record<string, unknown>[] }).distributions;
  return { start: only!.start_height, base: only!.base, counts: only!.distribution };
}

const isRefusal = (answer: unknown) => assert.match(String(answer), /Failed to get output distribution/);

test("RingCT outputs are counted from the hard fork that brought them, where a network has it", async () => {
  const blocks = branch("main", 9);
  const counts = blocks.map(({ outputs }) => outputs);
  const startOf = async (network: NonNullable<Made["network"]>) => {
    const node = createNode({ network });
    node.become(blocks);
    return told(node.context, {});
  };
  const ofFork = (height: number) => ({ version: 4, height, time: 0 });
  const before = counts.slice(0, 5).reduce((sum, count) => sum + count, 0);
  const late = { name: "mainnet", hardForks: [{ version: 1, height: 1, time: 0 }, ofFork(5)] } as const;
  assert.deepEqual(await startOf(late), { start: 5, base: before, counts: counts.slice(5) });
  assert.deepEqual(await startOf({ ...late, hardForks: late.hardForks.slice(0, 1) }), {
    start: 0,
    base: 0,
    counts,
  });
  // A test chain has all forks from the beginning, whatever their heights.
  assert.deepEqual(await startOf({ ...late, name: "regtest" }), { start: 0, base: 0, counts });
  isRefusal(await startOf({ ...late, hardForks: [late.hardForks[0], ofFork(9)] }));
  const last = {
    start: 8,
    base: counts.slice(0, 8).reduce((sum, count) => sum + count, 0),
    counts: counts.slice(8),
  };
  assert.deepEqual(await startOf({ ...late, hardForks: [late.hardForks[0], ofFork(8)] }), last);
});

test("blocks may be asked for up to the newest one, and none the wrong way round", async () => {
  const node = createNode({ visible: [1, 2, 2, 4, 7, 8] });
  node.become(branch("main", 9));
  for (const amount of [0n, 5n]) {
    const all = await told(node.context, { amount });
    assert.deepEqual(await told(node.context, { amount, to: 8 }), all);
    for (const question of [{ to: 9 }, { from: 9 }, { from: 5, to: 4 }, { from: 9, to: 9 }])
      isRefusal(await told(node.context, { amount, ...question }));
    const one = await told(node.context, { amount, from: 4, to: 4 });
    assert.ok(typeof one !== "string" && (one.counts as number[]).length === 1);
  }
});

test("outputs of a visible amount before the range count with its first block, those after it not", async () => {
  const node = createNode({ visible: [1, 2, 2, 4, 7, 8] });
  node.become(branch("main", 9));
  const counts = async (from: number, to: number) => told(node.context, { amount: 5n, from, to });
  assert.deepEqual(await counts(0, 8), { start: 0, base: 0, counts: [0, 1, 2, 0, 1, 0, 0, 1, 1] });
  assert.deepEqual(await counts(2, 7), { start: 2, base: 0, counts: [3, 0, 1, 0, 0, 1] });
});

test("strangers may ask for RingCT outputs alone", async () => {
  const node = createNode({ restricted: true, visible: [1] });
  node.become(branch("main", 9));
  assert.equal(typeof (await told(node.context, {})), "object");
  assert.match(String(await told(node.context, { amount: 5n })), /Restricted/);
  const request = { amounts: [0n, 0n], from_height: 0, to_height: 0 };
  const rest = { cumulative: false, compress: false, binary: true };
  await assert.rejects(outputDistribution({ ...request, ...rest }, node.context), /Restricted/);
  const refused = await binaryOutputDistribution({ ...request, ...rest }, node.context);
  assert.match("status" in refused ? String(refused.status) : "", /Restricted/);
  const plain = await binaryOutputDistribution({ ...request, ...rest, binary: false }, node.context);
  assert.deepEqual(plain, { status: "Binary only call", distributions: [] });
});

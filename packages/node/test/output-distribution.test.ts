import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { networks, writePortable } from "@anulo/protocol";
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

/** As much of a node as the call needs, whose chain becomes another. */
function createNode() {
  let blocks: Blocks = [];
  let totals: number[] = [];
  let view = { height: 0, topId: new Uint8Array() };
  const read = {
    height: () => blocks.length,
    blockInfo: (at: number) =>
      at < blocks.length ? { hash: blocks[at]!.hash, cumulativeRctOutputs: totals[at]! } : undefined,
    blockInfoColumn: (_: string, from: number, to: number) => totals.slice(from, to),
  };
  const store = { read, snapshot: () => ({ ...read, close: () => {} }) };
  const parts = { network: networks.regtest, store, state: { view: () => view } };
  const memory = createAnswerMemory(parts as never);
  return {
    context: {
      parts,
      memory,
      restricted: false,
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

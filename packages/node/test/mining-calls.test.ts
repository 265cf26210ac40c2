/** What the calls that mine answer, and as what they are counted. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { RuleViolation } from "@anulo/consensus";
import { type Network, networks, writeBlock } from "@anulo/protocol";
import { RpcError } from "@anulo/rpc";
import type { OpenChain } from "../src/chain/open-chain.ts";
import { createTemplate } from "../src/mining/block-template.ts";
import type { NodeContext } from "../src/rpc/context.ts";
import { miningHandlers } from "../src/rpc/mining.ts";
import { errorCodes } from "../src/rpc/refusal.ts";
import { emptyChain, minerKeys, pow } from "./chain-fixture.ts";
import { goldenState } from "./recorded-chains.ts";

let chain: OpenChain;

before(async () => {
  chain = await emptyChain();
});

after(async () => {
  await chain.close();
  await pow.stop();
});

interface Scene {
  readonly isSynchronized?: boolean;
  readonly network?: Network;
  readonly dialect?: "upstream" | "contract";
  /** What the end of writing fails with. */
  readonly fault?: Error;
}

/** Calls a method of the node; what it answers, and as what it was counted. */
async function call(name: string, request: unknown, scene: Scene = {}) {
  const { isSynchronized = true, network = networks.regtest, dialect = "contract", fault } = scene;
  const counted: (string | number)[][] = [];
  const { parts } = chain;
  const context = {
    parts: {
      ...parts,
      network,
      ...(fault && { store: { ...parts.store, settled: () => Promise.reject(fault) } }),
    },
    pow,
    dialect,
    peers: { sync: { isSynchronized } },
    onWork: () => {},
    calls: { note: (called: string, { count }: { count: number }) => void counted.push([called, count]) },
  } as unknown as NodeContext;
  const { handler } = miningHandlers().find((each) => each.call.name === name)!;
  const answer = await Promise.resolve()
    .then(() => handler!(request as never, context))
    .catch((error: unknown) => {
      if (error instanceof RpcError) return { code: error.code, message: error.message };
      throw error;
    });
  return { answer: answer as { readonly code?: number; readonly blocks: string[]; height: number }, counted };
}

const wallet_address = goldenState().wallets.a.address;

const generate = (count: number, scene: Scene = {}, prev_block = "") =>
  call("generateblocks", { amount_of_blocks: count, wallet_address, prev_block, starting_nonce: 0 }, scene);

test("mined blocks are counted as a template and a submission each", async () => {
  const { height } = chain.parts.state.view();
  const { answer, counted } = await generate(2);
  assert.deepEqual([answer.blocks.length, answer.height], [2, height + 1]);
  assert.deepEqual(counted, [
    ["submitblock", 2],
    ["getblocktemplate", 2],
  ]);
});

test("who asks for no block is told the height, and nothing is counted", async () => {
  const { height } = chain.parts.state.view();
  assert.deepEqual(await generate(0), { answer: { blocks: [], height }, counted: [] });
});

test("while the chain is fetched nothing is mined", async () => {
  const busy = { status: "BUSY", blocks: [], height: 0 };
  assert.deepEqual(await generate(1, { isSynchronized: false }), { answer: busy, counted: [] });
});

test("blocks are only generated on a test chain, and what fails is counted as a template", async () => {
  const { answer, counted } = await generate(3, { network: networks.stagenet });
  assert.equal(answer.code, errorCodes.regtestRequired);
  assert.deepEqual(counted, [["getblocktemplate", 1]]);
});

test("a block on an unknown one has no template", async () => {
  const { answer } = await generate(1, {}, "ab".repeat(32));
  assert.equal(answer.code, errorCodes.internal);
  assert.equal((await generate(1, {}, "ab")).answer.code, errorCodes.internal);
});

test("a block that breaks a rule is not accepted; a fault of ours stays what it is", async () => {
  const refused = await generate(1, { fault: new RuleViolation({ code: "MINER_REWARD_TOO_HIGH" } as never) });
  assert.equal(refused.answer.code, errorCodes.blockNotAccepted);
  await assert.rejects(generate(1, { fault: new Error("the disk is full") }), /the disk is full/);
});

/** A block that fits on the top, in hexadecimal. */
function blockOnTop(): string {
  const order = { keys: minerKeys, extraNonce: new Uint8Array(1), previousId: undefined };
  return Buffer.from(writeBlock(createTemplate(chain.parts, order).block)).toString("hex");
}

const submit = async (blobs: readonly string[], scene?: Scene) =>
  (await call("submit_block", blobs, scene)).answer;

test("one block is submitted at a time, once the chain is here", async () => {
  const { height } = chain.parts.state.view();
  const text = blockOnTop();
  assert.deepEqual(await submit([text], { isSynchronized: false }), { status: "BUSY" });
  for (const blobs of [[], [text, text]]) assert.equal((await submit(blobs)).code, errorCodes.wrongParam);
  assert.equal(chain.parts.state.view().height, height);
  const { parts } = chain;
  const answer = await submit([text]);
  assert.equal(parts.state.view().height, height + 1);
  assert.deepEqual(answer, { block_id: Buffer.from(parts.state.view().topId).toString("hex") });
});

test("a block that breaks a rule, or is none, is refused", async () => {
  const last = chain.parts.state.view().height;
  const text = blockOnTop();
  const ofAnotherFork = `01${text.slice(2)}`;
  assert.equal((await submit([ofAnotherFork])).code, errorCodes.blockNotAccepted);
  for (const none of ["zz", text.slice(0, 60)]) {
    assert.equal((await submit([none])).code, errorCodes.blockNotAccepted);
    assert.equal((await submit([none], { dialect: "upstream" })).code, errorCodes.wrongBlockBlob);
  }
  assert.equal(chain.parts.state.view().height, last);
});

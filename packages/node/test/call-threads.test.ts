/** Calls that another thread answers: byte for byte as the node's own thread does, of the chain as it is by then. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { statSync } from "node:fs";
import { after, before, test } from "node:test";
import type { Worker } from "node:worker_threads";
import { networks, toHex, writePortable } from "@anulo/protocol";
import {
  type Answer,
  type AnswerThreads,
  type Call,
  type CallRequest,
  type Dialect,
  daemon,
  limitsOfCallers,
  silent,
} from "@anulo/rpc";
import { popBlocks } from "../src/chain/chain.ts";
import { createNode, type Node } from "../src/index.ts";
import { createCallThreads } from "../src/rpc/call-threads.ts";
import { createCallTracking } from "../src/rpc/call-tracking.ts";
import { loadBlocks, now } from "./chain-fixture.ts";
import { recordedChain } from "./recorded-chains.ts";

const chain = recordedChain();
const { blocks, outputs, transactions } = daemon;

let node: Node;
let threads: AnswerThreads;
const calls = createCallTracking();
const bootstrap = { isWanted: false };

before(async () => {
  node = createNode({
    network: "regtest",
    fixedDifficulty: 1n,
    verifyThreads: 0,
    answerThreads: 0,
    offline: true,
    now,
    dialect: "upstream",
    listen: [
      { host: "127.0.0.1", port: 0 },
      { host: "127.0.0.1", port: 0, restricted: true },
    ],
  });
  await node.start();
  await loadBlocks(node.chain, chain);
  threads = createCallThreads({
    services: { parts: node.chain, bootstrap: bootstrap as never, calls },
    network: networks.regtest,
    limits: limitsOfCallers({}, true),
    maxThreads: 1,
    // Blocks take long to be added on a busy machine.
    idleMs: 3_600_000,
    log: silent,
  });
  await startThread();
});

after(async () => {
  await threads.stop();
  await node.stop();
});

const HERE: Answer = { status: 200, type: "text/plain", body: "here" };

interface Question {
  readonly call: Call;
  readonly params: object;
}

interface Port {
  readonly dialect?: Dialect;
  readonly restricted?: boolean;
}

/** The path and the body of a request. */
function encoded({ call, params }: Question): { path: string; body: Buffer } {
  if (call.transport === "jsonRpc") {
    const body = JSON.stringify({ jsonrpc: "2.0", id: "0", method: call.name, params });
    return { path: "/json_rpc", body: Buffer.from(body) };
  }
  if (call.transport === "json") return { path: call.name, body: Buffer.from(JSON.stringify(params)) };
  const entry = call.params.writePortable(params) as unknown as { value: never };
  return { path: call.name, body: Buffer.from(writePortable(entry.value)) };
}

function requestFor(question: Question, { dialect = "upstream", restricted = false }: Port): CallRequest {
  const budget = { reserveCopy() {}, releaseCopy() {}, admit() {} };
  const caller = { signal: new AbortController().signal, isGone: false, onWork() {} };
  const request = { dialect, restricted, budget, caller, remoteAddress: "127.0.0.1", id: "" };
  const params = question.call.transport === "jsonRpc" ? { params: question.params } : {};
  return { call: question.call, ...encoded(question), ...params, request } as never;
}

/** Asks the threads; the second request of a turn of the event loop is for them. Its answer is a promise if one has it. */
async function askSecond(question: Question, port: Port = {}) {
  await new Promise(setImmediate);
  const here = () => HERE;
  const first = requestFor({ call: blocks.getBlocksBin, params: sync() }, {});
  assert.equal(threads.answer(first, {}, here), HERE);
  return { answer: threads.answer(requestFor(question, port), {}, here) };
}

async function fromThread(question: Question, port: Port = {}): Promise<Answer> {
  return await (await askSecond(question, port)).answer;
}

/** Requests until a thread answers. */
async function startThread(): Promise<void> {
  const question = { call: blocks.getBlocksBin, params: sync() };
  while ((await fromThread(question)) === HERE);
}

function sync(more: object = {}): object {
  const genesis = node.chain.store.read.blockInfo(0)!.hash;
  return { block_ids: [genesis], start_height: 0, prune: false, no_miner_tx: false, ...more };
}

/** The same from the node itself. */
async function fromNode(question: Question, { restricted = false }: Port = {}): Promise<Buffer> {
  const { path, body } = encoded(question);
  const response = await fetch(`${node.urls[restricted ? 1 : 0]}${path}`, {
    method: "POST",
    body: new Uint8Array(body),
  });
  assert.equal(response.status, 200);
  return Buffer.from(await response.arrayBuffer());
}

/** Questions that threads answer, about the chain as it is. */
function questions(): Question[] {
  const { read } = node.chain.store;
  const height = read.height();
  const paid = chain.filter((block) => block.transactions.length > 0).length;
  assert.ok(paid > 0);
  const ids = Array.from({ length: 40 }, (_, id) => toHex(read.transactionHash(id + height - 40)!));
  const outs = Array.from({ length: 400 }, (_, place) => ({ amount: 0n, index: BigInt((7 * place) % 50) }));
  const named = outs.map(({ index }) => ({ amount: 0, index: Number(index) }));
  return [
    { call: blocks.getBlockHeadersRange, params: { start_height: height - 12, end_height: height - 1 } },
    { call: blocks.getBlockHeadersRange, params: { start_height: 0, end_height: height - 1 } },
    { call: blocks.getBlocksBin, params: sync() },
    { call: blocks.getBlocksBin, params: sync({ prune: true, start_height: 5, max_block_count: 20n }) },
    { call: blocks.getBlocksByHeightBin, params: { heights: Array.from({ length: 30 }, (_, i) => i + 20) } },
    { call: transactions.getTransactions, params: { txs_hashes: ids } },
    { call: transactions.getTransactions, params: { txs_hashes: ids, decode_as_json: true, split: true } },
    { call: outputs.getOuts, params: { outputs: named } },
    { call: outputs.getOuts, params: { outputs: named.slice(0, 60), get_txid: true } },
    { call: outputs.getOutsBin, params: { outputs: outs, get_txid: true } },
    { call: outputs.getOutsBin, params: { outputs: outs.slice(0, 64), get_txid: false } },
  ];
}

const bytesOf = ({ body }: Answer): Buffer =>
  typeof body === "string" ? Buffer.from(body, "latin1") : (body as Buffer);

test("a thread answers each call as the node does, on both kinds of ports, whatever the chain has become", async () => {
  for (const change of ["none", "popped", "added"]) {
    if (change === "popped") await popBlocks(node.chain, 20);
    if (change === "added") await loadBlocks(node.chain, chain.slice(-20));
    for (const restricted of [false, true]) {
      for (const question of questions()) {
        const answer = await fromThread(question, { restricted });
        assert.notEqual(answer, HERE, question.call.name);
        assert.equal(
          bytesOf(answer).equals(await fromNode(question, { restricted })),
          true,
          question.call.name,
        );
      }
    }
  }
});

test("a thread that has answered keeps no page of the file from being written again", async () => {
  const { store } = node.chain;
  const question = { call: blocks.getBlockHeadersRange, params: { start_height: 0, end_height: 40 } };
  const sizes: number[] = [];
  for (let round = 0; round < 8; round++) {
    assert.notEqual(await fromThread(question), HERE);
    await popBlocks(node.chain, 20);
    await loadBlocks(node.chain, chain.slice(-20));
    sizes.push(statSync(store.path).size);
  }
  assert.ok(sizes.at(-1)! < 1.5 * sizes[3]!, `bytes of the file: ${sizes.join(", ")}`);
});

/** What only the node's own thread knows, and what is refused. */
const onlyHere: readonly (Question & Port)[] = [
  { call: blocks.getBlock, params: { height: 3 } },
  { call: blocks.getBlockHeadersRange, params: { start_height: 3, end_height: 40 }, dialect: "contract" },
  { call: blocks.getBlockHeadersRange, params: { start_height: 3, end_height: 40, fill_pow_hash: true } },
  { call: blocks.getBlockHeadersRange, params: { start_height: 3, end_height: 1e6 } },
  { call: blocks.getBlockHeadersRange, params: { start_height: 40, end_height: 30 } },
  { call: blocks.getBlockHeadersRange, params: { start_height: {}, end_height: 5 } },
  { call: blocks.getBlockHeadersRange, params: { start_height: 0, end_height: [{}] } },
  { call: blocks.getBlockHeadersRange, params: null as never },
  { call: transactions.getTransactions, params: { txs_hashes: Array(9).fill("ab".repeat(32)) } },
  { call: blocks.getBlocksByHeightBin, params: { heights: Array(2000).fill(3) }, restricted: true },
  { call: blocks.getHashesBin, params: { block_ids: [], start_height: 0 } },
];

test("a node with many callers starts a thread, which gives the same answers, and ends it when it stops", async () => {
  const busy = createNode({
    network: "regtest",
    fixedDifficulty: 1n,
    verifyThreads: 0,
    answerThreads: 1,
    offline: true,
    now,
    dialect: "upstream",
  });
  await busy.start();
  await loadBlocks(busy.chain, chain);
  const workers: Worker[] = [];
  /** What the threads have sent: that they are ready, and results. */
  const results: (string | { readonly response?: object })[] = [];
  const watch = (worker: Worker) => {
    workers.push(worker);
    worker.on("message", (message) => results.push(message));
  };
  process.on("worker", watch);
  const end_height = busy.chain.store.read.height() - 1;
  const { path, body } = encoded({
    call: blocks.getBlockHeadersRange,
    params: { start_height: 0, end_height },
  });
  const fetchRange = async () => {
    const response = await fetch(`${busy.urls[0]}${path}`, { method: "POST", body: new Uint8Array(body) });
    return await response.text();
  };
  const expected = await fetchRange();
  const hasAnswered = () =>
    results.some((message) => typeof message === "object" && message.response !== undefined);
  while (!hasAnswered()) {
    const answers = await Promise.all(Array.from({ length: 16 }, fetchRange));
    assert.deepEqual(new Set(answers), new Set([expected]));
  }
  process.off("worker", watch);
  assert.equal(workers.length, 1);
  const [ended] = await Promise.all([once(workers[0]!, "exit"), busy.stop()]);
  assert.deepEqual(ended, [0]);
});

test("what only the node's own thread knows, and every error, is left to it", async () => {
  for (const { call, params, ...port } of onlyHere) {
    const isAnswered = call === blocks.getBlocksByHeightBin;
    const answer = await fromThread({ call, params }, port);
    assert.equal(answer === HERE, !isAnswered, `${call.name} ${JSON.stringify(params).slice(0, 80)}`);
  }
  for (const more of [{ requested_info: 1 }, { requested_info: 2 }, { block_ids: [new Uint8Array(32)] }]) {
    assert.equal(await fromThread({ call: blocks.getBlocksBin, params: sync(more) }), HERE);
  }
});

test("calls that a thread answers are counted as the node counts its own", async () => {
  calls.clear();
  const params = { start_height: 1, end_height: 60 };
  for (let i = 0; i < 3; i++) await fromThread({ call: blocks.getBlockHeadersRange, params });
  await fromThread({ call: blocks.getBlocksByHeightBin, params: { heights: Array(60).fill(3) } });
  const counted = calls.entries().map(({ rpc, count, credits }) => ({ rpc, count, credits }));
  assert.deepEqual(counted, [
    { rpc: "get_block_headers_range", count: 3, credits: 18 },
    { rpc: "get_blocks_by_height", count: 1, credits: 3 },
  ]);
  assert.ok(calls.entries().every(({ time }) => time > 0));
});

/** Whether a request is given to a thread at all. */
async function isHandedOver(question: Question, port: Port = {}): Promise<boolean> {
  const { answer } = await askSecond(question, port);
  await answer;
  return answer instanceof Promise;
}

test("nothing is handed over that a thread would only send back, or that another node answers", async () => {
  const withBlocks = (more: object) => ({ call: blocks.getBlocksBin, params: sync(more) });
  assert.equal(await isHandedOver(withBlocks({})), true);
  for (const requested_info of [1, 2])
    assert.equal(await isHandedOver(withBlocks({ requested_info })), false);
  const range = { start_height: 3, end_height: 40 };
  const headers = { call: blocks.getBlockHeadersRange, params: range };
  assert.equal(await isHandedOver(headers), true);
  assert.equal(await isHandedOver(headers, { dialect: "contract" }), false);
  assert.equal(await isHandedOver({ ...headers, params: { ...range, fill_pow_hash: true } }), false);
  assert.equal(await isHandedOver({ ...headers, params: { ...range, end_height: 11 } }), false, "too few");
  bootstrap.isWanted = true;
  try {
    assert.equal(await isHandedOver(headers), false);
  } finally {
    bootstrap.isWanted = false;
  }
});

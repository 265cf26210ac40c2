// Requests for things at random of a chain too long for any cache, as users ask: over 1, 16 and 64 connections, first
// calls apart from warm ones. ANULO_BENCH_BLOCKS: length of the chain; ANULO_BENCH_ONLY: part of a row's name;
// ANULO_BENCH_CHAIN: folder where the chain is kept for later runs.
import { execFileSync } from "node:child_process";
import { writePortable } from "@anulo/protocol";
import { daemon } from "@anulo/rpc";
import { call, startDaemon } from "@anulo/testkit";
import { prepareLargeChain } from "./large-chain.mjs";
import { jsonRequest, methodRequest, requestBytes, requestRate } from "./load.mjs";
import { memoryMiB } from "./process.mjs";
import { median } from "./timing.mjs";

/** With the recorded blocks and genesis a whole number of the import's batches, of which it keeps no part. */
const BLOCKS = Number(process.env.ANULO_BENCH_BLOCKS ?? 59_501);
const CONNECTIONS = [1, 16, 64];
const ROUNDS = 3;
/** Different bodies of each request, asked in turn. */
const BODIES = 1000;
/** Headers of one request for those that are asked for later. */
const HEADERS_PER_CALL = 100;

const below = (limit) => Math.floor(Math.random() * limit);
const many = (make, count = BODIES) => Array.from({ length: count }, make);

function binaryRequest({ name, params }, values) {
  const { value } = params.writePortable(values);
  return requestBytes(name, writePortable(value), "application/octet-stream");
}

/** Headers of runs of blocks all over the chain. */
async function someHeaders(url, height) {
  const headers = [];
  for (let run = 0; run < 30; run++) {
    const start_height = below(height - HEADERS_PER_CALL);
    const range = { start_height, end_height: start_height + HEADERS_PER_CALL - 1 };
    headers.push(...(await call(url, "get_block_headers_range", range)).headers);
  }
  return headers;
}

/** Name, requests, and how many times as often as monerod they must be answered. */
function casesOf({ height, outputs, headers, genesis }) {
  const { getOutsBin, getOutputDistributionBin } = daemon.outputs;
  const some = (count) => many(() => ({ amount: 0n, index: BigInt(below(outputs)) }), count);
  const named = (count) => many(() => ({ amount: 0, index: below(outputs) }), count);
  const outsBin = (count) => many(() => binaryRequest(getOutsBin, { outputs: some(count), get_txid: false }));
  const outs = (count) => many(() => jsonRequest("/get_outs", { outputs: named(count) }));
  const distribution = { amounts: [0n], cumulative: false, compress: true, binary: true };
  const header = () => headers[below(headers.length)];
  const range = (count) =>
    many(() => {
      const start_height = below(height - count);
      return methodRequest("get_block_headers_range", { start_height, end_height: start_height + count - 1 });
    });
  const transactions = (count, more) =>
    many(() => {
      const txs_hashes = many(() => header().miner_tx_hash, count);
      return jsonRequest("/get_transactions", { txs_hashes, ...more });
    });
  const sync = () => ({
    block_ids: [Buffer.from(genesis, "hex")],
    start_height: below(height - 1001),
    prune: true,
    no_miner_tx: false,
  });
  return [
    ["/get_outs.bin, 16 at random", outsBin(16), 1],
    ["/get_outs.bin, 320 at random", outsBin(320), 1],
    ["/get_outs, 16 at random", outs(16), 1],
    ["/get_outs, 320 at random", outs(320), 1],
    ["/get_output_distribution.bin, compressed", [binaryRequest(getOutputDistributionBin, distribution)], 1],
    ["get_output_distribution", [methodRequest("get_output_distribution", { amounts: [0] })], 1],
    [
      "get_output_distribution, from heights at random",
      many(() => methodRequest("get_output_distribution", { amounts: [0], from_height: below(height) })),
      1,
    ],
    ["get_info", [methodRequest("get_info")], 2],
    [
      "get_block_header_by_height, at random",
      many(() => methodRequest("get_block_header_by_height", { height: below(height) })),
      2,
    ],
    [
      "get_block_header_by_hash, at random",
      many(() => methodRequest("get_block_header_by_hash", { hash: header().hash })),
      2,
    ],
    ["get_block_headers_range, 10 at random", range(10), 2],
    ["get_block_headers_range, 400 at random", range(400), 2],
    ["/get_transactions, 1 at random", transactions(1), 2],
    ["/get_transactions, 50 at random, JSON", transactions(50, { decode_as_json: true }), 2],
    ["get_block, at random", many(() => methodRequest("get_block", { height: below(height) })), 0.5],
    ["/get_blocks.bin, at random", many(() => binaryRequest(daemon.blocks.getBlocksBin, sync())), 0.5],
    ["/get_transaction_pool", [jsonRequest("/get_transaction_pool", {})], 0.5],
    ["/get_transaction_pool_hashes.bin", [jsonRequest("/get_transaction_pool_hashes.bin", {})], 0.5],
    ["/get_height", [jsonRequest("/get_height", {})], 0.5],
  ];
}

/** Today's monerod accepts 25 connections from one address by default; older ones know no such flag. */
function connectionFlags() {
  const flag = "--rpc-max-connections-per-private-ip";
  return execFileSync("monerod", ["--help"], { encoding: "latin1" }).includes(flag) ? [flag, "100"] : [];
}

/** Milliseconds until a node that has this chain responds to its first request. */
async function startTimed(maker, dataDir) {
  const from = performance.now();
  const extra = maker.kind === "real" ? connectionFlags() : [];
  const node = await startDaemon(maker, { dataDir, extra });
  await call(node.url, "get_info");
  return { node, ms: performance.now() - from };
}

async function onBoth(measure) {
  return { native: await measure("native"), ours: await measure("ours") };
}

async function ratesOf(nodes, requests, connections) {
  const rates = { native: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of ["native", "ours"]) {
      const { pid, port } = nodes[side];
      rates[side].push((await requestRate({ pid, port, requests, connections })).rate);
    }
  }
  return { ours: median(rates.ours), native: median(rates.native) };
}

async function rowsOfRequests(nodes, genesis) {
  const { height } = await call(nodes.ours.url, "get_info");
  const { histogram } = await call(nodes.ours.url, "get_output_histogram", { amounts: [0] });
  const headers = await someHeaders(nodes.ours.url, Number(height));
  const chain = { height: Number(height), outputs: Number(histogram[0].total_instances), headers, genesis };
  const rows = [];
  for (const [name, requests, atLeast] of casesOf(chain)) {
    if (!name.includes(process.env.ANULO_BENCH_ONLY ?? "")) continue;
    const first = await onBoth(async (side) => {
      const { pid, port } = nodes[side];
      const { rate } = await requestRate({ pid, port, requests, connections: 1, seconds: 0 });
      return 1000 / rate;
    });
    rows.push({ name: `${name}, first call`, unit: "ms", ...first });
    for (const connections of CONNECTIONS) {
      const rates = await ratesOf(nodes, requests, connections);
      const title = `${name}, ${connections} connections`;
      rows.push({ name: title, unit: "requests/s", ...rates, atLeast });
    }
  }
  return rows;
}

/** Rows of the table. */
export async function measure() {
  const folders = await prepareLargeChain(BLOCKS, process.env.ANULO_BENCH_CHAIN);
  const nodes = {};
  try {
    const makers = { native: { kind: "real" }, ours: { kind: "ours", dialect: "upstream" } };
    const start = await onBoth(async (side) => {
      const { node, ms } = await startTimed(makers[side], folders[side]);
      nodes[side] = node;
      return ms;
    });
    const memory = { ours: memoryMiB(nodes.ours.pid), native: memoryMiB(nodes.native.pid) };
    const { hash } = (await call(nodes.ours.url, "get_block_header_by_height", { height: 0 })).block_header;
    return [
      { name: `restart on ${BLOCKS} blocks, to the first response`, unit: "ms", ...start, most: 300 },
      { name: "memory, idle after a restart", unit: "MiB", ...memory, most: 65 },
      ...(await rowsOfRequests(nodes, hash)),
    ];
  } finally {
    for (const node of Object.values(nodes)) await node.stop();
    folders.remove();
  }
}

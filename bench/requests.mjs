// Requests per second over 16 keep-alive connections, our node beside monerod on the same 500 blocks.
import { writePortable } from "@anulo/protocol";
import { daemon } from "@anulo/rpc";
import { loadBlocks, loadChain, post, startDaemon } from "@anulo/testkit";
import { bestRates, jsonRequest, methodRequest, rateRows, requestBytes } from "./load.mjs";

const rounds = 3;

function binaryRequest({ name, params }, values) {
  const { value } = params.writePortable(values);
  return requestBytes(name, writePortable(value), "application/octet-stream");
}

/** Global indices spread over the chain as a ring's members are. */
const outputsOf = (count) =>
  Array.from({ length: count }, (_, i) => ({ amount: 0n, index: BigInt((i * 131) % 1100) }));

/** Requests for outputs at random, so many that hardly two of them ask for the same. */
function randomRings(count) {
  const index = () => BigInt(Math.floor(Math.random() * 1100));
  const ring = () => Array.from({ length: 16 }, index).sort((a, b) => Number(a - b));
  const request = () => {
    const outputs = ring().map((index) => ({ amount: 0n, index }));
    return binaryRequest(daemon.outputs.getOutsBin, { outputs, get_txid: false });
  };
  return Array.from({ length: count }, request);
}

/** Name, what is asked (a request, or several in turn), and how many times as often as monerod it must be answered. */
export function casesOf({ hashes, transactions, genesis }) {
  const ids = (count) => transactions.slice(-count);
  const blockIds = [Buffer.from(genesis, "hex")];
  const sync = (start_height) => ({ block_ids: blockIds, start_height, prune: false, no_miner_tx: false });
  return [
    ["get_info", methodRequest("get_info"), 2],
    ["get_fee_estimate", methodRequest("get_fee_estimate"), 2],
    [
      "get_block_headers_range, 10",
      methodRequest("get_block_headers_range", { start_height: 480, end_height: 489 }),
      2,
    ],
    [
      "get_block_headers_range, 400",
      methodRequest("get_block_headers_range", { start_height: 100, end_height: 499 }),
      2,
    ],
    ["/get_transactions, 1, hex", jsonRequest("/get_transactions", { txs_hashes: ids(1) }), 2],
    [
      "/get_transactions, 1, JSON",
      jsonRequest("/get_transactions", { txs_hashes: ids(1), decode_as_json: true }),
      2,
    ],
    ["/get_transactions, 50, hex", jsonRequest("/get_transactions", { txs_hashes: ids(50) }), 2],
    [
      "/get_transactions, 50, JSON",
      jsonRequest("/get_transactions", { txs_hashes: ids(50), decode_as_json: true }),
      2,
    ],
    ["get_block", methodRequest("get_block", { height: 490 }), 1],
    ["/get_outs.bin, 16", binaryRequest(daemon.outputs.getOutsBin, { outputs: outputsOf(16) }), 1],
    ["/get_outs.bin, 16 at random, as wallets ask", randomRings(1000), 1],
    ["/get_outs.bin, 256", binaryRequest(daemon.outputs.getOutsBin, { outputs: outputsOf(256) }), 1],
    ["/get_blocks.bin, 10 blocks", binaryRequest(daemon.blocks.getBlocksBin, sync(490)), 1],
    ["/get_blocks.bin, 400 blocks", binaryRequest(daemon.blocks.getBlocksBin, sync(100)), 1],
    ["get_block_count", methodRequest("get_block_count"), 0.45],
    ["on_get_block_hash", methodRequest("on_get_block_hash", [hashes.length]), 0.45],
    ["get_version", methodRequest("get_version"), 0.45],
    ["/get_height", jsonRequest("/get_height", {}), 0.45],
  ];
}

/** Ids of the transactions of every block, oldest first. */
async function transactionIds(url, count) {
  const ids = [];
  for (let height = 0; height < count; height++) {
    const { result } = await post(`${url}/json_rpc`, { method: "get_block", params: { height } });
    ids.push(...(result.tx_hashes ?? []));
  }
  return ids;
}

/** A row of the table for each case; `processor` rows are what a request costs the server. */
export async function measure() {
  const chain = loadChain();
  const nodes = {
    native: await startDaemon({ kind: "real" }),
    ours: await startDaemon({ kind: "ours", dialect: "upstream" }),
  };
  try {
    for (const { url } of Object.values(nodes)) await loadBlocks(url, chain.blocks);
    const transactions = await transactionIds(nodes.ours.url, chain.blocks.length);
    const cases = casesOf({ hashes: chain.hashes, transactions, genesis: chain.genesis.hash });
    const filter = process.env.ANULO_BENCH_ONLY;
    const rows = [];
    for (const [name, request, atLeast] of cases) {
      if (filter !== undefined && !name.includes(filter)) continue;
      const best = await bestRates(nodes, [request].flat(), rounds);
      rows.push(...rateRows(name, best, { rate: { atLeast }, cpu: { atMost: 1 / atLeast } }));
      if (process.env.ANULO_BENCH_SIZES) console.log(name, best.ours.bytes, best.native.bytes);
    }
    return rows;
  } finally {
    for (const node of Object.values(nodes)) await node.stop();
  }
}

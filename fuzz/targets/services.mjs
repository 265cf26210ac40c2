import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNode } from "../../packages/node/dist/src/index.js";
import { writePortable } from "../../packages/protocol/dist/src/index.js";
import { daemonMethods, walletMethods } from "../../packages/rpc/dist/src/index.js";
import { loadGoldenState } from "../../packages/testkit/dist/src/fixtures.js";
import { createWalletService } from "../../packages/wallet/dist/src/index.js";
import { recordedChain } from "../corpus.mjs";
import { mutate } from "../mutate.mjs";

/** Calls that end the service, or that work for as long as their params say. */
const leftOut = new Set([
  ...["/stop_daemon", "generateblocks", "/start_mining", "calc_pow", "add_aux_pow", "/set_bootstrap_daemon"],
  ...[
    "set_bootstrap_daemon",
    "/update",
    "prune_blockchain",
    "stop_wallet",
    "set_daemon",
    "change_wallet_password",
  ],
]);

/** Asks for a proof of work, which costs what it costs. */
const takesItsTime = new Set(["fill_pow_hash"]);

/** Fields that say how much work a call does: no number above this. */
const mostWork = new Map([["create_address", ["count", 255]]]);

const { wallets, block_hashes: hashes } = loadGoldenState();
const pick = (random, list) => list[random() % list.length];
const numbers = [
  0,
  1,
  2,
  10,
  100,
  255,
  65_536,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  -1,
  "18446744073709551615",
  1.5,
  "5",
];
/** No address of this machine: who bans it is not answered any more. */
const texts = [
  ...[
    "",
    "x",
    "00",
    "é\u0000",
    "0".repeat(64),
    wallets.a.address,
    wallets.b.address,
    wallets.a.mnemonic,
    "10.1.2.3",
  ],
  ...[hashes[5], hashes[20], wallets.a.view_key, "wallet", "../x", "a".repeat(5000)],
];
const odd = [null, true, false, [], {}, [[]], "", 0, [null], { a: 1 }, [1, "a"]];

/** A value such as the schema wants, most of the time. */
function valueFor(schema, random, depth = 0) {
  if (random() % 16 === 0) return pick(random, odd);
  if (schema.fields !== undefined) return recordOf(schema.fields, random, depth);
  if (schema.item !== undefined) {
    const count = random() % 8 === 0 ? 40 : random() % 4;
    return Array.from({ length: count }, () => valueFor(schema.item, random, depth + 1));
  }
  if (/int|u64/.test(schema.kind)) return pick(random, numbers);
  if (schema.kind === "flag") return random() % 2 === 0;
  return pick(random, texts);
}

function recordOf(fields, random, depth) {
  const record = {};
  for (const [name, schema] of Object.entries(fields)) {
    if (!takesItsTime.has(name) && random() % 4 !== 0) record[name] = valueFor(schema, random, depth + 1);
  }
  return record;
}

function json(value) {
  return JSON.stringify(value).replace(/"(18446744073709551615)"/g, "$1");
}

/** Path and body of a request to a call. */
function requestOf(call, random) {
  if (call.transport === "binary") return [call.name, binaryBody(call, random)];
  const params = valueFor(call.params, random);
  const [field, most] = mostWork.get(call.name) ?? [];
  if (params?.[field] > most) params[field] = most;
  if (call.transport === "json") return [call.name, Buffer.from(json(params))];
  return ["/json_rpc", Buffer.from(json({ jsonrpc: "2.0", id: random(), method: call.name, params }))];
}

function binaryBody({ params }, random) {
  for (let i = 0; i < 8; i++) {
    try {
      const value = params.read(JSON.parse(json(valueFor(params, random))), { of: "request" });
      return Buffer.from(writePortable(params.writePortable(value).value));
    } catch {
      // A value of the wrong kind has no binary form.
    }
  }
  return Buffer.from(writePortable(new Map()));
}

/** An input is a request: its path, a line's end, and the body. */
function inputOf(calls) {
  return (random) => {
    const [path, body] = requestOf(pick(random, calls), random);
    const isMutated = random() % 3 === 0;
    return Buffer.concat([Buffer.from(`${path}\n`), isMutated ? mutate([body], random) : body]);
  };
}

let socket;
let waiting;
let received = Buffer.alloc(0);

function open(url) {
  socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", noDelay: true });
  received = Buffer.alloc(0);
  socket.on("data", (bytes) => {
    received = Buffer.concat([received, bytes]);
    const end = received.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = received.toString("latin1", 0, end);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    if (received.length < end + 4 + length) return;
    const body = received.subarray(end + 4);
    received = Buffer.alloc(0);
    waiting({ status: Number(head.slice(9, 12)), body: body.toString("latin1") });
  });
  socket.on("close", () => waiting?.({ status: 0, body: "" }));
  socket.on("error", () => {});
}

/** Sends an input; an internal error is a fault of the service, and so is a connection it closes. */
async function ask(url, input) {
  const end = input.indexOf("\n");
  const path = input.toString("latin1", 0, end);
  const body = input.subarray(end + 1);
  if (socket === undefined || socket.destroyed) open(url());
  const answered = new Promise((resolve) => {
    waiting = resolve;
  });
  socket.write(`POST ${path} HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n`, "latin1");
  socket.write(body);
  const { status, body: answer } = await answered;
  if (status === 500 || /"code": -32603/.test(answer.slice(0, 200))) {
    const reasons = faults.splice(0).map((error) => error?.stack ?? String(error));
    throw new Error(`internal error of ${path}: ${reasons.join("\n")}`);
  }
  faults.length = 0;
  if (status === 0) throw new Error(`${path}: the connection was closed`);
}

const faults = [];
const quiet = {
  error: (_event, { error } = {}) => void faults.push(error),
  warn: () => {},
  info: () => {},
  debug: () => {},
  in: () => quiet,
  categories: "",
  change: () => {},
};

let node;
let wallet;
let folder;
const callsOf = (methods) => Object.values(methods).filter(({ name }) => !leftOut.has(name));

async function startNode() {
  node = createNode({ network: "regtest", offline: true, log: quiet, fixedDifficulty: 1n });
  await node.start();
  for (const { blob, txs } of recordedChain.blocks.slice(0, 120)) {
    for (const tx of txs) await post("/send_raw_transaction", { tx_as_hex: tx, do_sanity_checks: false });
    await post("/json_rpc", { method: "submit_block", params: [blob] });
  }
  if (node.chain.store.read.height() !== 121) throw new Error("the chain was not taken");
}

async function post(path, body) {
  const response = await fetch(`${node.urls[0]}${path}`, { method: "POST", body: JSON.stringify(body) });
  return response.json();
}

async function startWallet() {
  folder = mkdtempSync(join(tmpdir(), "anulo-fuzz-"));
  wallet = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    walletDirectory: folder,
    daemon: { url: "http://127.0.0.1:1" },
    trustedDaemon: true,
    network: "mainnet",
    restricted: false,
    dialect: "contract",
    log: quiet,
  });
  const params = {
    filename: "w",
    password: "",
    seed: wallets.a.mnemonic,
    restore_height: 0,
    language: "English",
  };
  const body = JSON.stringify({ method: "restore_deterministic_wallet", params });
  await fetch(`${wallet.url}/json_rpc`, { method: "POST", body });
}

export const targets = {
  "node-calls": {
    seeds: () => [],
    start: startNode,
    make: inputOf(callsOf(daemonMethods)),
    run: (input) => ask(() => node.urls[0], input),
    async stop() {
      socket?.destroy();
      await node.stop();
    },
  },
  "wallet-calls": {
    seeds: () => [],
    start: startWallet,
    make: inputOf(callsOf(walletMethods)),
    run: (input) => ask(() => wallet.url, input),
    async stop() {
      socket?.destroy();
      await wallet.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  },
};

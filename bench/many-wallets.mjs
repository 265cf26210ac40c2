// One wallet service with many open wallets: its memory and processor time at rest, what a block costs for each of them,
// how soon all have it, and how long balances take meanwhile. `node bench/many-wallets.mjs`, with
//   --wallets N     open wallets, of which every tenth can spend (1,000)
//   --blocks N      blocks that come while it is measured, one after the other (5)
//   --payments N    payments between strangers in each of them (50)
//   --rate N        balances asked a second meanwhile, of all wallets in turn (1,000)
//   --together N    further blocks that come at once (0)
//   --folder F      wallets are opened from there, and created there only if they are missing; kept
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { publicKeyBatch, scReduce32 } from "@anulo/crypto";
import { formatAddress, toHex } from "@anulo/protocol";
import { call, freePorts, startWallet } from "@anulo/testkit";
import { jsonRequest, openConnection } from "./load.mjs";
import { cpuSeconds, memoryMiB } from "./process.mjs";
import { startStrangers } from "./strangers.mjs";

/** Of the chain on which all begin. */
const FIRST_BLOCKS = 20;
let height = FIRST_BLOCKS;
const SPENDING_EVERY = 10;
const OPENED_AT_ONCE = 16;
const REST_SECONDS = 20;
const CONNECTIONS = 64;
/** Every so many wallets, one is watched for a new block: no divisor of the numbers that begin together. */
const WATCHED_EVERY = 19;
/** Longest wait for a block, in seconds. */
const PATIENCE = 600;
/** For 10,000 wallets. */
const MOST_MEMORY_MIB = 1024;

const options = { wallets: 1000, blocks: 5, payments: 50, rate: 1000, together: 0 };
let folder;
for (let at = 2; at < process.argv.length; at += 2) {
  const [name, value] = [process.argv[at].slice(2), process.argv[at + 1]];
  if (name === "folder") folder = value;
  else if (name in options) options[name] = Number(value.replaceAll(/[_,]/g, ""));
  else throw new Error(`unknown option --${name}`);
}

const nameOf = (i) => `w${String(i).padStart(5, "0")}`;
const urlOf = ({ url }, i) => `${url}/wallets/${nameOf(i)}`;

/** A wallet of random keys; every tenth has its spend key. */
function keysOf(i) {
  const secrets = [randomBytes(32), randomBytes(32)].map((bytes) => scReduce32(bytes));
  const [spendPublic, viewPublic] = secrets.map((secret) => publicKeyBatch(secret));
  const address = formatAddress({ kind: "standard", spendPublic, viewPublic }, "mainnet");
  const [spendkey, viewkey] = secrets.map((secret) => toHex(secret));
  return { address, viewkey, spendkey: i % SPENDING_EVERY === 0 ? spendkey : "" };
}

async function openOne(service, i) {
  const file = { filename: nameOf(i), password: "" };
  try {
    if (folder !== undefined) return await call(urlOf(service, i), "open_wallet", file);
  } catch {
    // It is created below.
  }
  await call(urlOf(service, i), "generate_from_keys", { ...file, ...keysOf(i), restore_height: 1 });
}

async function openAll(service) {
  let next = 0;
  const open = async () => {
    while (next < options.wallets) await openOne(service, next++);
  };
  await Promise.all(Array.from({ length: OPENED_AT_ONCE }, open));
}

/** A metric of the service. */
async function metric({ metricsPort }, name) {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)[1]);
}

const scanned = (service) => metric(service, "anulo_wallet_scanned_blocks_total");

/** Waits until the wallets have scanned so many blocks, all together. */
async function untilScanned(service, count) {
  const start = performance.now();
  for (;;) {
    const now = await scanned(service);
    if (now >= count) return;
    if (performance.now() - start > 1000 * PATIENCE)
      throw new Error(`${now} blocks scanned after ${PATIENCE} s, not ${count}`);
    await delay(50);
  }
}

/** Waits until every so many of the wallets are at the height of the chain; those of a folder may come from a longer one. */
async function untilThere(service, blocks, every) {
  const start = performance.now();
  for (let i = 0; i < options.wallets; i += every) {
    while ((await call(urlOf(service, i), "get_height")).height !== blocks) {
      if (performance.now() - start > 1000 * PATIENCE) throw new Error(`${nameOf(i)} is not at ${blocks}`);
      await delay(50);
    }
  }
}

/**
 * Asks for balances at a fixed rate, whether or not answers keep up, until the function it returns is called: the
 * milliseconds from when each was due.
 */
async function askBalances({ port }) {
  const took = [];
  const due = [];
  const idle = [];
  const body = { jsonrpc: "2.0", id: "0", method: "get_balance", params: { account_index: 0 } };
  const requests = Array.from({ length: options.wallets }, (_, i) =>
    jsonRequest(`/wallets/${nameOf(i)}/json_rpc`, body),
  );
  let asked = 0;
  // The connection that has rested longest is next: the service closes those that rest for long.
  const ask = (connection) => {
    if (due.length === 0) return idle.push(connection);
    connection.since = due.shift();
    connection.send(requests[(asked++ * 7919) % requests.length]);
  };
  const connections = Array.from({ length: CONNECTIONS }, () => {
    const connection = openConnection(port, () => {
      took.push(performance.now() - connection.since);
      ask(connection);
    });
    return connection;
  });
  await Promise.all(connections.map(({ opened }) => opened));
  idle.push(...connections);
  const start = performance.now();
  let count = 0;
  const timer = setInterval(() => {
    for (; count < (options.rate * (performance.now() - start)) / 1000; count++) {
      due.push(start + (1000 * count) / options.rate);
      if (idle.length > 0) ask(idle.shift());
    }
  }, 2);
  return async () => {
    clearInterval(timer);
    while (took.length < count) await delay(20);
    for (const { close } of connections) close();
    return took.sort((a, b) => a - b);
  };
}

const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

const rows = [];
function tell(what, value, unit, most) {
  const verdict = most === undefined ? "" : `  (${most} at most: ${value <= most ? "met" : "NOT MET"})`;
  console.log(`${what.padEnd(64)} ${value.toPrecision(4).padStart(10)} ${unit}${verdict}`);
  if (most !== undefined) rows.push(value <= most);
}

/**
 * Adds blocks; what they cost the service until all wallets have them. When they do is seen at every so many of them,
 * for the text of metrics is up to a second old; that shows afterwards that none is missing.
 */
async function follow(service, node, blocks) {
  const { pid } = service;
  const before = await scanned(service);
  const cpu = cpuSeconds(pid);
  const start = performance.now();
  height += blocks;
  node.extend({ blocks, payments: options.payments });
  await untilThere(service, height, WATCHED_EVERY);
  const seconds = (performance.now() - start) / 1000;
  await untilScanned(service, before + blocks * options.wallets);
  return { seconds, cpu: cpuSeconds(pid) - cpu };
}

async function measure(service, node) {
  const { wallets, payments, blocks } = options;
  const { pid } = service;
  await delay(5000);
  let cpu = cpuSeconds(pid);
  await delay(1000 * REST_SECONDS);
  const limit = wallets >= 10_000 ? MOST_MEMORY_MIB : undefined;
  tell("memory at rest", memoryMiB(pid), "MiB", limit);
  tell("  processor time at rest", (1000 * (cpuSeconds(pid) - cpu)) / REST_SECONDS, "ms/s");
  // Coinbase transactions are scanned too.
  const transactions = wallets * (payments + 1);
  const quiet = await follow(service, node, 1);
  tell("a block while nothing else is asked: all have it after", quiet.seconds, "s");
  tell("  processor time a wallet and transaction", (1e6 * quiet.cpu) / transactions, "µs", 10);
  const stop = await askBalances(service);
  await delay(3000);
  const all = [];
  cpu = cpuSeconds(pid);
  for (let i = 0; i < blocks; i++) {
    all.push(await follow(service, node, 1));
    await delay(1000);
  }
  const took = await stop();
  tell(
    "a block while balances are asked: all have it after, longest",
    Math.max(...all.map(({ seconds }) => seconds)),
    "s",
    4,
  );
  tell(`  balances, ${options.rate} a second: 50 %`, quantile(took, 0.5), "ms");
  tell("  99 %", quantile(took, 0.99), "ms", 100);
  tell("  100 %", quantile(took, 1), "ms");
  if (options.together > 0) {
    const run = await follow(service, node, options.together);
    tell(`${options.together} blocks at once: all have them after`, run.seconds, "s");
    tell(
      "  processor time a wallet and transaction",
      (1e6 * run.cpu) / transactions / options.together,
      "µs",
      10,
    );
  }
  tell("memory afterwards", memoryMiB(pid), "MiB");
  tell("  at most", memoryMiB(pid, "VmHWM"), "MiB");
}

const node = await startStrangers({ blocks: FIRST_BLOCKS, payments: 0 });
const [metricsPort] = await freePorts(1);
const most = ["--max-open-wallets", String(options.wallets + 1), "--metrics-bind", String(metricsPort)];
const extra = [...most, "--no-original-cache", "--allow-mismatched-daemon-version"];
const service = await startWallet(
  { kind: "ours" },
  { daemonPort: node.port, extra, ...(folder !== undefined && { walletDir: folder }) },
);
service.metricsPort = metricsPort;
try {
  console.log(`${options.wallets} wallets, blocks of ${options.payments} payments`);
  const start = performance.now();
  await openAll(service);
  const cpu = cpuSeconds(service.pid) / options.wallets;
  tell("all are open after", (performance.now() - start) / 1000, "s");
  tell("  processor time a wallet", 1000 * cpu, "ms");
  await untilThere(service, FIRST_BLOCKS, 1);
  await measure(service, node);
} finally {
  await service.stop();
  await node.stop();
}
process.exit(rows.every((isMet) => isMet) ? 0 : 1);

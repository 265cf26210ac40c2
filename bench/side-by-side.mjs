// One wallet service with many open wallets beside as many original processes, one wallet each: processor time and memory
// of following blocks as they come, each by its own automatic refresh. `node bench/side-by-side.mjs`, with
//   --wallets N   wallets (100)
//   --blocks N    blocks that come while it is measured (1,000)
//   --release R   release of the original: today, whose programs are where ANULO_TODAY_PROGRAMS says, or installed
import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { publicKeyBatch, scReduce32 } from "@anulo/crypto";
import { formatAddress, toHex } from "@anulo/protocol";
import { call, startDaemon, startWallet } from "@anulo/testkit";
import { cpuSeconds, memoryMiB } from "./process.mjs";

/** Of the chain on which all begin. */
const FIRST_BLOCKS = 20;
const BLOCKS_AT_ONCE = 20;
const PAUSE_MS = 2000;
const STARTED_AT_ONCE = 4;
/** A side is at rest when its processes take less than a fiftieth of a core together, or after so many looks. */
const REST_MS = 3000;
const MOST_SECONDS_AT_REST = REST_MS / 1000 / 50;
const LOOKS = 30;
const MAX_MEMORY_SHARE = 0.05;
const MAX_CPU_SHARE = 0.3;

const options = { wallets: 100, blocks: 1000, release: "today" };
for (let at = 2; at < process.argv.length; at += 2) {
  const name = process.argv[at].slice(2);
  if (!(name in options)) throw new Error(`unknown option --${name}`);
  const text = process.argv[at + 1];
  options[name] = name === "release" ? text : Number(text.replaceAll(/[_,]/g, ""));
}

function randomKeys() {
  const secrets = [randomBytes(32), randomBytes(32)].map((bytes) => scReduce32(bytes));
  const [spendPublic, viewPublic] = secrets.map((secret) => publicKeyBatch(secret));
  const [spendkey, viewkey] = secrets.map((secret) => toHex(secret));
  return {
    address: formatAddress({ kind: "standard", spendPublic, viewPublic }, "mainnet"),
    viewkey,
    spendkey,
  };
}

const keys = Array.from({ length: options.wallets }, randomKeys);

/** Creates the wallet at the URL and returns a function that asks for its height. */
async function createWallet(url, i) {
  const file = { filename: `w${i}`, password: "", restore_height: 1 };
  await call(url, "generate_from_keys", { ...file, ...keys[i] });
  return async () => Number((await call(url, "get_height")).height);
}

/** Starts so many of something, a few at a time. */
async function startMany(count, start) {
  const all = [];
  for (let next = 0; next < count; next += STARTED_AT_ONCE) {
    const some = Array.from({ length: Math.min(STARTED_AT_ONCE, count - next) }, (_, i) => next + i);
    all.push(...(await Promise.all(some.map(start))));
  }
  return all;
}

const sides = {
  async ours(node) {
    const extra = ["--max-open-wallets", `${options.wallets + 1}`];
    const service = await startWallet({ kind: "ours" }, { daemonPort: node.port, extra });
    const heights = await startMany(options.wallets, (i) => createWallet(`${service.url}/wallets/w${i}`, i));
    return { services: [service], heights };
  },
  async original(node) {
    const maker = options.release === "today" ? { kind: "real", release: "today" } : { kind: "real" };
    const services = await startMany(options.wallets, () => startWallet(maker, { daemonPort: node.port }));
    const heights = await startMany(options.wallets, (i) => createWallet(services[i].url, i));
    return { services, heights };
  },
};

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

async function untilAt(height, heights) {
  for (const heightOf of heights) while ((await heightOf()) < height) await delay(200);
}

/** Waits for whatever goes on after opening, such as addresses ahead; seconds of processor time so far. */
async function untilAtRest(services) {
  const used = () => sum(services.map(({ pid }) => cpuSeconds(pid)));
  let now = used();
  for (let look = 0; look < LOOKS; look++) {
    const before = now;
    await delay(REST_MS);
    now = used();
    if (now - before <= MOST_SECONDS_AT_REST) break;
  }
  return now;
}

async function mine(node, amount_of_blocks) {
  const { height } = await call(node.url, "generateblocks", {
    amount_of_blocks,
    wallet_address: keys[0].address,
  });
  return Number(height) + 1;
}

/** Seconds of processor time and MiB of memory of following the blocks, all processes of the side together. */
async function measure(side) {
  const node = await startDaemon({ kind: "ours" });
  const started = [];
  try {
    await mine(node, FIRST_BLOCKS);
    const { services, heights } = await sides[side](node);
    started.push(...services);
    await untilAt(FIRST_BLOCKS + 1, heights);
    const before = await untilAtRest(services);
    let height;
    for (let left = options.blocks; left > 0; left -= BLOCKS_AT_ONCE) {
      height = await mine(node, Math.min(BLOCKS_AT_ONCE, left));
      await delay(PAUSE_MS);
    }
    await untilAt(height, heights);
    return {
      cpu: sum(services.map(({ pid }) => cpuSeconds(pid))) - before,
      memory: sum(services.map(({ pid }) => memoryMiB(pid))),
    };
  } finally {
    await Promise.all(started.map((service) => service.stop()));
    await node.stop();
  }
}

const ours = await measure("ours");
console.log(`ours: ${ours.cpu.toFixed(2)} s of processor time, ${ours.memory.toFixed(0)} MiB`);
const original = await measure("original");
console.log(
  `${options.wallets} original processes: ${original.cpu.toFixed(2)} s, ${original.memory.toFixed(0)} MiB`,
);
const shares = [
  ["processor time", ours.cpu / original.cpu, MAX_CPU_SHARE],
  ["memory", ours.memory / original.memory, MAX_MEMORY_SHARE],
];
for (const [what, share, most] of shares)
  console.log(`${what}: ${share.toFixed(3)} (${most} at most: ${share <= most ? "met" : "NOT MET"})`);
process.exit(shares.every(([, share, most]) => share <= most) ? 0 : 1);

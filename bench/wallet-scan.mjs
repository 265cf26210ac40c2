// Our wallet service while it scans 20,000 blocks, of which 10,000 pay it, and when it starts with all of that.
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { call, loadChain, startDaemon, startWallet } from "@anulo/testkit";
import { methodRequest, openConnection } from "./load.mjs";
import { PAYMENTS as PAID_BY_STRANGERS, startStrangers } from "./strangers.mjs";
import { timed } from "./timing.mjs";
import { restore } from "./wallets.mjs";

const BLOCKS = 20_000;
const PAYMENTS = 10_000;
const BLOCKS_PER_CALL = 500;
const PER_SECOND = 50;
const ADDRESSES = 10_000;
const ADDRESSES_PER_CALL = 64;

const reads = [
  methodRequest("get_balance", { account_index: 0 }),
  methodRequest("get_height"),
  methodRequest("get_address", { account_index: 0 }),
  methodRequest("get_transfers", { in: true, out: true, filter_by_height: true, min_height: BLOCKS - 100 }),
  methodRequest("incoming_transfers", { transfer_type: "unavailable" }),
];

/** A chain on which every other run of blocks pays alice, the others bob. */
async function mine(url, { alice, bob }) {
  for (let height = 0; height < BLOCKS; height += BLOCKS_PER_CALL) {
    const pays = (height / BLOCKS_PER_CALL) % (BLOCKS / PAYMENTS) === 0 ? alice : bob;
    await call(url, "generateblocks", {
      amount_of_blocks: BLOCKS_PER_CALL,
      wallet_address: pays.address,
    });
  }
}

/** Milliseconds one answer takes, and its size in bytes. Throws unless it is HTTP 200. */
export async function answerTime(port, request) {
  let answered = () => {};
  const done = new Promise((resolve) => {
    answered = resolve;
  });
  const connection = openConnection(port, (size) => answered(size));
  await connection.opened;
  const start = performance.now();
  connection.send(request);
  const bytes = await done;
  connection.close();
  return { took: performance.now() - start, bytes };
}

/** Asks at a fixed rate until `task` is over, whether or not answers keep up: the milliseconds each took, ascending. */
async function readMeanwhile(port, task) {
  const pending = [];
  let asked = 0;
  const timer = setInterval(() => {
    pending.push(answerTime(port, reads[asked++ % reads.length]));
  }, 1000 / PER_SECOND);
  try {
    await task;
  } finally {
    clearInterval(timer);
  }
  return (await Promise.all(pending)).map(({ took }) => took).sort((a, b) => a - b);
}

const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

async function addAddresses(url) {
  for (let have = 1; have < ADDRESSES; have += ADDRESSES_PER_CALL) {
    const count = Math.min(ADDRESSES_PER_CALL, ADDRESSES - have);
    await call(url, "create_address", { account_index: 0, count });
  }
}

/** Starts the service on the wallet: milliseconds until it listens, and of the first long answer. */
async function measureStart(node, walletDir) {
  let wallet;
  const first = ["--wallet-file", join(walletDir, "alice"), "--password", ""];
  const listening = await timed(async () => {
    wallet = await startWallet({ kind: "ours" }, { daemonPort: node.port, walletDir, first });
  });
  try {
    await call(wallet.url, "auto_refresh", { enable: false });
    const list = methodRequest("get_transfers", { in: true });
    const cold = await answerTime(wallet.port, list);
    const warm = await answerTime(wallet.port, list);
    return { listening: 1000 * listening, first: cold.took, again: warm.took };
  } finally {
    await wallet.stop();
  }
}

/** Seconds of a rescan with nothing else to do, with so many threads, of a chain on which others pay each other. */
async function rescanOfStrangers(node, { alice }, threads) {
  const extra = ["--max-concurrency", `${threads}`];
  const wallet = await startWallet({ kind: "ours" }, { daemonPort: node.port, extra });
  try {
    await restore(wallet.url, alice);
    return await timed(() => call(wallet.url, "rescan_blockchain"));
  } finally {
    await wallet.stop();
  }
}

async function measureThreads(wallets) {
  const node = await startStrangers();
  try {
    const seconds = [];
    for (const threads of [1, availableParallelism()])
      seconds.push([threads, await rescanOfStrangers(node, wallets, threads)]);
    return seconds.map(([threads, took]) => ({
      name: `rescan of ${PAID_BY_STRANGERS} payments of others, threads: ${threads}`,
      unit: "payments/s",
      ours: PAID_BY_STRANGERS / took,
      native: Number.NaN,
    }));
  } finally {
    await node.stop();
  }
}

export async function measure() {
  const { wallets } = loadChain();
  const threads = await measureThreads(wallets);
  const node = await startDaemon({ kind: "ours" });
  let wallet;
  try {
    await mine(node.url, wallets);
    wallet = await startWallet({ kind: "ours" }, { daemonPort: node.port });
    await restore(wallet.url, wallets.alice);
    const rescan = async () => call(wallet.url, "rescan_blockchain");
    let seconds = 0;
    const took = await readMeanwhile(
      wallet.port,
      timed(rescan).then((each) => {
        seconds = each;
      }),
    );
    await addAddresses(wallet.url);
    await call(wallet.url, "close_wallet");
    const start = await measureStart(node, wallet.walletDir);
    const ours = (name, unit, value, most) => ({
      name,
      unit,
      ours: value,
      native: Number.NaN,
      ...(most === undefined ? {} : { most }),
    });
    return [
      ...threads,
      ours(`rescan of ${BLOCKS} blocks, 50 reads a second`, "blocks/s", BLOCKS / seconds),
      ours("  reads meanwhile: 50 %", "ms", quantile(took, 0.5)),
      ours("  reads meanwhile: 99 %", "ms", quantile(took, 0.99), 100),
      ours("  reads meanwhile: 100 %", "ms", quantile(took, 1)),
      ours("start, 10,000 addresses and payments: listening", "ms", start.listening, 2000),
      ours("  get_transfers of 10,000, first time", "ms", start.first, 200),
      ours("  get_transfers of 10,000, again", "ms", start.again, 200),
    ];
  } finally {
    await wallet?.stop();
    await node.stop();
  }
}

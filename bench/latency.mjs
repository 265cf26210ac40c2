// How long get_info takes when it is asked for 1,000 times a second while blocks come in, ours and monerod's.
import { setTimeout as delay } from "node:timers/promises";
import { call, loadBlocks, loadChain, startDaemon } from "@anulo/testkit";
import { methodRequest, openConnection } from "./load.mjs";
import { prepareSource } from "./source.mjs";

const PER_SECOND = 1000;
const CONNECTIONS = 16;
const TICK_MS = 2;
const WARM_UP = 100;
/** How long a node is asked before there is a peer to fetch from. */
const QUIET_MS = 3000;

/**
 * Asks at a fixed rate, whether or not the answers keep up. `end` ends it and gives the milliseconds that each took
 * since `begin`.
 */
async function askSteadily(port) {
  const request = methodRequest("get_info");
  const took = [];
  const lines = Array.from({ length: CONNECTIONS }, () => {
    const waiting = [];
    const line = { waiting, isBusy: false };
    line.connection = openConnection(port, () => {
      took.push(performance.now() - waiting.shift());
      line.isBusy = waiting.length > 0;
      if (line.isBusy) line.connection.send(request);
    });
    return line;
  });
  await Promise.all(lines.map(({ connection }) => connection.opened));
  const start = performance.now();
  let asked = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - start) * PER_SECOND) / 1000);
    for (; asked < due; asked++) {
      const line = lines[asked % CONNECTIONS];
      // Counted from when it was due, so that a generator held up does not flatter the node.
      line.waiting.push(start + (asked * 1000) / PER_SECOND);
      if (line.isBusy) continue;
      line.isBusy = true;
      line.connection.send(request);
    }
  }, TICK_MS);
  return {
    begin() {
      took.length = 0;
    },
    async end() {
      clearInterval(timer);
      while (lines.some(({ isBusy }) => isBusy)) await delay(5);
      for (const { connection } of lines) connection.close();
      return took.sort((a, b) => a - b);
    },
  };
}

const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

/** While blocks are submitted one after the other. */
async function whileSubmitting(maker, blocks) {
  const node = await startDaemon(maker);
  try {
    // The first blocks pay for threads that start.
    await loadBlocks(node.url, blocks.slice(0, WARM_UP));
    const asking = await askSteadily(node.port);
    await loadBlocks(node.url, blocks.slice(WARM_UP));
    return await asking.end();
  } finally {
    await node.stop();
  }
}

/** While a node that has been up for a while fetches the chain from a peer. */
async function whileFetching(maker, source) {
  const node = await startDaemon(maker, { peers: [source.address] });
  try {
    const asking = await askSteadily(node.port);
    await delay(QUIET_MS);
    await source.open();
    asking.begin();
    while (Number((await call(node.url, "get_info")).height) < source.height) await delay(100);
    return await asking.end();
  } finally {
    await node.stop();
    await source.close();
  }
}

function rowsOf(name, { ours, native }) {
  const row = (share, more) => {
    const title = `get_info, 1,000/s while ${name}: ${100 * share} %`;
    return { name: title, unit: "ms", ours: quantile(ours, share), native: quantile(native, share), ...more };
  };
  return [row(0.5, {}), row(0.99, { most: 100 }), row(1, {})];
}

async function onBoth(run) {
  return { native: await run({ kind: "real" }), ours: await run({ kind: "ours" }) };
}

/** Rows of the table: half and 99 of 100 answers within so many milliseconds. */
export async function measure() {
  const { blocks } = loadChain();
  const submitted = await onBoth((maker) => whileSubmitting(maker, blocks));
  const source = await prepareSource(1, blocks);
  try {
    const fetched = await onBoth((maker) => whileFetching(maker, source));
    return [
      ...rowsOf(`${blocks.length - WARM_UP} blocks are submitted`, submitted),
      ...rowsOf(`${blocks.length} blocks are fetched`, fetched),
    ];
  } finally {
    await source.remove();
  }
}

// How long get_info takes when it is asked for 1,000 times a second while blocks come in, ours and monerod's.
import { loadBlocks, loadChain, startDaemon } from "@anulo/testkit";
import { methodRequest, openConnection } from "./load.mjs";

const PER_SECOND = 1000;
const CONNECTIONS = 8;
const TICK_MS = 2;
const WARM_UP = 100;

/** Asks at a fixed rate, whether or not the answers keep up; gives what ends it: the milliseconds each took. */
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
  return async () => {
    clearInterval(timer);
    while (lines.some(({ isBusy }) => isBusy)) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const { connection } of lines) connection.close();
    return took.sort((a, b) => a - b);
  };
}

const quantile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

async function measureSide(maker, blocks) {
  const node = await startDaemon(maker);
  try {
    // The first blocks pay for threads that start.
    await loadBlocks(node.url, blocks.slice(0, WARM_UP));
    const end = await askSteadily(node.port);
    await loadBlocks(node.url, blocks.slice(WARM_UP));
    return await end();
  } finally {
    await node.stop();
  }
}

/** Rows of the table: half and 99 of 100 answers within so many milliseconds. */
export async function measure() {
  const { blocks } = loadChain();
  const native = await measureSide({ kind: "real" }, blocks);
  const ours = await measureSide({ kind: "ours" }, blocks);
  const row = (share, more) => {
    const name = `get_info, 1,000/s while ${blocks.length - WARM_UP} blocks come in: ${100 * share} %`;
    return { name, unit: "ms", ours: quantile(ours, share), native: quantile(native, share), ...more };
  };
  return [row(0.5, {}), row(0.99, { most: 100 }), row(1, {})];
}

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createNode, type Node } from "@anulo/node";
import { parsePeerAddress } from "@anulo/p2p";
import { call, freePorts, type RunningDaemon, startDaemon } from "@anulo/testkit";
import { makerOf, needsReleases } from "../actors.ts";
import { loadEras } from "../eras/fixture.ts";
import { chainHeight, forkHeights, networkWithForks } from "../eras/plan.ts";
import { ask, type Question, questionsAt } from "../eras/questions.ts";
import { walkEras } from "../eras/walk.ts";
import { until } from "./peer-actors.ts";

/** The chain is recorded from 0.18.0.0: later releases keep payments of some eras out of their pool. */
const recorded = makerOf("real", "upstream", "installed");

/** Forks whose trials the original repeats: it takes half a minute for each. All fifteen are with ours each time. */
const repeated =
  process.env.ANULO_ERAS_TRIALS === "all" ? forkHeights : forkHeights.filter((_, i) => i % 5 === 2);

/** Leads the original along the chain, and leaves it in the folder. */
async function walkRecorded(dataDir: string, t: TestContext): Promise<void> {
  const [port] = await freePorts(1);
  const open = () => startDaemon(recorded, { dataDir, forkHeights, port: port! });
  let daemon = await open();
  try {
    const walk = await walkEras(daemon.url, loadEras(), {
      isTried: (height) => repeated.includes(height),
      // It remembers whom it refused, and counts blocks twice that it popped.
      afterTrial: async () => {
        await daemon.stop();
        daemon = await open();
      },
    });
    const { counts, ...differences } = walk;
    t.diagnostic(JSON.stringify(counts));
    assert.deepEqual(differences, { blocks: [], answers: [], transactions: [], strangeBlocks: [] });
  } finally {
    await daemon.stop();
  }
}

/** A node of ours that speaks to one peer alone, and whom others may call. */
async function startOurs(peerPort: number): Promise<Node> {
  const node = createNode({
    network: networkWithForks(forkHeights),
    fixedDifficulty: 1n,
    dialect: "upstream",
    peers: {
      listen: [{ host: "127.0.0.1", port: 0 }],
      nodes: { exclusive: [parsePeerAddress(`127.0.0.1:${peerPort}`)] },
      allowLocal: true,
      maxPerIp: 100,
    },
  });
  await node.start();
  return node;
}

/** What is asked beside the questions of the walk. */
const atTheEnd: Question[] = [
  ...[1, 2, 7, 14, 15, 16, 17, 255].map((version) => ({ method: "hard_fork_info", params: { version } })),
  ...[0, 1, 50, 99].map((grace_blocks) => ({
    method: "get_fee_estimate",
    params: { grace_blocks },
  })),
  ...[97, 98, 99, 219, 387].map((height) => ({
    method: "get_coinbase_tx_sum",
    params: { height, count: 5 },
  })),
  { method: "get_block_headers_range", params: { start_height: 0, end_height: chainHeight - 1 } },
  { method: "get_block_headers_range", params: { start_height: 440, end_height: 445, fill_pow_hash: true } },
];

/** The original alone takes a minute to verify the chain, more on a busy machine. */
const withinMs = 600_000;

async function hasChain(url: string): Promise<boolean> {
  return Number((await call(url, "get_info", {})).height) === chainHeight;
}

/** Waits for work that needs a program; rejects, with what the program printed, if it ends before. */
function whileRuns({ ended, output }: RunningDaemon, work: Promise<void>): Promise<void> {
  const failed = ended.then((code) => {
    throw new Error(`a program ended with ${code}:\n${output()}`);
  });
  return Promise.race([work, failed]);
}

/** The chain in the folder goes to ours, and on to today's release; the three say the same of it. */
async function syncOn(dataDir: string): Promise<void> {
  const endings: (() => Promise<void>)[] = [];
  try {
    const first = await startDaemon(recorded, { forkHeights, dataDir, peers: [] });
    endings.push(() => first.stop());
    const ours = await startOurs(first.p2pPort);
    endings.push(() => ours.stop());
    const url = ours.urls[0]!;
    await whileRuns(
      first,
      until("ours has the chain", () => hasChain(url), withinMs),
    );
    const last = await startDaemon(makerOf("real"), {
      forkHeights,
      peers: [`127.0.0.1:${ours.peerPorts[0]}`],
    });
    endings.push(() => last.stop());
    await whileRuns(
      last,
      until("today's has the chain", () => hasChain(last.url), withinMs),
    );
    const lasting = questionsAt(chainHeight).filter(({ method }) => method !== "get_info");
    for (const question of [...lasting, ...atTheEnd]) {
      const expected = await ask(first.url, question);
      assert.deepEqual(await ask(url, question), expected);
      assert.deepEqual(await ask(last.url, question), expected);
    }
  } finally {
    for (const end of endings.reverse()) await end();
  }
}

test("a chain of all eras", needsReleases("installed", "today"), async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), "anulo-eras-"));
  try {
    await t.test("0.18.0.0 with its forks moved says of it what is recorded", (part) =>
      walkRecorded(dataDir, part),
    );
    await t.test("it goes from there to ours, and on to today's release", () => syncOn(dataDir));
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createNode, type Node } from "@anulo/node";
import { parsePeerAddress } from "@anulo/p2p";
import { call, type DaemonOptions } from "@anulo/testkit";
import { needsRealPrograms, onStage, type Stage } from "../actors.ts";
import { loadEras } from "../eras/fixture.ts";
import { chainHeight, forkHeights, networkWithForks } from "../eras/plan.ts";
import { ask, type Question, questionsAt } from "../eras/questions.ts";
import { walkEras } from "../eras/walk.ts";
import { until } from "./peer-actors.ts";

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

const heightOf = async (url: string) => Number((await call(url, "get_info", {})).height);

test(
  "a chain of all eras goes from the original to ours, and on to the original",
  needsRealPrograms,
  async () => {
    const eras = loadEras();
    const dataDir = mkdtempSync(join(tmpdir(), "anulo-eras-"));
    const daemon = (stage: Stage, options: DaemonOptions) =>
      stage.daemon("real", "upstream", { forkHeights, ...options });
    try {
      await onStage(async (stage) => {
        const { url } = await daemon(stage, { dataDir });
        await walkEras(url, eras, { isTried: () => false });
      });
      await onStage(async (stage) => {
        const first = await daemon(stage, { dataDir, peers: [] });
        const ours = await startOurs(first.p2pPort);
        try {
          const url = ours.urls[0]!;
          const hasChain = (at: string) => async () => (await heightOf(at)) === chainHeight;
          await until("ours has the chain", hasChain(url), withinMs);
          const last = await daemon(stage, { peers: [`127.0.0.1:${ours.peerPorts[0]}`] });
          await until("the last has the chain", hasChain(last.url), withinMs);
          const lasting = questionsAt(chainHeight).filter(({ method }) => method !== "get_info");
          for (const question of [...lasting, ...atTheEnd]) {
            const expected = await ask(first.url, question);
            assert.deepEqual(await ask(url, question), expected);
            assert.deepEqual(await ask(last.url, question), expected);
          }
        } finally {
          await ours.stop();
        }
      });
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  },
);

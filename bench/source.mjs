// A node to fetch blocks from.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadBlocks, startDaemon } from "@anulo/testkit";

const original = { kind: "real" };

/** A node of the original that has a chain and waits for peers, once it is opened and until it is closed. */
export async function prepareSource(difficulty, blocks) {
  const dataDir = mkdtempSync(join(tmpdir(), "anulo-"));
  const offline = await startDaemon(original, { dataDir, difficulty });
  await loadBlocks(offline.url, blocks);
  await offline.stop();
  const { p2pPort } = offline;
  let running;
  return {
    address: `127.0.0.1:${p2pPort}`,
    height: blocks.length + 1,
    difficulty,
    async open() {
      running = await startDaemon(original, { dataDir, difficulty, p2pPort, peers: [] });
    },
    async close() {
      await running?.stop();
      running = undefined;
    },
    async remove() {
      await this.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

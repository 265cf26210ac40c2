import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { freePorts, startDaemon } from "@anulo/testkit";
import { needsRealPrograms } from "../actors.ts";
import { loadEras } from "../eras/fixture.ts";
import { forkHeights } from "../eras/plan.ts";
import { walkEras } from "../eras/walk.ts";

test(
  "the real node with its forks moved says of the chain of eras what is recorded",
  needsRealPrograms,
  async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), "anulo-eras-"));
    const [port] = await freePorts(1);
    const open = () => startDaemon({ kind: "real" }, { dataDir, forkHeights, port: port! });
    let daemon = await open();
    try {
      const walk = await walkEras(daemon.url, loadEras(), {
        isTried: (height) => forkHeights.includes(height),
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
      rmSync(dataDir, { recursive: true });
    }
  },
);

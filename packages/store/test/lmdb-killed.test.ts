import { join } from "node:path";
import { test } from "node:test";
import { openLmdbEngine } from "../src/index.ts";
import { WALLETS } from "./forever-tables.ts";
import { temporaryFolder } from "./harness.ts";
import { checkWritten, startWriter } from "./killed.ts";

const KILLS = 8;

test("a writer killed at any moment has lost nothing it told of, and left no change in part", async () => {
  const { folder, remove } = temporaryFolder();
  const path = join(folder, "store.mdb");
  const told = Array.from({ length: WALLETS }, () => 0);
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      const writer = startWriter(path, folder);
      await writer.tells(1 + 13 * kill);
      await writer.kill();
      for (const [number, generation] of writer.told.entries())
        told[number] = Math.max(told[number]!, generation);
      const engine = openLmdbEngine(path);
      await checkWritten(engine, folder, told);
      await engine.close();
    }
  } finally {
    remove();
  }
});

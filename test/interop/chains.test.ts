import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { exportChain } from "@anulo/node";
import { toHex } from "@anulo/protocol";
import { BadSource, openChainSource } from "@anulo/storage";
import { call, type ExactObject, loadBlocks, loadChain, originalProgram, startDaemon } from "@anulo/testkit";
import { makerOf, needsReleases, usualRelease } from "../actors.ts";
import { importInto, recordedBlocks, recordedIds, withChain } from "../exchange/chains.ts";

const run = promisify(execFile);
const releases = ["today", "installed"] as const;

/** Up to the first block with payments, and some more. */
const BLOCKS = recordedBlocks.findIndex(({ transactions }) => transactions.length > 0) + 6;

/** What is compared of every header. */
function factsOf(header: ExactObject): readonly string[] {
  return ["hash", "block_weight", "long_term_weight", "cumulative_difficulty", "timestamp"].map((name) =>
    String(header[name]),
  );
}

/** The ids of a source's blocks by their count: each builds on the one before, so that the last stands for all. */
function countBlocks(path: string): number {
  const source = openChainSource(path, "regtest");
  try {
    return [...source.blocks({ height: 0, transactionsBefore: 0 })].length;
  } finally {
    source.close();
  }
}

test(
  "chains come from and go to today's release: same blocks, same headers, same bytes, those of 0.18.0.0 too",
  needsReleases(...releases),
  async (t) => {
    const root = mkdtempSync(join(tmpdir(), "anulo-test-"));
    t.after(() => rmSync(root, { recursive: true, force: true }));
    const data = join(root, "monerod");
    mkdirSync(data);
    const daemon = await startDaemon(makerOf("real"), { dataDir: data });
    let headers: readonly (readonly string[])[];
    try {
      await loadBlocks(daemon.url, loadChain().blocks.slice(0, BLOCKS - 1));
      const range = { start_height: 0, end_height: BLOCKS - 1 };
      const answer = await call(daemon.url, "get_block_headers_range", range);
      headers = (answer.headers as ExactObject[]).map(factsOf);
      // A lock of the system shows who has it open, where it shows locks at all.
      if (existsSync("/proc/locks")) {
        await assert.rejects(
          importInto(join(root, "early.mdb"), { from: data }),
          (error: unknown) =>
            error instanceof BadSource && /process \d+ has it open: stop monerod/.test(error.message),
        );
      }
    } finally {
      await daemon.stop();
    }
    const before = readFileSync(join(data, "fake/lmdb/data.mdb"));
    const path = join(root, "ours.mdb");
    const found = await importInto(path, { from: data });
    assert.deepEqual([found.height, toHex(found.topId)], [BLOCKS, recordedIds[BLOCKS - 1]]);
    assert.deepEqual(readFileSync(join(data, "fake/lmdb/data.mdb")), before);
    await withChain(path, (reader) => {
      const own = reader
        .blockInfos(0, BLOCKS)
        .map((info) => [
          toHex(info.hash),
          info.weight,
          info.longTermWeight,
          info.cumulativeDifficulty,
          info.timestamp,
        ]);
      assert.deepEqual(
        own.map((facts) => facts.map(String)),
        headers,
      );
    });

    const exported = join(root, "blockchain.raw");
    await exportChain({ network: "regtest", databasePath: path, to: exported });
    // Its exporter knows no regtest, or ends on it; the file of mainnet has the same first block.
    const copy = join(root, "copy");
    cpSync(join(data, "fake"), copy, { recursive: true });
    for (const release of releases) {
      const theirs = join(root, `${release}.raw`);
      const args = ["--data-dir", copy, "--output-file", theirs];
      await run(originalProgram("monero-blockchain-export", release), args);
      assert.deepEqual(readFileSync(exported), readFileSync(theirs), release);
    }

    const back = join(root, "back");
    const flags = ["--regtest", "--fixed-difficulty", "1", "--offline", "--disable-dns-checkpoints"];
    const input = ["--data-dir", back, "--input-file", exported, "--check-updates", "disabled"];
    mkdirSync(back);
    await run(originalProgram("monero-blockchain-import", usualRelease), [...flags, ...input]);
    assert.equal(countBlocks(back), BLOCKS);
    const again = await importInto(join(root, "again.mdb"), { from: back });
    assert.equal(toHex(again.topId), recordedIds[BLOCKS - 1]);
  },
);

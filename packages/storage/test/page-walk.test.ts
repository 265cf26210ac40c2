import assert from "node:assert/strict";
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { DamagedDatabase } from "../src/damage.ts";
import { type MetaPage, newestMeta, readMetaPages, readPageSize } from "../src/meta-pages.ts";
import { openStore } from "../src/open-store.ts";
import { checkPages, type PageCheck } from "../src/page-walk.ts";
import { bytesOf, sampleBlock } from "./sample-blocks.ts";
import { waitingTransaction } from "./waiting-transaction.ts";

// Closes a class of losses: a root page that is whole and describes another tree than the file has.

let folder = "";
let file = 0;
let meta: MetaPage;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "anulo-pages-"));
  const path = join(folder, "chain.mdb");
  const store = await openStore({ path, network: "regtest" });
  for (let height = 0; height < 60; height++)
    store.write((writer) => writer.appendBlock(sampleBlock(height)));
  // LMDB leaves a value that becomes shorter within a transaction on as many pages as before.
  for (const change of ["once", "twice"]) {
    store.write((writer) => {
      for (const bytes of [50_000, 9000, 20_000, 10])
        writer.putPoolTransaction(bytesOf("becomes shorter"), waitingTransaction(bytes));
      writer.putPoolTransaction(bytesOf(change), waitingTransaction(30_000));
    });
  }
  await store.close();
  file = openSync(path, "r");
  meta = newestMeta(readMetaPages(file, readPageSize(file)));
});
after(() => {
  closeSync(file);
  rmSync(folder, { recursive: true, force: true });
});

/** Walks all of a state, in either order. */
function walk(state: MetaPage, isDepthFirst: boolean, maxQueued?: number): PageCheck {
  const steps = checkPages(file, state, { isDepthFirst, ...(maxQueued !== undefined && { maxQueued }) });
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

for (const isDepthFirst of [true, false]) {
  describe(isDepthFirst ? "from branch to branch" : "level by level", () => {
    const refused = (state: Partial<MetaPage>, what: RegExp) =>
      assert.throws(
        () => walk({ ...meta, ...state }, isDepthFirst),
        (error) => error instanceof DamagedDatabase && what.test(error.message),
        String(what),
      );

    test("a sound state is walked whole", () => {
      const { isComplete, pages } = walk(meta, isDepthFirst);
      assert.equal(isComplete, true);
      assert.ok(pages > 20 && pages < fstatSync(file).size / meta.pageSize);
    });

    test("a tree that counts more or less than it has is refused", () => {
      for (const tree of ["main", "free"] as const) {
        for (const what of ["branchPages", "leafPages", "longPages", "entries"] as const) {
          for (const by of [-1, 1]) {
            const record = { ...meta[tree], [what]: meta[tree][what] + by };
            refused({ [tree]: record }, new RegExp(`${what} where ${record[what]} belong`));
          }
        }
      }
    });

    test("pages outside the file, or of a later state, are refused", () => {
      for (const root of [0, 1, meta.lastPage + 1])
        refused({ main: { ...meta.main, root } }, /is outside the file/);
      refused({ lastPage: meta.main.root! - 1 }, /is outside the file/);
      refused({ commit: 1 }, /is no page of it/);
    });
  });
}

test("of a file with more pages than may wait, some are checked and it is not called complete", () => {
  const whole = walk(meta, false);
  const partial = walk(meta, false, 10);
  assert.equal(partial.isComplete, false);
  assert.ok(partial.pages > 10 && partial.pages < whole.pages);
});

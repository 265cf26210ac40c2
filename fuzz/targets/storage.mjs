import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DamagedDatabase } from "../../packages/storage/dist/src/damage.js";
import * as layout from "../../packages/storage/dist/src/layout.js";
import { BadSource } from "../../packages/storage/dist/src/sources/chain-source.js";
import { openChainSource } from "../../packages/storage/dist/src/sources/open-source.js";
import { tables } from "../../packages/storage/dist/src/tables.js";
import { monerodFile } from "../../test/dist/exchange/monerod-file.js";
import { recordedBlocks } from "../corpus.mjs";

const sizes = [0, 1, 4, 8, 16, 32, 40, 48, 72, 92, 100, 113, 117, 129, 200];
const refusals = [DamagedDatabase];

const scratch = mkdtempSync(join(tmpdir(), "anulo-fuzz-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));

function monerodSeed(pruningSeed) {
  const parts = {
    pruned: new Uint8Array(80),
    prunable: new Uint8Array(300),
    prunableHash: new Uint8Array(32),
  };
  const blocks = recordedBlocks.slice(0, 6).map((blob) => ({ blob, transactions: [parts], weight: 9 }));
  return monerodFile(blocks, { pageSize: 1024, width: 4, pruningSeed });
}

export const targets = {
  "monerod-database": {
    seeds: () => [monerodSeed(0), monerodSeed(387)],
    refusals: [BadSource],
    run(input) {
      const path = join(scratch, "data.mdb");
      writeFileSync(path, input);
      const source = openChainSource(path, "regtest");
      try {
        let count = 0;
        for (const _ of source.blocks({ height: 0, transactionsBefore: 0 })) count++;
        // Each has a row of its own.
        if (count > input.length) throw new Error("more blocks than bytes");
      } finally {
        source.close();
      }
    },
  },
  "database-rows": {
    seeds: () => sizes.map((size) => new Uint8Array(size).fill(1)),
    run(input) {
      for (const { key, value } of Object.values(tables)) {
        for (const field of [key, value]) {
          try {
            layout.readRecord(field, input);
          } catch (error) {
            if (!refusals.some((refusal) => error instanceof refusal)) throw error;
          }
        }
      }
    },
  },
};

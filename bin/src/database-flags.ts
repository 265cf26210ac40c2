import { existsSync } from "node:fs";
import { BadSyncMode, checkDatabase, type NodeOptions, parseSyncMode, type SyncMode } from "@anulo/node";
import { BadUsage, type FlagTable, throwUsage, type Values } from "./flags.ts";
import { createMigrationBar } from "./migration-bar.ts";

/** Flags about the database of the chain. */
export const databaseFlags = {
  "db-sync-mode": {
    kind: "text",
    value: "MODE[:sync|:async][:N[blocks]|:Nbytes]",
    help: "when blocks are flushed: safe, fast or fastest (fast:async:250000000bytes)",
  },
  "keep-alt-blocks": { kind: "switch", help: "keep the blocks beside the main chain when the node starts" },
  "prune-blockchain": { kind: "switch", help: "keep the proofs of one old transaction in eight" },
  "db-salvage": {
    kind: "switch",
    help: "refused: a damaged database is never guessed at, see --check-database",
  },
  "check-database": { kind: "switch", help: "look through the database, say what is wrong with it, and end" },
} as const satisfies FlagTable;

function readSyncMode(text: string): SyncMode {
  try {
    return parseSyncMode(text);
  } catch (error) {
    return throwUsage("--db-sync-mode", BadSyncMode, error);
  }
}

type DatabaseOptions = Pick<NodeOptions, "syncMode" | "pruneBlockchain" | "keepAltBlocks">;

/** Returns the options of the flags; throws BadUsage. */
export function databaseOptions(flags: Values<typeof databaseFlags>): DatabaseOptions {
  const mode = flags["db-sync-mode"];
  if (flags["db-salvage"]) {
    const advice = "opening restores the last flush, --check-database says what is wrong; else sync anew";
    throw new BadUsage(`--db-salvage: a damaged database is never guessed at: ${advice}`);
  }
  return {
    syncMode: mode === undefined ? undefined : readSyncMode(mode),
    pruneBlockchain: flags["prune-blockchain"],
    keepAltBlocks: flags["keep-alt-blocks"],
  };
}

/** `--check-database`: checks a database that no process has open; rejects with the errors found. */
export async function runDatabaseCheck(path: string, network: string): Promise<void> {
  if (!existsSync(path)) throw new BadUsage(`--check-database: there is no database ${path}`);
  const start = performance.now();
  const report = await checkDatabase({
    path,
    network,
    onMigration: createMigrationBar(),
    onProgress({ blocks, of }) {
      const seconds = (performance.now() - start) / 1000;
      const remaining = Math.round((seconds / blocks) * (of - blocks));
      process.stdout.write(`checked ${blocks} of ${of} blocks, ${remaining} s left\n`);
    },
  });
  const { blocks, transactions, outputs, keyImages } = report;
  process.stdout.write(
    `the database is in order: ${blocks} blocks, ${transactions} transactions, ` +
      `${outputs} outputs, ${keyImages} key images\n`,
  );
}

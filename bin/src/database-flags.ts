import { BadSyncMode, type NodeOptions, parseSyncMode, type SyncMode } from "@anulo/node";
import { BadUsage, type FlagTable, type Values } from "./flags.ts";

/** Flags about how the chain is kept. */
export const databaseFlags = {
  "db-sync-mode": {
    kind: "text",
    value: "MODE[:sync|:async][:N[blocks]|:Nbytes]",
    help: "when blocks are flushed: safe, fast or fastest (fast:async:250000000bytes)",
  },
  "prune-blockchain": { kind: "switch", help: "keep the proofs of one old transaction in eight" },
} as const satisfies FlagTable;

function readSyncMode(text: string): SyncMode {
  try {
    return parseSyncMode(text);
  } catch (error) {
    if (error instanceof BadSyncMode) throw new BadUsage(`--db-sync-mode: ${error.message}`);
    throw error;
  }
}

type DatabaseOptions = Pick<NodeOptions, "syncMode" | "pruneBlockchain">;

/** What the flags say; throws BadUsage. */
export function databaseOptions(flags: Values<typeof databaseFlags>): DatabaseOptions {
  const mode = flags["db-sync-mode"];
  return {
    syncMode: mode === undefined ? undefined : readSyncMode(mode),
    pruneBlockchain: flags["prune-blockchain"],
  };
}

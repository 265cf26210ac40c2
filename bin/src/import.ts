import { importChain } from "@anulo/node";
import { toHex } from "@anulo/protocol";
import { rulesFlags, rulesOf } from "./chain-flags.ts";
import { databaseFlags, databaseOptions } from "./database-flags.ts";
import { exchangeFlags, GO_ON, runExchange } from "./exchange-command.ts";
import type { FlagTable } from "./flags.ts";
import { createMigrationBar } from "./migration-bar.ts";

export const importFlags = {
  ...exchangeFlags,
  from: { kind: "text", value: "PATH", help: "a monerod's data folder, or a blockchain.raw" },
  ...rulesFlags,
  "db-sync-mode": databaseFlags["db-sync-mode"],
  "max-concurrency": { kind: "number", value: "N", help: "threads to work with (one a processor)" },
} as const satisfies FlagTable;

const about =
  "Takes the chain of a monerod that does not run, which is only read, or of a blockchain.raw. What is there\n" +
  "already is left out, so that a command that was stopped goes on.";

/** `anulo import`: imports the chain of another program. */
export function runImport(args: readonly string[]): Promise<void> {
  return runExchange(
    {
      name: "import",
      about,
      doing: "imported",
      flags: importFlags,
      needs: "from",
      async run({ flags, place, signal, bar, last }) {
        const { syncMode } = databaseOptions({
          "db-sync-mode": flags["db-sync-mode"],
          "db-salvage": false,
          "prune-blockchain": false,
          "keep-alt-blocks": false,
          "check-database": false,
        });
        const verifyThreads = flags["max-concurrency"] || undefined;
        const { network, databasePath } = place;
        const result = await importChain({
          from: flags.from!,
          network,
          databasePath,
          ...rulesOf(flags, place),
          syncMode,
          verifyThreads,
          last,
          signal,
          onMigration: createMigrationBar(),
          onProgress: bar.show,
        });
        const { before, height, topId, isComplete } = result;
        const summary = `${Math.max(0, height - before)} blocks taken, the chain has ${height}, the newest is ${toHex(topId)}`;
        return isComplete ? summary : `${summary}\n${GO_ON}`;
      },
    },
    args,
  );
}

import { existsSync } from "node:fs";
import { exportChain } from "@anulo/node";
import { exchangeFlags, GO_ON, runExchange } from "./exchange-command.ts";
import { BadUsage, type FlagTable } from "./flags.ts";
import { createMigrationBar } from "./migration-bar.ts";

export const exportFlags = {
  ...exchangeFlags,
  to: { kind: "text", value: "FILE", help: "the blockchain.raw to write, or to go on with" },
  "block-start": { kind: "number", value: "HEIGHT", help: "the first block to write (0)" },
} as const satisfies FlagTable;

const about =
  "Writes the chain as blockchain.raw, which monero-blockchain-import takes. The node must not run. A file that is\n" +
  "there is continued.";

/** `anulo export`: writes the chain for other programs. */
export function runExport(args: readonly string[]): Promise<void> {
  return runExchange(
    {
      name: "export",
      about,
      doing: "exported",
      flags: exportFlags,
      needs: "to",
      async run({ flags, place, signal, bar, last }) {
        const { network, databasePath } = place;
        if (!existsSync(databasePath)) throw new BadUsage(`there is no database ${databasePath}`);
        const first = flags["block-start"];
        const summary = await exportChain({
          network,
          databasePath,
          to: flags.to!,
          first,
          last,
          signal,
          onMigration: createMigrationBar(),
          onProgress: bar.show,
        });
        const sentence = `${flags.to} ends with block ${summary.end - 1}`;
        const tooLong =
          summary.tooLong === undefined
            ? ""
            : `\nblock ${summary.tooLong} is longer than monero-blockchain-import takes`;
        return `${sentence}${tooLong}${summary.isComplete ? "" : `\n${GO_ON}`}`;
      },
    },
    args,
  );
}

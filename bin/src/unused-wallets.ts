import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { listUnusedRows, openStoreForCopies, removeUnusedRows, WalletRefusal } from "@anulo/wallet";
import { environmentHelp, fromEnvironment } from "./configuration.ts";
import { BadUsage, type FlagTable, formatFlags, readWords, throwUsage, valuesOf } from "./flags.ts";
import { secretsBeside, storeFor } from "./ledger-store-flags.ts";

const flagTable = {
  help: { kind: "switch", help: "show this" },
  "wallet-dir": { kind: "text", value: "FOLDER", help: "the folder of the wallets (needed)" },
  store: { kind: "text", value: "LOCATION", help: "the --store of their service, if it was named" },
  remove: { kind: "each", value: "ID", help: "remove what the store has of this wallet, for good" },
} as const satisfies FlagTable;

const WORDS = "anulo wallet unused [flags]";
const ABOUT =
  "Lists wallets that a service of this folder has in its store and that have no keys file in the folder any more,\n" +
  "each with its id, the day it was last written and the file that still names it. Wallets whose files were moved to\n" +
  "another folder with the same store are listed too, until they are opened there: do not remove those.";

/** `anulo wallet unused`: lists what the store has of deleted wallets, and removes it. Throws BadUsage. */
export async function runUnused(args: readonly string[]): Promise<void> {
  const flags = valuesOf(flagTable, [readWords(flagTable, args), fromEnvironment(flagTable, process.env)]);
  if (flags.help) {
    process.stdout.write(`${WORDS}\n\n${ABOUT}\n\n${formatFlags(flagTable)}\n\n${environmentHelp}\n`);
    return;
  }
  const { "wallet-dir": folder, remove } = flags;
  if (folder === undefined) throw new BadUsage(`${WORDS}, with --wallet-dir`);
  if (!existsSync(folder)) throw new BadUsage(`there is no folder ${folder}`);
  const store = storeFor(folder, flags.store);
  if (store === undefined)
    throw new BadUsage(`${WORDS}: ${folder} has no store of its own, name it by --store`);
  await listOrRemove(resolve(folder), store, remove).catch((error: unknown) =>
    throwUsage("anulo wallet unused", WalletRefusal, error),
  );
}

async function listOrRemove(folder: string, store: string, ids: readonly string[]): Promise<void> {
  const engine = await openStoreForCopies(store, false);
  const place = { folder, secrets: secretsBeside(folder), engine, now: Date.now() };
  try {
    for (const id of ids) {
      await removeUnusedRows(place, id);
      process.stdout.write(`removed ${id}\n`);
    }
    if (ids.length > 0) return;
    for (const { id, writtenAt, file, reasonToKeep } of await listUnusedRows(place)) {
      const day = new Date(writtenAt).toISOString().slice(0, 10);
      const notes = [
        file ?? "no file names it",
        ...(reasonToKeep === undefined ? [] : [`stays: ${reasonToKeep}`]),
      ];
      process.stdout.write(`${id}  ${day}  ${notes.join("; ")}\n`);
    }
  } finally {
    await engine.close();
  }
}

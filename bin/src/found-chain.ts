import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { findMonerodDatabase } from "@anulo/node";
import type { Log } from "@anulo/rpc";
import type { ChainPlace, chainFlags } from "./chain-flags.ts";
import type { Values } from "./flags.ts";

/** A word, quoted for a shell if necessary. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * When a node without a chain starts, reports the chain that monerod left in the folder, or in its default folder if
 * none was specified, with the command that imports it.
 */
export function nameFoundChain(place: ChainPlace, flags: Values<typeof chainFlags>, log: Log): void {
  const { network, folder, databasePath } = place;
  if (existsSync(databasePath)) return;
  const isGiven = flags["data-dir"] !== undefined;
  const folders = isGiven ? [folder] : [folder, join(homedir(), ".bitmonero")];
  const chainFolder = folders.find((candidate) => findMonerodDatabase(candidate, network) !== undefined);
  if (chainFolder === undefined) return;
  const words = ["anulo", "import", ...(network === "mainnet" ? [] : [`--${network}`])];
  if (isGiven) words.push("--data-dir", quoted(folder));
  const command = [...words, "--from", quoted(chainFolder)].join(" ");
  log.in("global").warn("there is a chain of monerod, which this node does not use by itself", {
    database: findMonerodDatabase(chainFolder, network),
    toImportIt: command,
  });
}

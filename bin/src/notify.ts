import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import type { ChainEvent, UnusualBlockRate } from "@anulo/node";
import { toHex } from "@anulo/protocol";
import type { Logger } from "@anulo/rpc";
import { BadUsage, type FlagTable } from "./flags.ts";

export const notifyFlags = {
  "block-notify": {
    kind: "each",
    value: "COMMAND",
    help: "run this for each new block; %s is the block's id",
  },
  "reorg-notify": {
    kind: "each",
    value: "COMMAND",
    help: "run this for each reorganisation; %s first height replaced, %h new height, %n new blocks, %d dropped",
  },
  "block-rate-notify": {
    kind: "each",
    value: "COMMAND",
    help: "run this when blocks come at an odd rate; %t minutes, %b blocks in them, %e to be expected",
  },
} as const satisfies FlagTable;

/** A program and its arguments, some with placeholders. */
interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

/** Maximum number of programs that run at the same time, for all blocks. */
const MAX_RUNNING = 64;

/** The words of a command, taken literally: without shell or quoting. Throws BadUsage if the program is missing. */
function parseCommand(flag: string, text: string): Command {
  const [file = "", ...args] = text.trim().split(/[ \t]+/);
  try {
    accessSync(file, constants.X_OK);
  } catch {
    throw new BadUsage(`--${flag}: not a program: ${file}`);
  }
  return { file, args };
}

/** Runs commands with their placeholders filled, a limited number at the same time. */
type Runner = (command: Command, values: Readonly<Record<string, string>>, log: Logger) => void;

function createRunner(): Runner {
  let running = 0;
  return ({ file, args }, values, log) => {
    if (running >= MAX_RUNNING) return log.warn("too many notifications are running", { file });
    running++;
    const filled = args.map((arg) => arg.replace(/%[a-z]/g, (name) => values[name] ?? name));
    const child = spawn(file, filled, { stdio: "ignore" });
    child.once("error", (error) => log.warn("a notification could not be run", { file, error }));
    child.once("close", () => void running--);
  };
}

/** Returns the function to be called with each transaction (id, hex) that pays a wallet. Throws BadUsage. */
export function createTxNotifier(text: string, log: Logger): (txid: string) => void {
  const command = parseCommand("tx-notify", text);
  const run = createRunner();
  return (txid) => run(command, { "%s": txid }, log);
}

/** The commands of the flags, and a function that returns a block's id by height. */
export interface NotifySettings {
  readonly "block-notify": readonly string[];
  readonly "reorg-notify": readonly string[];
}

export interface NotifyContext {
  readonly log: Logger;
  /** Id (32 bytes) of the main-chain block at a height. */
  blockId(height: number): Uint8Array | undefined;
}

/**
 * Returns the function to be called with each event of the chain. Throws BadUsage. Source: blockchain.cpp, notify.cpp.
 */
export function createNotifier(
  settings: NotifySettings,
): (event: ChainEvent, context: NotifyContext) => void {
  const [onBlock, onReorganised] = (["block-notify", "reorg-notify"] as const).map((flag) =>
    settings[flag].map((text) => parseCommand(flag, text)),
  ) as [Command[], Command[]];
  const run = createRunner();
  const notifyBlock = (id: Uint8Array, log: Logger) => {
    for (const command of onBlock) run(command, { "%s": toHex(id) }, log);
  };
  return (event, { log, blockId }) => {
    if (event.type === "blockAdded") notifyBlock(event.id, log);
    if (event.type !== "reorganised") return;
    const { forkHeight, removed, added } = event;
    const values = { "%s": forkHeight + 1, "%h": forkHeight + 1 + added, "%n": added, "%d": removed };
    const texts = Object.fromEntries(Object.entries(values).map(([name, count]) => [name, String(count)]));
    for (const command of onReorganised) run(command, texts, log);
    for (let height = forkHeight + 1; height <= forkHeight + added; height++) {
      const id = blockId(height);
      if (id !== undefined) notifyBlock(id, log);
    }
  };
}

/**
 * Returns the function to be called with each unusual block rate. Throws BadUsage. Source: cryptonote_core.cpp
 * `check_block_rate`.
 */
export function createRateNotifier(
  settings: { readonly "block-rate-notify": readonly string[] },
  log: Logger,
): (rate: UnusualBlockRate) => void {
  const commands = settings["block-rate-notify"].map((text) => parseCommand("block-rate-notify", text));
  const run = createRunner();
  return ({ minutes, blocks, expected }) => {
    const values = { "%t": String(minutes), "%b": String(blocks), "%e": String(expected) };
    for (const command of commands) run(command, values, log);
  };
}

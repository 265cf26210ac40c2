import { type ChainPlace, chainFlags, chainPlaceOf } from "./chain-flags.ts";
import { environmentHelp, fromEnvironment } from "./configuration.ts";
import { BadUsage, type FlagTable, formatFlags, readWords, type Values, valuesOf } from "./flags.ts";
import { createProgressBar, type ProgressBar } from "./progress.ts";
import { untilSignalled } from "./until-signalled.ts";

/** Flags of the commands that carry chains from one program to another. */
export const exchangeFlags = {
  help: { kind: "switch", help: "show this" },
  ...chainFlags,
  "block-stop": { kind: "number", value: "HEIGHT", help: "the last block to take; 0: all (0)" },
} as const satisfies FlagTable;

/** What such a command works with. */
export interface Exchange<T extends FlagTable> {
  readonly flags: Values<T>;
  readonly place: ChainPlace;
  /** Aborted when the process is asked to end. */
  readonly signal: AbortSignal;
  readonly bar: ProgressBar;
  /** Height of the last block to take, where one is given. */
  readonly last: number | undefined;
}

/** What is asked of a command; `doing` is what its bar tells of. */
export interface ExchangeCommand<T extends typeof exchangeFlags & FlagTable> {
  readonly name: string;
  readonly about: string;
  readonly doing: string;
  readonly flags: T;
  /** The flag without which there is nothing to do. */
  readonly needs: keyof T & string;
  run(exchange: Exchange<T>): Promise<string>;
}

/** Runs such a command until it is done or asked to end, and prints what came of it. Throws BadUsage. */
export async function runExchange<T extends typeof exchangeFlags & FlagTable>(
  { name, about, doing, flags: table, needs, run }: ExchangeCommand<T>,
  args: readonly string[],
): Promise<void> {
  const flags = valuesOf(table, [readWords(table, args), fromEnvironment(table, process.env)]);
  const shared = flags as Values<typeof exchangeFlags>;
  if (shared.help)
    return void process.stdout.write(
      `anulo ${name} [flags]\n\n${about}\n\n${formatFlags(table)}\n\n${environmentHelp}\n`,
    );
  if (flags[needs] === undefined) throw new BadUsage(`anulo ${name} needs --${needs}`);
  const stopping = new AbortController();
  void untilSignalled().then(() => stopping.abort());
  const bar = createProgressBar(doing);
  const place = chainPlaceOf(shared);
  try {
    const last = shared["block-stop"] || undefined;
    const said = await run({ flags, place, signal: stopping.signal, bar, last });
    bar.end();
    process.stdout.write(`${said}\n`);
  } finally {
    bar.end();
  }
  // Whoever waits for all of the chain is not to take this for it.
  if (stopping.signal.aborted) process.exitCode = 1;
}

/** Told where a signal ended a command. */
export const GO_ON = "stopped; the same command goes on from here";

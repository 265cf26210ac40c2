import { type ChainPlace, chainFlags, chainPlaceOf } from "./chain-flags.ts";
import { environmentHelp, fromEnvironment } from "./configuration.ts";
import { BadUsage, type FlagTable, formatFlags, readWords, type Values, valuesOf } from "./flags.ts";
import { createProgressBar, type ProgressBar } from "./progress.ts";
import { untilSignalled } from "./until-signalled.ts";

/** Flags of the commands that import and export chains. */
export const exchangeFlags = {
  help: { kind: "switch", help: "show this" },
  ...chainFlags,
  "block-stop": { kind: "number", value: "HEIGHT", help: "the last block to take; 0: all (0)" },
} as const satisfies FlagTable;

/** The arguments of such a command. */
export interface Exchange<T extends FlagTable> {
  readonly flags: Values<T>;
  readonly place: ChainPlace;
  /** Aborted when the process receives a signal to end. */
  readonly signal: AbortSignal;
  readonly bar: ProgressBar;
  /** Height of the last block to process, if specified. */
  readonly last: number | undefined;
}

/** An import or export command; `doing` is the word that its progress bar shows. */
export interface ExchangeCommand<T extends typeof exchangeFlags & FlagTable> {
  readonly name: string;
  readonly about: string;
  readonly doing: string;
  readonly flags: T;
  /** The flag that is required. */
  readonly needs: keyof T & string;
  run(exchange: Exchange<T>): Promise<string>;
}

/** Runs such a command until it has finished or receives a signal, and prints the result. Throws BadUsage. */
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
    const summary = await run({ flags, place, signal: stopping.signal, bar, last });
    bar.end();
    process.stdout.write(`${summary}\n`);
  } finally {
    bar.end();
  }
  // The exit status is an error, since scripts must not take this part for the whole chain.
  if (stopping.signal.aborted) process.exitCode = 1;
}

/** Printed when a signal has ended a command. */
export const GO_ON = "stopped; the same command goes on from here";

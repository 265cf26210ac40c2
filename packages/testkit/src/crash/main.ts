import { randomBytes } from "node:crypto";
import { type RoundReport, runCrashRounds } from "./rounds.ts";

const usage = `npm run crash [-- [--rounds N] [--seed TEXT]]
  kills the node at N random moments (200); each time it must open again by itself and have lost nothing
`;

const DEFAULT_ROUNDS = 200;
const ROUNDS_PER_LINE = 10;
const SLOW_MS = 4000;

const print = (text: string) => void process.stdout.write(`${text}\n`);

function valueAfter(args: readonly string[], flag: string): string | undefined {
  const at = args.indexOf(flag);
  return at === -1 ? undefined : args[at + 1];
}

async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help")) return print(usage);
  const rounds = Number(valueAfter(args, "--rounds") ?? DEFAULT_ROUNDS);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`no number of rounds\n${usage}`);
  const seed = valueAfter(args, "--seed") ?? randomBytes(4).toString("hex");
  print(`crash: ${rounds} rounds, seed ${seed}`);
  const begin = performance.now();
  let blocks = 0;
  const onRound = ({ round, task, openMs, acknowledged }: RoundReport) => {
    blocks += acknowledged;
    if (openMs > SLOW_MS) print(`crash: round ${round} (${task}) took ${openMs} ms to open`);
    if (round % ROUNDS_PER_LINE !== 0 && round !== rounds) return;
    const seconds = (performance.now() - begin) / 1000;
    const left = Math.round((seconds / round) * (rounds - round));
    print(`crash: ${round} of ${rounds} rounds, ${blocks} blocks acknowledged, none lost, ${left} s left`);
  };
  const report = await runCrashRounds({ rounds, seed, onRound });
  print(
    `crash: ${report.rounds} rounds, ${report.kills} kills, ${report.acknowledgedBlocks} blocks and ` +
      `${report.acknowledgedTransactions} transactions acknowledged, none lost; ` +
      `slowest opening ${report.slowestOpenMs} ms; ${Math.round((performance.now() - begin) / 1000)} s`,
  );
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`crash: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});

import { randomBytes } from "node:crypto";
import { loadavg } from "node:os";
import { runDiskCuts } from "./disk/rounds.ts";
import { runEventRounds } from "./events/rounds.ts";
import { runFleetRounds } from "./fleet/rounds.ts";
import { runPayerRounds } from "./payer/rounds.ts";
import { type RoundReport, runCrashRounds } from "./rounds.ts";
import { runWalletCrashRounds } from "./wallet/rounds.ts";

const usage = `npm run crash [-- [--rounds N] [--seed TEXT]]
  kills the node at N random moments (200); each time it must open again by itself and have lost nothing
npm run crash -- wallet [--rounds N] [--only TEXT]
  kills the wallet service at every named point, or those whose name has TEXT in it, N times each (20)
npm run crash -- payer [--rounds N] [--payers N] [--seed TEXT]
  N payments (1000) of a payer who repeats until answered, while service, node and the lines between them break; with
  several payers (1) each has a chain, a node and a service of its own, and they share the payments
npm run crash -- disk [--service node|wallet] [--cuts N] [--seed TEXT]
  stops both services, or one, at N moments each (2000) on a disk that forgets what was not synced, and opens the rest
npm run crash -- events [--rounds N] [--payments N] [--journal | --postgres] [--seed TEXT]
  kills a wallet service with an event log in each of N rounds (100), in which 100,000 payments come in and some are
  undone: three kinds of consumers see every event once and in order. Its ledgers are in the folder's own store, in
  journals, or in a PostgreSQL server of its own
npm run crash -- fleet [--rounds N] [--wallets N] [--processes N] [--pause SECONDS] [--pause-every N] [--events]
    [--seed TEXT]
  kills one of 3 processes of a fleet in each of N rounds (220), in every Nth (11th) stops it for a minute instead, while
  some of its 30 wallets pay: each payment is made once, nothing of a former owner is kept. With --events three kinds of
  consumers see each event of the fleet once and in order, and all payments in them
`;

const DEFAULT_ROUNDS = 200;
const DEFAULT_ROUNDS_OF_POINT = 20;
const DEFAULT_CUTS = 2000;
const DEFAULT_PAYMENTS = 1000;
const DEFAULT_EVENT_ROUNDS = 100;
const DEFAULT_EVENT_PAYMENTS = 100_000;
const DEFAULT_FLEET_ROUNDS = 220;
const FLEET_ROUNDS_PER_PAUSE = 11;
const CUTS_PER_LINE = 100;
const ROUNDS_PER_LINE = 10;
const SLOW_MS = 4000;

const print = (text: string) => void process.stdout.write(`${text}\n`);

function valueAfter(args: readonly string[], flag: string): string | undefined {
  const at = args.indexOf(flag);
  return at === -1 ? undefined : args[at + 1];
}

function roundsOf(args: readonly string[], unlessGiven: number, flag = "--rounds"): number {
  const rounds = Number(valueAfter(args, flag) ?? unlessGiven);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`no number of rounds\n${usage}`);
  return rounds;
}

async function killWallets(args: readonly string[]): Promise<void> {
  const rounds = roundsOf(args, DEFAULT_ROUNDS_OF_POINT);
  const filter = valueAfter(args, "--only") ?? "";
  const begin = performance.now();
  const seconds = () => Math.round((performance.now() - begin) / 1000);
  const { points, kills } = await runWalletCrashRounds({
    rounds,
    only: (name) => name.includes(filter),
    onPoint: (name) => print(`crash: ${name}: killed ${rounds} times, nothing lost, ${seconds()} s`),
  });
  print(`crash: ${points} points, ${kills} kills, nothing lost or paid twice; ${seconds()} s`);
}

async function disturbPayer(args: readonly string[]): Promise<void> {
  const rounds = roundsOf(args, DEFAULT_PAYMENTS);
  const seed = valueAfter(args, "--seed") ?? randomBytes(4).toString("hex");
  const payers = roundsOf(args, 1, "--payers");
  print(`crash: ${rounds} payments of ${payers} payers, seed ${seed}`);
  const begin = performance.now();
  const seconds = () => Math.round((performance.now() - begin) / 1000);
  const onRound = (done: number) => {
    if (done % ROUNDS_PER_LINE === 0) print(`crash: ${done} of ${rounds} payments made once, ${seconds()} s`);
  };
  const report = await runPayerRounds({ rounds, seed, payers, onRound });
  const { payments, transactions, attempts, mishaps } = report;
  for (const [name, count] of [...mishaps].sort()) print(`crash: ${name}: ${count} times`);
  print(
    `crash: ${payments} payments in ${transactions} transactions, asked for ${attempts} times, each made once, ` +
      `every id told; ${seconds()} s`,
  );
}

async function killEvents(args: readonly string[]): Promise<void> {
  const rounds = roundsOf(args, DEFAULT_EVENT_ROUNDS);
  const payments = roundsOf(args, DEFAULT_EVENT_PAYMENTS, "--payments");
  const seed = valueAfter(args, "--seed") ?? randomBytes(4).toString("hex");
  const begin = performance.now();
  const seconds = () => Math.round((performance.now() - begin) / 1000);
  print(`crash: ${payments} payments in ${rounds} rounds, seed ${seed}`);
  const onRound = (round: number, events: number) => {
    if (round % ROUNDS_PER_LINE === 0)
      print(`crash: round ${round} of ${rounds}, ${events} events, ${seconds()} s`);
  };
  const journal = args.includes("--journal") ? "journal" : undefined;
  const store = args.includes("--postgres") ? "postgres" : journal;
  const report = await runEventRounds({ rounds, payments, seed, store, onRound });
  for (const [type, count] of [...report.counts].sort()) print(`crash: ${type}: ${count}`);
  print(
    `crash: ${report.events} events, each seen once and in order by a cursor, a webhook (${report.refused} refused, ` +
      `${report.repeated} repeated) and a stream; ${rounds} kills, ${report.reorganisations} reorganisations; ` +
      `${seconds()} s`,
  );
}

async function killFleet(args: readonly string[]): Promise<void> {
  const rounds = roundsOf(args, DEFAULT_FLEET_ROUNDS);
  const seed = valueAfter(args, "--seed") ?? randomBytes(4).toString("hex");
  const begin = performance.now();
  const seconds = () => Math.round((performance.now() - begin) / 1000);
  const report = await runFleetRounds({
    rounds,
    seed,
    events: args.includes("--events"),
    processes: roundsOf(args, 3, "--processes"),
    wallets: roundsOf(args, 30, "--wallets"),
    pauseEvery: roundsOf(args, FLEET_ROUNDS_PER_PAUSE, "--pause-every"),
    pauseMs: 1000 * roundsOf(args, 60, "--pause"),
    onRound: ({ round, mishap, moved, takeoverMs, balanceMs }) => {
      const balance = balanceMs === undefined ? "" : `, shared equally ${balanceMs} ms later`;
      print(
        `crash: round ${round}: ${mishap}, ${moved} wallets answered by others after ${takeoverMs} ms${balance}; ` +
          `load ${loadavg()[0]!.toFixed(1)}; ${seconds()} s`,
      );
    },
  });
  const { kills, pauses, payments, attempts, slowestTakeoverMs, events, repeated } = report;
  if (events > 0)
    print(
      `crash: ${events} events, each seen once and in order by a cursor, a webhook (${repeated} repeated) and a stream`,
    );
  print(
    `crash: seed ${seed}: ${kills} kills, ${pauses} pauses, ${payments} payments asked for ${attempts} times, each made ` +
      `once, nothing of a former owner kept; slowest takeover ${slowestTakeoverMs} ms; ${seconds()} s`,
  );
}

async function cutPower(args: readonly string[]): Promise<void> {
  const cuts = roundsOf(args, DEFAULT_CUTS, "--cuts");
  const seed = valueAfter(args, "--seed") ?? randomBytes(4).toString("hex");
  const only = valueAfter(args, "--service");
  for (const service of ["node", "wallet"] as const) {
    if (only !== undefined && only !== service) continue;
    const begin = performance.now();
    const seconds = () => Math.round((performance.now() - begin) / 1000);
    const onProgress = (done: number) => {
      if (done % CUTS_PER_LINE === 0) print(`crash: ${service}: ${done} of ${cuts} cuts, ${seconds()} s`);
    };
    const opened = await runDiskCuts({ service, cuts, seed, onProgress });
    print(
      `crash: ${service}: ${opened} cuts, seed ${seed}, all opened with what was acknowledged; ${seconds()} s`,
    );
  }
}

async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help")) return print(usage);
  if (args[0] === "wallet") return await killWallets(args);
  if (args[0] === "payer") return await disturbPayer(args);
  if (args[0] === "events") return await killEvents(args);
  if (args[0] === "fleet") return await killFleet(args);
  if (args[0] === "disk") return await cutPower(args);
  const rounds = roundsOf(args, DEFAULT_ROUNDS);
  const seed = valueAfter(args, "--seed") ?? randomBytes(4).toString("hex");
  print(`crash: ${rounds} rounds, seed ${seed}`);
  const begin = performance.now();
  let blocks = 0;
  const onRound = ({ round, task, openMs, acknowledged }: RoundReport) => {
    blocks += acknowledged;
    if (openMs > SLOW_MS) print(`crash: round ${round} (${task}) took ${openMs} ms to open`);
    if (round % ROUNDS_PER_LINE !== 0 && round !== rounds) return;
    const seconds = (performance.now() - begin) / 1000;
    const remaining = Math.round((seconds / round) * (rounds - round));
    print(
      `crash: ${round} of ${rounds} rounds, ${blocks} blocks acknowledged, none lost, ${remaining} s left`,
    );
  };
  const report = await runCrashRounds({ rounds, seed, onRound });
  print(
    `crash: ${report.rounds} rounds, ${report.kills} kills, ${report.acknowledgedBlocks} blocks and ` +
      `${report.acknowledgedTransactions} transactions acknowledged, none lost; ` +
      `slowest opening ${report.slowestOpenMs} ms; ${Math.round((performance.now() - begin) / 1000)} s`,
  );
}

void main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`crash: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});

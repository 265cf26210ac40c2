import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { call } from "@anulo/devnet";
import { checkDatabase } from "@anulo/node";
import { loadChain, type RecordedChain } from "../fixtures.ts";
import { loadBlocks } from "../load-chain.ts";
import { type DaemonOptions, type RunningDaemon, startDaemon } from "../programs/servers.ts";
import { type Acknowledged, checkNothingLost } from "./acknowledged.ts";
import { type Chance, createChance } from "./chance.ts";
import { tasks } from "./tasks.ts";

export type TaskName = keyof typeof tasks;

export interface CrashOptions {
  readonly rounds: number;
  readonly seed: string;
  /** Told after every round. */
  readonly onRound?: (round: RoundReport) => void;
}

export interface RoundReport {
  readonly round: number;
  readonly task: TaskName;
  /** Milliseconds from the start of the program until it answered. */
  readonly openMs: number;
  /** Blocks it acknowledged before it was killed. */
  readonly acknowledged: number;
}

export interface CrashReport {
  readonly rounds: number;
  readonly kills: number;
  readonly acknowledgedBlocks: number;
  readonly acknowledgedTransactions: number;
  readonly slowestOpenMs: number;
}

/** A database that is killed again and again, and what was acknowledged over it. */
interface Victim {
  /** Nodes (`address:port`) it speaks to; undefined: it is offline. */
  readonly peers: readonly string[] | undefined;
  readonly kinds: readonly TaskName[];
  folder: string;
  acknowledgements: Acknowledged;
  checked: { blocks: number; transactions: number };
}

/** Chains above this height are left for a new one, so that checks stay short. */
const MAX_HEIGHT = 1500;
/** Longest time a node works before it is killed, in milliseconds; one that fetches has to find its peer first. */
const MAX_WORK_MS = { mine: 700, reorganise: 700, sync: 700, fetch: 3000 } as const;

interface Run {
  readonly chance: Chance;
  readonly chain: RecordedChain;
  readonly folder: string;
  kills: number;
  blocks: number;
  transactions: number;
}

function freshVictim(run: Run, { kinds, peers }: Pick<Victim, "kinds" | "peers">): Victim {
  return {
    kinds,
    peers,
    folder: mkdtempSync(join(run.folder, "chain-")),
    acknowledgements: { blocks: [], transactions: [] },
    checked: { blocks: 0, transactions: 0 },
  };
}

const databaseOf = ({ folder }: Victim) => join(folder, "regtest", "chain.mdb");

function flagsOf({ folder, peers }: Victim): DaemonOptions {
  // Without it a start forgets the blocks beside the main chain, as in the original; what left that would count as lost.
  const extra = ["--disable-rpc-ban", "--keep-alt-blocks"];
  return { dataDir: folder, extra, ...(peers !== undefined && { peers }) };
}

/** Starts the program and kills it before it is ready, or soon after. */
async function killWhileStarting(run: Run, victim: Victim): Promise<void> {
  const killAfterMs = run.chance.between(100, 1200);
  const daemon = await startDaemon({ kind: "ours" }, { ...flagsOf(victim), killAfterMs }).catch(() => {});
  await daemon?.ended;
  run.kills++;
}

async function start(victim: Victim): Promise<{ daemon: RunningDaemon; openMs: number }> {
  const begin = performance.now();
  const daemon = await startDaemon({ kind: "ours" }, flagsOf(victim));
  await call(daemon.url, "get_info");
  return { daemon, openMs: Math.round(performance.now() - begin) };
}

/** Lets the task work for a while and kills the node in the midst of it. */
async function workUntilKilled(run: Run, victim: Victim, daemon: RunningDaemon): Promise<TaskName> {
  const { chance, chain } = run;
  const task = chance.pick(victim.kinds);
  let isKilled = false;
  const work = tasks[task]({
    url: daemon.url,
    chance,
    chain,
    acknowledgements: victim.acknowledgements,
  }).catch((error) => {
    if (!isKilled) throw error;
  });
  const timer = delay(chance.between(5, MAX_WORK_MS[task])).then(() => {
    isKilled = true;
    return daemon.kill();
  });
  await Promise.all([work, timer]);
  run.kills++;
  return task;
}

async function playRound(run: Run, victim: Victim): Promise<Omit<RoundReport, "round">> {
  if (run.chance.happens(0.1)) await killWhileStarting(run, victim);
  const { daemon, openMs } = await start(victim);
  const { acknowledgements, checked } = victim;
  try {
    await checkNothingLost({ url: daemon.url, acknowledgements, before: checked, chance: run.chance });
    victim.checked = {
      blocks: acknowledgements.blocks.length,
      transactions: acknowledgements.transactions.length,
    };
    const task = await workUntilKilled(run, victim, daemon);
    const acknowledged = acknowledgements.blocks.length - victim.checked.blocks;
    run.blocks += acknowledged;
    run.transactions += acknowledgements.transactions.length - victim.checked.transactions;
    return { task, openMs, acknowledged };
  } finally {
    await daemon.kill();
  }
}

/** Checks the database as the kill left it; half the time the node has to cope with that alone first. */
async function checkAfterwards(run: Run, victim: Victim): Promise<number> {
  if (!existsSync(databaseOf(victim)) || run.chance.happens(0.5)) return 0;
  return (await checkDatabase({ path: databaseOf(victim), network: "regtest" })).blocks;
}

/**
 * Kills our node at random moments while it takes in blocks, mines and reorganises: it must open again by
 * itself, have all it acknowledged, and its database must be in order. Rejects at the first failure, and then
 * keeps the folder.
 */
export async function runCrashRounds(options: CrashOptions): Promise<CrashReport> {
  const folder = mkdtempSync(join(tmpdir(), "anulo-crash-"));
  const chance = createChance(options.seed);
  const run: Run = { chance, chain: loadChain(), folder, kills: 0, blocks: 0, transactions: 0 };
  const donor = await startDonor(run);
  const victims = [
    freshVictim(run, { kinds: ["sync"], peers: undefined }),
    freshVictim(run, { kinds: ["mine", "reorganise"], peers: undefined }),
    freshVictim(run, { kinds: ["fetch"], peers: [`127.0.0.1:${donor.p2pPort}`] }),
  ];
  try {
    return await playRounds(run, victims, options);
  } finally {
    await donor.kill();
  }
}

/** A node that has the recorded chain for others to fetch; offline it takes blocks without waiting for peers. */
async function startDonor({ chain, folder }: Run): Promise<RunningDaemon> {
  const dataDir = mkdtempSync(join(folder, "donor-"));
  const extra = ["--disable-rpc-ban"];
  const loading = await startDaemon({ kind: "ours" }, { dataDir, extra });
  try {
    await loadBlocks(loading.url, chain.blocks);
  } finally {
    await loading.stop();
  }
  return await startDaemon({ kind: "ours" }, { dataDir, extra, peers: [] });
}

/** Whether a chain is long enough to begin another. */
function isGrown({ chain }: Run, { kinds }: Victim, height: number): boolean {
  return kinds.includes("mine") ? height > MAX_HEIGHT : height > chain.blocks.length;
}

async function playRounds(run: Run, victims: Victim[], options: CrashOptions): Promise<CrashReport> {
  const { rounds, seed, onRound = () => {} } = options;
  const { chance } = run;
  let slowestOpenMs = 0;
  for (let round = 1; round <= rounds; round++) {
    const at = chance.between(0, victims.length - 1);
    const victim = victims[at]!;
    try {
      const report = await playRound(run, victim);
      slowestOpenMs = Math.max(slowestOpenMs, report.openMs);
      const height = await checkAfterwards(run, victim);
      onRound({ round, ...report });
      if (isGrown(run, victim, height)) {
        rmSync(victim.folder, { recursive: true, force: true });
        victims[at] = freshVictim(run, victim);
      }
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      throw new Error(`round ${round} of seed ${seed}: ${detail}; see ${victim.folder}`, { cause: error });
    }
  }
  rmSync(run.folder, { recursive: true, force: true });
  const { kills, blocks, transactions } = run;
  return { rounds, kills, acknowledgedBlocks: blocks, acknowledgedTransactions: transactions, slowestOpenMs };
}

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { call } from "@anulo/devnet";
import { startDaemon } from "../programs/servers.ts";

const receiverProgram = fileURLToPath(new URL("receiver-process.js", import.meta.url));
const POLL_MS = 100;
const TICKS_PER_SECOND = 100;

export interface SyncOrder {
  /** Folder of the node that has the chain, and of the one that is to get it. */
  readonly source: string;
  readonly target: string;
  readonly height: number;
  /** File of known blocks; undefined: all is verified. */
  readonly knownBlocks: string | undefined;
  /** Flags of Node.js, and environment, for the node that fetches. */
  readonly nodeFlags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** What a sync took the node that fetched: seconds of the clock and of the processor, MiB of memory and of disk. */
export interface SyncReport {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Processor time of the node that sent. */
  readonly sourceCpuSeconds: number;
  /** All memory at its most: its own, and pages of files (the program and the database) that the system could drop. */
  readonly peakMiB: number;
  /** Its own memory at its most, as sampled. */
  readonly peakOwnMiB: number;
  readonly databaseMiB: number;
}

function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function statusMiB(pid: number, field: string): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1]) / 1024;
}

async function startReceiver(order: SyncOrder, port: number): Promise<{ child: ChildProcess; url: string }> {
  const args = [join(order.target, "chain.mdb"), order.knownBlocks ?? "none", String(port)];
  const { nodeFlags = [], env } = order;
  const child = fork(receiverProgram, args, { execArgv: [...nodeFlags], env: { ...process.env, ...env } });
  const [message] = (await once(child, "message")) as [{ readonly url: string }];
  return { child, url: message.url };
}

/** No node slows the other down to what a line would carry. */
const NO_LIMIT = ["--limit-rate", "1000000"];

/** A node that fetches the chain of another. */
export interface RunningSync {
  readonly url: string;
  readonly pid: number;
  /** Resolves when it has all blocks, with what that took. */
  end(): Promise<SyncReport>;
  stop(): Promise<void>;
}

/** Starts two nodes, of which the second fetches the chain of the first. */
export async function startSync(order: SyncOrder): Promise<RunningSync> {
  const source = await startDaemon({ kind: "ours" }, { dataDir: order.source, peers: [], extra: NO_LIMIT });
  try {
    const { child, url } = await startReceiver(order, source.p2pPort);
    const pid = child.pid!;
    return {
      url,
      pid,
      end: () => follow({ order, url, pid, sourcePid: source.pid }),
      async stop() {
        const exit = once(child, "exit");
        child.kill("SIGTERM");
        await exit;
        await source.stop();
      },
    };
  } catch (error) {
    await source.stop();
    throw error;
  }
}

/** Has a new node fetch the chain of another from its first block to its last. */
export async function measureSync(order: SyncOrder): Promise<SyncReport> {
  const sync = await startSync(order);
  try {
    return await sync.end();
  } finally {
    await sync.stop();
  }
}

interface Followed {
  readonly order: SyncOrder;
  readonly url: string;
  readonly pid: number;
  readonly sourcePid: number;
}

async function follow({ order, url, pid, sourcePid }: Followed): Promise<SyncReport> {
  const from = performance.now();
  const [cpu, sourceCpu] = [cpuSecondsOf(pid), cpuSecondsOf(sourcePid)];
  let peakOwnMiB = 0;
  for (;;) {
    peakOwnMiB = Math.max(peakOwnMiB, statusMiB(pid, "RssAnon"));
    const { height } = await call(url, "get_info");
    if (Number(height) >= order.height) break;
    await delay(POLL_MS);
  }
  return {
    seconds: (performance.now() - from) / 1000,
    cpuSeconds: cpuSecondsOf(pid) - cpu,
    sourceCpuSeconds: cpuSecondsOf(sourcePid) - sourceCpu,
    peakMiB: statusMiB(pid, "VmHWM"),
    peakOwnMiB,
    databaseMiB: statSync(join(order.target, "chain.mdb")).size / 2 ** 20,
  };
}

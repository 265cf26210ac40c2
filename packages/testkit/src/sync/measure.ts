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
  /** Flags of Node.js for the node that fetches. */
  readonly nodeFlags?: readonly string[];
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
  const child = fork(receiverProgram, args, { execArgv: [...(order.nodeFlags ?? [])] });
  const [message] = (await once(child, "message")) as [{ readonly url: string }];
  return { child, url: message.url };
}

/** No node slows the other down to what a line would carry. */
const NO_LIMIT = ["--limit-rate", "1000000"];

/** Has a new node fetch the chain of another from its first block to its last. */
export async function measureSync(order: SyncOrder): Promise<SyncReport> {
  const source = await startDaemon({ kind: "ours" }, { dataDir: order.source, peers: [], extra: NO_LIMIT });
  try {
    const { child, url } = await startReceiver(order, source.p2pPort);
    try {
      return await follow({ order, url, pid: child.pid!, sourcePid: source.pid });
    } finally {
      const exit = once(child, "exit");
      child.kill("SIGTERM");
      await exit;
    }
  } finally {
    await source.stop();
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

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("./prober-process.js", import.meta.url));

export interface ProberOrder {
  readonly port: number;
  readonly controlPort: number;
  readonly perSecond: number;
  readonly method: string;
}

/** Milliseconds from when a request was due until its response was there. */
export interface Latency {
  readonly count: number;
  /** Refused connections and responses other than 200. */
  readonly failures: number;
  /** Without a response when it was stopped; counted with their age. */
  readonly unanswered: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface Probed {
  readonly node: Latency;
  readonly control: Latency;
}

export interface Prober {
  stop(): Promise<Probed>;
}

/** The idle process that a node's delays are compared with; `stop` ends it. */
export async function startControl(): Promise<{ port: number; stop(): void }> {
  const child = fork(program, ["control"], { execArgv: [] });
  const [port] = (await once(child, "message")) as [number];
  return { port, stop: () => child.disconnect() };
}

/** Begins to measure, in a process of its own: the attackers' work delays nothing there. */
export function startProber(order: ProberOrder): Prober {
  const child: ChildProcess = fork(program, [], { execArgv: [] });
  child.send(order);
  return {
    async stop() {
      const answer = once(child, "message");
      child.send("stop");
      const [probed] = (await answer) as [Probed];
      return probed;
    },
  };
}

import { type ChildProcess, spawn } from "node:child_process";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** A program under test: a child process that serves RPC on loopback. */
export type Program = {
  readonly pid: number;
  /** The last 64 kB it printed. */
  output(): string;
  /** Exit code, or null if a signal ended it; waits for the end. */
  readonly ended: Promise<number | null>;
  /** SIGTERM, then SIGKILL if it is still there after `graceMs`. */
  stop(graceMs?: number): Promise<void>;
  /** SIGKILL: the end without a last word. */
  kill(): Promise<void>;
};

export type LaunchOptions = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** It is ready once this port of 127.0.0.1 accepts a connection. */
  readonly port: number;
  readonly readyWithinMs?: number;
  /** Kill it (SIGKILL) so many milliseconds after its start, ready or not. */
  readonly killAfterMs?: number;
};

const keptOutput = 64 * 1024;
const pollEveryMs = 25;

/** Nothing started here outlives this process. */
const alive = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

/**
 * Starts a program and waits until its port answers. Throws if another program answers there before, and, with what it
 * printed, if it ends or is too slow.
 */
export async function launch(options: LaunchOptions): Promise<Program> {
  if (await accepts(options.port)) throw new Error(`port ${options.port} is in use`);
  const child = spawn(options.command, options.args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...options.env },
  });
  const program = watch(child, options.command);
  if (options.killAfterMs !== undefined) setTimeout(() => child.kill("SIGKILL"), options.killAfterMs);
  try {
    await waitForPort(program, options);
  } catch (error) {
    await program.kill();
    throw error;
  }
  return program;
}

function watch(child: ChildProcess, command: string): Program {
  let printed = "";
  const keep = (bytes: Buffer) => {
    printed = (printed + bytes.toString()).slice(-keptOutput);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  alive.add(child);
  const ended = new Promise<number | null>((resolve) => {
    child.once("error", (error) => {
      printed += `${command}: ${error.message}\n`;
      resolve(null);
    });
    child.once("exit", (code) => {
      alive.delete(child);
      resolve(code);
    });
  });
  const stop = async (graceMs = 20_000): Promise<void> => {
    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), graceMs);
    await ended;
    clearTimeout(late);
  };
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  return { pid: child.pid ?? 0, output: () => printed, ended, stop, kill };
}

async function waitForPort(program: Program, { command, port, readyWithinMs = 60_000 }: LaunchOptions) {
  let over = false;
  void program.ended.then(() => {
    over = true;
  });
  const deadline = Date.now() + readyWithinMs;
  while (!(await accepts(port))) {
    if (over) throw new Error(`${command} ended at once:\n${program.output()}`);
    if (Date.now() > deadline) {
      throw new Error(`${command} did not answer within ${readyWithinMs} ms:\n${program.output()}`);
    }
    await delay(pollEveryMs);
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

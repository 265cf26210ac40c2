/** Runs commands of the documents as a reader does: in a shell, in a folder of its own. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../../", import.meta.url));

/** No example runs for longer than this, also on a machine with much else to do. */
const LIMIT_MS = 600_000;

/** An exit code, or the signal that ended a command; npm ends itself by the one it has passed on. */
type Ending = number | NodeJS.Signals;

export type Shell = {
  readonly folder: string;
  /** Runs commands to their end, which has to be a good one; what they printed on standard output. */
  run(commands: string): Promise<string>;
  /** Starts a command that stays, and waits until it has printed this; `stop` interrupts it, as Ctrl-C does. */
  start(command: string, shows: RegExp): Promise<{ readonly output: string; stop(): Promise<Ending> }>;
};

type Running = {
  readonly child: ChildProcess;
  readonly printed: { out: string; all: string };
  readonly ended: Promise<Ending>;
};

/** Signals the shell and what it has started. */
function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    process.kill(-pid!, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** A shell for a test in `folder`, or in an empty one in which node_modules are those of the repository. */
export function shellFor(
  t: TestContext,
  { env = {}, folder }: { env?: NodeJS.ProcessEnv; folder?: string } = {},
): Shell {
  const home = mkdtempSync(join(tmpdir(), "anulo-examples-"));
  symlinkSync(join(root, "node_modules"), join(home, "node_modules"));
  const running = new Set<Running>();
  t.after(async () => {
    for (const { child } of running) signal(child, "SIGKILL");
    await Promise.all([...running].map(({ ended }) => ended));
    rmSync(home, { recursive: true, force: true, maxRetries: 10 });
  });
  // A runner of tests that finds this variable runs nothing.
  const { NODE_TEST_CONTEXT: _, ...ours } = process.env;
  const path = `${join(root, "node_modules/.bin")}:${process.env.PATH}`;
  const launch = (commands: string): Running => {
    const child = spawn("bash", ["-euo", "pipefail", "-c", commands], {
      cwd: folder ?? home,
      detached: true,
      env: { ...ours, HOME: home, PATH: path, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: LIMIT_MS,
    });
    const printed = { out: "", all: "" };
    child.stdout!.on("data", (bytes: Buffer) => {
      printed.out += bytes;
      printed.all += bytes;
    });
    child.stderr!.on("data", (bytes: Buffer) => {
      printed.all += bytes;
    });
    const ended = once(child, "close").then(([code, name]) => {
      running.delete(it);
      return (code ?? name) as Ending;
    });
    const it = { child, printed, ended };
    running.add(it);
    return it;
  };
  return {
    folder: home,
    async run(commands) {
      const { printed, ended } = launch(commands);
      assert.equal(await ended, 0, `${commands}\n${printed.all}`);
      return printed.out;
    },
    async start(command, shows) {
      const { child, printed, ended } = launch(`exec ${command}`);
      await new Promise<void>((resolve, reject) => {
        const look = () => shows.test(printed.out) && resolve();
        child.stdout!.on("data", look);
        void ended.then((code) => reject(new Error(`${command} ended with ${code}: ${printed.all}`)));
      });
      const stop = () => {
        signal(child, "SIGINT");
        return ended;
      };
      return { output: printed.out, stop };
    },
  };
}

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { splitTieringFlags } from "@anulo/crypto";
import type { PowAnswer, PowQuestion } from "./messages.ts";
import { type ProcessSettings, writeSettings } from "./process-settings.ts";

export interface PowChildOptions {
  readonly settings: ProcessSettings;
  readonly onAnswer: (answer: PowAnswer) => void;
  /** Called once if the process ends without a request. */
  readonly onExit: () => void;
}

/** The hashing process, as the node sees it. */
export interface PowChild {
  send(question: PowQuestion): void;
  /** Sets whether a caller waits for an answer, so that the node's process must not end meanwhile. */
  holdNode(isHeld: boolean): void;
  /** Disconnects, so that the process ends by itself. */
  disconnect(): void;
  /** Resolves once the process has ended. */
  kill(): Promise<void>;
}

/** Starts the process, which ends at once where it can't be started; `spawn` is for tests. */
export function startPowChild(
  options: PowChildOptions,
  spawn: (settings: ProcessSettings) => ChildProcess = spawnHasher,
): PowChild {
  let child: ChildProcess;
  try {
    child = spawn(options.settings);
  } catch {
    // The system has no memory for it.
    return endAtOnce(options);
  }
  return seenBy(options, child);
}

/** A process that could not be started: its end is reported as any other's, after the call that started it. */
function endAtOnce({ onExit }: PowChildOptions): PowChild {
  const report = setImmediate(onExit);
  const cancel = () => clearImmediate(report);
  return { send() {}, holdNode() {}, disconnect: cancel, kill: async () => cancel() };
}

function seenBy({ onAnswer, onExit }: PowChildOptions, child: ChildProcess): PowChild {
  let isOver = false;
  const end = () => {
    if (!isOver) onExit();
    isOver = true;
  };
  child.on("message", (answer) => onAnswer(answer as PowAnswer));
  // Only a process that could not be started never emits its exit.
  child.on("error", () => child.pid === undefined && end());
  child.on("exit", end);
  /** A process that cannot receive messages is useless but alive: its exit is reported when it has ended. */
  const afterSending = (error: Error | null) => {
    if (error !== null && !isOver) child.kill("SIGKILL");
  };
  return {
    // Without descriptors it has no channel, and no `send`: its error is reported.
    send: (question) => void child.send?.(question, afterSending),
    holdNode(isHeld) {
      for (const handle of [child, child.channel]) isHeld ? handle?.ref() : handle?.unref();
    },
    disconnect() {
      isOver = true;
      if (child.connected) child.disconnect();
    },
    async kill() {
      isOver = true;
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      child.ref();
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    },
  };
}

/**
 * Makes the C library of Linux request pages of 2 MiB where RandomX's library allocates memory, since the library has
 * no option for it: 28 instead of 42 ms per hash. Other C libraries ignore the variable. Source: glibc manual, "Memory
 * Allocation Tunables".
 */
const largePages = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1" } as const;

/** The process gets nothing of our environment except the variables that measure test coverage. */
function spawnHasher(settings: ProcessSettings): ChildProcess {
  const { NODE_V8_COVERAGE } = process.env;
  return fork(new URL("./pow-process.js", import.meta.url), [writeSettings(settings)], {
    env: { ...largePages, ...(NODE_V8_COVERAGE !== undefined && { NODE_V8_COVERAGE }) },
    execArgv: [...splitTieringFlags],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}

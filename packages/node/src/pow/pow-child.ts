import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { PowAnswer, PowQuestion } from "./messages.ts";
import { type ProcessSettings, writeSettings } from "./process-settings.ts";

export interface PowChildOptions {
  readonly settings: ProcessSettings;
  readonly onAnswer: (answer: PowAnswer) => void;
  /** Told once if the process ends without being asked to. */
  readonly onExit: () => void;
}

/** The process that hashes, seen from the node. */
export interface PowChild {
  send(question: PowQuestion): void;
  /** Whether somebody waits for it, so that the node's process must not end meanwhile. */
  holdNode(isHeld: boolean): void;
  /** Lets it end by itself. */
  disconnect(): void;
  /** Resolves once it is gone. */
  kill(): Promise<void>;
}

/** Starts the process; `spawn` is for tests. */
export function startPowChild(
  { settings, onAnswer, onExit }: PowChildOptions,
  spawn: (settings: ProcessSettings) => ChildProcess = spawnHasher,
): PowChild {
  const child = spawn(settings);
  let isOver = false;
  const end = () => {
    if (!isOver) onExit();
    isOver = true;
  };
  child.on("message", (answer) => onAnswer(answer as PowAnswer));
  // Only a process that could not be started never tells of its exit.
  child.on("error", () => child.pid === undefined && end());
  child.on("exit", end);
  /** A process that cannot be spoken to is of no use, but lives: its end is told when it is gone. */
  const afterSending = (error: Error | null) => {
    if (error !== null && !isOver) child.kill("SIGKILL");
  };
  return {
    send: (question) => void child.send(question, afterSending),
    holdNode(isHeld) {
      for (const held of [child, child.channel]) isHeld ? held?.ref() : held?.unref();
    },
    disconnect() {
      isOver = true;
      if (child.connected) child.disconnect();
    },
    async kill() {
      isOver = true;
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      child.ref();
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}

/**
 * Has the C library of Linux ask for pages of 2 MiB where RandomX's library takes its memory, which it cannot be told
 * itself: 28 instead of 42 ms per hash. Others do not know the variable. Source: glibc manual, "Memory Allocation
 * Tunables".
 */
const largePages = { GLIBC_TUNABLES: "glibc.malloc.hugetlb=1" } as const;

/** Of our environment the process gets nothing but what measures test coverage. */
function spawnHasher(settings: ProcessSettings): ChildProcess {
  const { NODE_V8_COVERAGE } = process.env;
  return fork(new URL("./pow-process.js", import.meta.url), [writeSettings(settings)], {
    env: { ...largePages, ...(NODE_V8_COVERAGE !== undefined && { NODE_V8_COVERAGE }) },
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}

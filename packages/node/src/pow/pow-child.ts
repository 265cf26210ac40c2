import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { PowAnswer, PowQuestion } from "./messages.ts";
import { type ProcessSettings, writeSettings } from "./process-settings.ts";

export interface PowChildOptions {
  readonly settings: ProcessSettings;
  readonly onAnswer: (answer: PowAnswer) => void;
  /** Told once if the process ends without being asked to. */
  readonly onDeath: () => void;
}

/** The process that hashes, seen from the node. */
export interface PowChild {
  send(question: PowQuestion): void;
  /** Whether somebody waits for it, so that the node's process must not end meanwhile. */
  holdNode(isHeld: boolean): void;
  /** Lets it end by itself. */
  dismiss(): void;
  /** Resolves once it is gone. */
  kill(): Promise<void>;
}

/** Starts the process. */
export function startPowChild({ settings, onAnswer, onDeath }: PowChildOptions): PowChild {
  const child = spawnHasher(settings);
  let isOver = false;
  const end = () => {
    if (!isOver) onDeath();
    isOver = true;
  };
  child.on("message", (answer) => onAnswer(answer as PowAnswer));
  child.on("error", end);
  child.on("exit", end);
  return {
    // A process that is gone cannot be asked, of which "exit" tells.
    send: (question) => void child.send(question, () => {}),
    holdNode(isHeld) {
      for (const held of [child, child.channel]) isHeld ? held?.ref() : held?.unref();
    },
    dismiss() {
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

/** Of our environment the process gets nothing but what measures test coverage. */
function spawnHasher(settings: ProcessSettings): ChildProcess {
  const { NODE_V8_COVERAGE } = process.env;
  return fork(new URL("./pow-process.js", import.meta.url), [writeSettings(settings)], {
    env: NODE_V8_COVERAGE === undefined ? {} : { NODE_V8_COVERAGE },
    execArgv: [],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
}

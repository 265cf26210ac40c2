import { cpus } from "node:os";
import type { Logger } from "@anulo/rpc";
import {
  type BackgroundSettings,
  firstBackgroundState,
  nextBackgroundState,
  type ProcessorTimes,
} from "./background.ts";

/** The machine's source of power. */
export type PowerSource = "mains" | "battery" | "unknown";

/** Checks the machine's load from time to time and decides how hard to mine. */
export interface BackgroundMode {
  /** Whether mining pauses now, and for how many milliseconds a thread rests after a hash. */
  effort(): { readonly isPaused: boolean; readonly restMs: number };
  /** Records the total CPU time (milliseconds) that hashing has taken. */
  recordCpuTime(cpuMs: number): void;
  stop(): void;
}

export interface BackgroundModeOptions {
  readonly settings: BackgroundSettings;
  readonly ignoreBattery: boolean;
  readonly powerSource?: (() => PowerSource) | undefined;
  readonly log: Logger;
  /** Called when the effort has changed. */
  readonly onChange: () => void;
}

/** Starts to check whether the machine is idle. */
export function createBackgroundMode(options: BackgroundModeOptions): BackgroundMode {
  const { settings, ignoreBattery, powerSource = () => "unknown", log, onChange } = options;
  let state = firstBackgroundState(settings);
  let mining = 0;
  let before = processorTimes(mining);
  let timer: NodeJS.Timeout;
  const isPlugged = () => {
    const source = ignoreBattery ? "mains" : powerSource();
    return source === "mains";
  };
  const poll = () => {
    const after = processorTimes(mining);
    const next = nextBackgroundState(state, settings, { before, after, isPlugged: isPlugged() });
    if (next.isMining !== state.isMining) {
      log.info(next.isMining ? "background mining begins" : "background mining pauses");
    }
    const isChanged = next.isMining !== state.isMining || next.restMs !== state.restMs;
    state = next;
    before = after;
    if (isChanged) onChange();
    timer = wait();
  };
  const wait = () => setTimeout(poll, 1000 * state.nextPollSeconds).unref();
  timer = wait();
  return {
    effort: () => ({ isPaused: !state.isMining, restMs: state.restMs }),
    recordCpuTime(cpuMs) {
      mining = cpuMs;
    },
    stop: () => clearTimeout(timer),
  };
}

/** Counts as the original does: without the time of interrupts. */
function processorTimes(mining: number): ProcessorTimes {
  const times = cpus().map((cpu) => cpu.times);
  const idle = times.reduce((sum, each) => sum + each.idle, 0);
  const total = times.reduce((sum, { user, nice, sys }) => sum + user + nice + sys, idle);
  return { total, idle, mining };
}

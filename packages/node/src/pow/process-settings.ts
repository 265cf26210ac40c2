import type { Engine } from "./messages.ts";

/** What the hashing process is told when it starts. */
export interface ProcessSettings {
  /** Threads that verify. */
  readonly threads: number;
  /** Who computes RandomX; undefined to find out. */
  readonly engine: Engine | undefined;
  /** Flags of the system's RandomX library not to be used. */
  readonly disabledFlags: number;
}

/** As an argument of the process. */
export function writeSettings(settings: ProcessSettings): string {
  return JSON.stringify(settings);
}

/** The settings in an argument that the node has written. */
export function readSettings(argument = ""): ProcessSettings {
  return JSON.parse(argument) as ProcessSettings;
}

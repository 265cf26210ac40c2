import type { Engine } from "./messages.ts";

/** The settings that the hashing process gets when it starts. */
export interface ProcessSettings {
  /** Threads for verification. */
  readonly threads: number;
  /** Which code computes RandomX; undefined if it has to be determined. */
  readonly engine: Engine | undefined;
  /** Flags of the system's RandomX library not to be used. */
  readonly disabledFlags: number;
}

/** Formats the settings as an argument of the process. */
export function writeSettings(settings: ProcessSettings): string {
  return JSON.stringify(settings);
}

/** Parses the settings from an argument that the node has written. */
export function readSettings(argument = ""): ProcessSettings {
  return JSON.parse(argument) as ProcessSettings;
}

import { readFileSync } from "node:fs";
import { BadUsage } from "./flags.ts";

/** Reads a file that a flag names; if it cannot be read, throws BadUsage with the flag or with `refusal`. */
export function readTextFile(
  flag: string,
  file: string,
  refusal = `--${flag} cannot be read: ${file}`,
): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    throw new BadUsage(refusal);
  }
}

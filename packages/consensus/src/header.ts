import type { BlockHeader } from "@anulo/protocol";
import { RuleViolation } from "./violations.ts";

/**
 * A block's major version must be the fork's, and its minor version (0 means 1) must vote for it or a later one.
 * Source: hardfork.cpp `do_check`.
 */
export function checkForkVersion({ majorVersion, minorVersion }: BlockHeader, required: number): void {
  const vote = minorVersion === 0 ? 1 : minorVersion;
  if (majorVersion !== required || vote < required) {
    throw new RuleViolation({ code: "BLOCK_VERSION", majorVersion, minorVersion, required });
  }
}

import assert from "node:assert/strict";
import { RuleViolation, type Violation, type ViolationCode } from "../src/index.ts";

/** Asserts that an action breaks a rule, and this one; returns the violation. */
export function assertRefused(action: () => unknown, code: ViolationCode): Violation {
  try {
    action();
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    assert.equal(error.violation.code, code);
    return error.violation;
  }
  return assert.fail(`expected ${code}, but nothing was refused`);
}

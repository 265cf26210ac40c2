import { RuleViolation } from "@anulo/consensus";

/** Number of blocks or transactions that broke each rule since the start, by the violation's code. */
export class Refusals {
  readonly blocks = new Map<string, number>();
  readonly transactions = new Map<string, number>();

  /** Runs `judge`, and counts the rule of a rejection; other errors are not counted. */
  async count<T>(what: "blocks" | "transactions", judge: () => Promise<T>): Promise<T> {
    try {
      return await judge();
    } catch (error) {
      if (error instanceof RuleViolation) {
        const { code } = error.violation;
        this[what].set(code, (this[what].get(code) ?? 0) + 1);
      }
      throw error;
    }
  }
}

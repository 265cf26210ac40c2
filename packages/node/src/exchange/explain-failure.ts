import { BadBytes } from "@anulo/protocol";
import { BadSource } from "@anulo/storage";
import { BadBlock, type FetchedBlock } from "../chain/import-blocks.ts";
import { withTransactions } from "../chain/incoming-block.ts";
import type { Run } from "./runs.ts";

/** A run that could not be taken, and why. */
export interface FailedRun {
  readonly run: Run;
  readonly error: unknown;
}

/** What is to be told of a failure, and what can be taken all the same. */
export interface Explanation {
  readonly error: unknown;
  /** Blocks of the run below the one at fault, where none of them was taken with it. */
  readonly remaining: readonly FetchedBlock[];
}

/** The error of a run, with the block and its place in the source where the source is to blame. */
export async function explain(path: string, { run, error }: FailedRun): Promise<Explanation> {
  const sourceError = (key: string, reason: string, cause: Error) =>
    new BadSource(path, `${run.places.get(key) ?? "a block"}: ${reason}`, cause);
  if (error instanceof BadBlock) {
    const { key, violation } = error;
    return { error: sourceError(key, `it breaks a rule: ${violation.message}`, error), remaining: [] };
  }
  if (error instanceof BadBytes) {
    for (const [index, { incoming, txs }] of run.blocks.entries()) {
      const found = await withTransactions(incoming, txs).then(
        () => undefined,
        (reason) => reason,
      );
      if (found instanceof BadBytes)
        return {
          error: sourceError(incoming.key, found.message, found),
          remaining: run.blocks.slice(0, index),
        };
    }
  }
  return { error, remaining: [] };
}

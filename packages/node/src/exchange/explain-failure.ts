import { BadBytes } from "@anulo/protocol";
import { BadSource } from "@anulo/storage";
import { BadBlock, type FetchedBlock } from "../chain/import-blocks.ts";
import { withTransactions } from "../chain/incoming-block.ts";
import type { Run } from "./runs.ts";

/** A run that could not be imported, and the error. */
export interface FailedRun {
  readonly run: Run;
  readonly error: unknown;
}

/** The error to report for a failed run, and the blocks that can still be imported. */
export interface Explanation {
  readonly error: unknown;
  /** Blocks of the run below the one at fault, if none of them was imported with it. */
  readonly remaining: readonly FetchedBlock[];
}

/** Describes the error of a run; if the source is at fault, with the block and its place in the source. */
export async function explain(path: string, { run, error }: FailedRun): Promise<Explanation> {
  const sourceError = (key: string, reason: string, cause: Error) =>
    new BadSource(path, `${run.places.get(key) ?? "a block"}: ${reason}`, cause);
  if (error instanceof BadBlock) {
    const { key, violation } = error;
    return { error: sourceError(key, `it breaks a rule: ${violation.message}`, error), remaining: [] };
  }
  if (error instanceof BadBytes) {
    for (const [index, { incoming, txs }] of run.blocks.entries()) {
      const failure = await withTransactions(incoming, txs).then(
        () => undefined,
        (reason) => reason,
      );
      if (failure instanceof BadBytes)
        return {
          error: sourceError(incoming.key, failure.message, failure),
          remaining: run.blocks.slice(0, index),
        };
    }
  }
  return { error, remaining: [] };
}

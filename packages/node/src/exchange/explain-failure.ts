import { BadBytes } from "@anulo/protocol";
import { BadSource } from "@anulo/storage";
import { BadBlock } from "../chain/import-blocks.ts";
import { withTransactions } from "../chain/incoming-block.ts";
import type { Run } from "./runs.ts";

/** A run that could not be taken, and why. */
export interface Failure {
  readonly run: Run;
  readonly error: unknown;
}

/** The error of a run, with the block and its place in the source where the source is to blame. */
export async function explain(path: string, { run, error }: Failure): Promise<unknown> {
  if (error instanceof BadBlock) {
    const { message } = error.violation;
    return new BadSource(
      path,
      `${run.places.get(error.key) ?? "a block"}: it breaks a rule: ${message}`,
      error,
    );
  }
  if (!(error instanceof BadBytes)) return error;
  for (const { incoming, txs } of run.blocks) {
    const found = await withTransactions(incoming, txs).then(
      () => undefined,
      (reason) => reason,
    );
    if (found instanceof BadBytes)
      return new BadSource(path, `${run.places.get(incoming.key)}: ${found.message}`, found);
  }
  return error;
}

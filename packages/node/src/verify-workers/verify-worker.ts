import { parentPort } from "node:worker_threads";
import { discharge, type Failure, type Obligation } from "@anulo/consensus";

/** A batch of obligations for a worker. */
export interface VerifyTask {
  readonly id: number;
  readonly obligations: readonly Obligation[];
}

/** What a worker found: nothing wrong, a proof that does not hold, or a fault of its own. */
export interface VerifyAnswer {
  readonly id: number;
  readonly failure?: Failure | undefined;
  readonly fault?: string;
}

parentPort?.on("message", ({ id, obligations }: VerifyTask) =>
  parentPort?.postMessage(answer(id, obligations)),
);

function answer(id: number, obligations: readonly Obligation[]): VerifyAnswer {
  try {
    return { id, failure: discharge(obligations) };
  } catch (error) {
    return { id, fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

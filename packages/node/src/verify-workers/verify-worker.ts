import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { dischargeEach, type Failure, type Obligation } from "@anulo/consensus";

/** What a worker is started with. */
export interface VerifyWorkerData {
  /** Proofs that it checks before it is ready. */
  readonly firstProofs: readonly Obligation[];
}

/** A batch of obligations for a worker. */
export interface VerifyTask {
  readonly id: number;
  readonly obligations: readonly Obligation[];
}

/** A worker's result: all hold, a proof does not hold, or an error of its own. */
interface VerifyAnswer {
  readonly id: number;
  readonly failure?: Failure | undefined;
  readonly fault?: string;
}

/** A worker's message: once that it is ready, then an answer to each task. */
export type VerifyMessage = "ready" | VerifyAnswer;

/**
 * Waiting tasks are checked together, so that they share the multi-exponentiation of their range proofs: 1.8 ms for one
 * payment's, 0.6 each for eight. More would gain little, and the first task would wait for the last.
 */
const MAX_TASKS = 8;

/** The first task, and those that arrived while others were checked. */
function waitingTasks(first: VerifyTask): VerifyTask[] {
  const tasks = [first];
  while (parentPort !== null && tasks.length < MAX_TASKS) {
    const next = receiveMessageOnPort(parentPort);
    if (next === undefined) break;
    tasks.push(next.message as VerifyTask);
  }
  return tasks;
}

function answer(tasks: readonly VerifyTask[]): VerifyAnswer[] {
  try {
    const failures = dischargeEach(tasks.map(({ obligations }) => obligations));
    return tasks.map(({ id }, i) => ({ id, failure: failures[i] }));
  } catch (error) {
    // An error is reported only for the task that causes it.
    if (tasks.length > 1) return tasks.flatMap((task) => answer([task]));
    return tasks.map(({ id }) => ({
      id,
      fault: error instanceof Error ? (error.stack ?? error.message) : String(error),
    }));
  }
}

/** The first check of each kind of proof builds tables and has code compiled; its verdict is returned elsewhere. */
function checkFirst({ firstProofs }: VerifyWorkerData): void {
  try {
    dischargeEach([firstProofs]);
  } catch {
    // Whoever was given these proofs to answer for reports it.
  }
}

if (parentPort !== null) checkFirst(workerData as VerifyWorkerData);
parentPort?.on("message", (first: VerifyTask) => {
  for (const result of answer(waitingTasks(first))) parentPort?.postMessage(result);
});
parentPort?.postMessage("ready" satisfies VerifyMessage);

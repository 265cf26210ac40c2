/** Runs the jobs that come by a port, one after the other. */

import type { MessagePort } from "node:worker_threads";
import { wipe } from "@anulo/crypto";
import { type Failure, failureOf } from "./failures.ts";
import { type Job, type JobName, jobs } from "./jobs.ts";

export type WorkOrder = { readonly id: number; readonly name: string; readonly input: unknown };
export type WorkAnswer =
  | { readonly id: number; readonly output: unknown }
  | { readonly id: number; readonly failure: Failure };

function answerTo({ id, input }: WorkOrder, job: Job<unknown, unknown>): WorkAnswer {
  try {
    return { id, output: job.run(input) };
  } catch (error) {
    return { id, failure: failureOf(error) };
  }
}

function wipeAfter(order: WorkOrder, answer: WorkAnswer, job: Job<unknown, unknown>): void {
  try {
    if ("output" in answer) wipe(...job.secretsOfOutput(answer.output));
    wipe(...job.secrets(order.input));
  } catch {
    // This also runs for input of the wrong shape: such input contains no secrets and has failed above.
  }
}

export function serveJobs(port: MessagePort): void {
  port.on("message", (order: WorkOrder) => {
    const job = jobs[order.name as JobName] as Job<unknown, unknown>;
    const answer = answerTo(order, job);
    port.postMessage(answer);
    wipeAfter(order, answer, job);
  });
}

/** Signs in a thread of its own: a range proof for many outputs takes longer than an event loop may stand still. */
import { randomBytes } from "node:crypto";
import { parentPort } from "node:worker_threads";
import { type Signer, sign } from "./sign.ts";
import type { RingedTransaction, SignedTransaction } from "./stages.ts";

export type SignJob = {
  readonly id: number;
  readonly ringed: RingedTransaction;
  readonly signer: Omit<Signer, "random">;
};
export type SignAnswer =
  | { readonly id: number; readonly signed: SignedTransaction }
  | { readonly id: number; readonly error: Error };

parentPort?.on("message", ({ id, ringed, signer }: SignJob) => {
  try {
    const signed = sign(ringed, { ...signer, random: randomBytes });
    parentPort?.postMessage({ id, signed } satisfies SignAnswer);
  } catch (error) {
    parentPort?.postMessage({ id, error: error as Error } satisfies SignAnswer);
  } finally {
    signer.keys.viewSecret.fill(0);
    signer.keys.spendSecret?.fill(0);
  }
});

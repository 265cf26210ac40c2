import {
  discharge,
  type Failure,
  meetsDifficulty,
  type Obligation,
  type PowHashObligation,
} from "@anulo/consensus";
import { forEachSliced } from "@anulo/limits";
import { proofCost, proofsCost } from "../chain/proof-costs.ts";
import { type Discharge, FailedProof } from "../chain/proofs.ts";
import type { Pow } from "../pow/pow.ts";
import { startVerifyThread, type VerifyThread, type VerifyThreadOptions } from "./verify-thread.ts";

/** Checks proofs beside the event loop. */
export interface Verifiers {
  readonly discharge: Discharge;
  stop(): Promise<void>;
}

export interface VerifiersOptions {
  /** Number of threads, started when first needed; with 0, proofs are checked in the caller's thread. */
  readonly threads: number;
  /** Computes the hashes; without it, an obligation for a proof of work is an error. */
  readonly pow?: Pick<Pow, "hash"> | undefined;
  /** Milliseconds without a task after which a thread ends. */
  readonly idleMs?: number;
}

/** Starts a thread; tests replace it. */
type StartThread = (options: VerifyThreadOptions) => VerifyThread;

/** Proof of work is checked before everything else: it makes a block costly to forge. */
export function createVerifiers(
  { threads, pow, idleMs = DEFAULT_IDLE_MS }: VerifiersOptions,
  startThread: StartThread = startVerifyThread,
): Verifiers {
  const verifiers =
    threads === 0 ? inlineVerifiers() : threadedVerifiers({ maxThreads: threads, idleMs, startThread });
  return {
    ...verifiers,
    async discharge(obligations) {
      const work = obligations.filter((obligation) => obligation.kind === "powHash");
      if (work.length > 0) await checkWork(work, pow);
      await verifiers.discharge(obligations.filter(({ kind }) => kind !== "powHash"));
    },
  };
}

/** Rejects with FailedProof for the first block whose hash does not meet its difficulty. */
async function checkWork(work: readonly PowHashObligation[], pow: VerifiersOptions["pow"]): Promise<void> {
  if (pow === undefined) throw new Error("there is nothing here to hash with");
  const hashes = await Promise.all(work.map((block) => pow.hash(block)));
  const failed = work.find(({ difficulty }, i) => !meetsDifficulty(hashes[i]!, difficulty));
  if (failed === undefined) return;
  throw new FailedProof({ code: "PROOF_OF_WORK", difficulty: failed.difficulty }, undefined);
}

function throwFirst(failures: readonly (Failure | undefined)[]): void {
  const first = failures.find((failure) => failure !== undefined);
  if (first !== undefined) throw new FailedProof(first.violation, first.transactionId);
}

/** Checks one obligation at a time, a few milliseconds each, in slices. */
function inlineVerifiers(): Verifiers {
  return {
    async discharge(obligations) {
      await forEachSliced(obligations, (obligation) => throwFirst([discharge([obligation])]));
    },
    stop: async () => {},
  };
}

/**
 * The smallest share (milliseconds) that is passed to another thread: for less, as with a payment of two inputs,
 * passing it would cost too much.
 */
const MIN_SHARE_MS = 2.75;

/** Cuts obligations into at most `threads` parts of about the same cost. */
function partition(obligations: readonly Obligation[], threads: number): Obligation[][] {
  const total = proofsCost(obligations);
  const parts = Math.min(threads, Math.max(1, Math.floor(total / MIN_SHARE_MS)));
  const shares: Obligation[][] = [];
  let spent = 0;
  for (const obligation of obligations) {
    const share = Math.floor((spent / total) * parts);
    shares[share] ??= [];
    shares[share].push(obligation);
    spent += proofCost(obligation);
  }
  return shares.filter((share) => share !== undefined);
}

/** Milliseconds of processor time that a thread takes until it has loaded and checked its first proofs. */
const START_COST_MS = 60;

/** Milliseconds until a thread could begin with a further task. */
const delayOf = ({ isReady, pendingCost }: VerifyThread) => pendingCost + (isReady ? 0 : START_COST_MS);

/** Milliseconds without a task after which a thread ends: it takes 20 MiB, and a tenth of a second to start again. */
const DEFAULT_IDLE_MS = 30_000;

interface ThreadOptions {
  readonly maxThreads: number;
  readonly idleMs: number;
  readonly startThread: StartThread;
}

/**
 * A task is sent to the thread that can begin with it first. Another thread is started only once tasks have waited, all
 * together, for as long as its start takes: single payments never need it, and payments that arrive together get it
 * while it is still worth it.
 */
function threadedVerifiers({ maxThreads, idleMs, startThread }: ThreadOptions): Verifiers {
  const threads = new Set<VerifyThread>();
  let waited = 0;
  let stopped = false;
  const start = (firstProofs?: readonly Obligation[]) => {
    waited = 0;
    threads.add(
      startThread({ onGone: (goneThread) => void threads.delete(goneThread), idleMs, firstProofs }),
    );
  };
  const firstFree = () =>
    [...threads].reduce((best, thread) => (delayOf(thread) < delayOf(best) ? thread : best));
  const chooseThread = (share: readonly Obligation[]): VerifyThread => {
    // Somebody waits for the first thread; a further one first checks what another thread checks, too.
    if (threads.size === 0) start();
    else if (threads.size < maxThreads) {
      waited += firstFree().pendingCost;
      if (waited > START_COST_MS) start(share);
    }
    return firstFree();
  };
  return {
    async discharge(obligations) {
      if (stopped) throw new Error("verification has been stopped");
      const shares = partition(obligations, maxThreads);
      throwFirst(await Promise.all(shares.map((share) => chooseThread(share).run(share, proofsCost(share)))));
    },
    async stop() {
      stopped = true;
      await Promise.all([...threads].map((thread) => thread.stop()));
    },
  };
}

import { Worker } from "node:worker_threads";
import {
  discharge,
  type Failure,
  meetsDifficulty,
  type Obligation,
  type PowHashObligation,
} from "@anulo/consensus";
import { giveBackMemory } from "@anulo/crypto";
import { forEachSliced } from "@anulo/limits";
import { type Discharge, FailedProof } from "../chain/proofs.ts";
import type { Pow } from "../pow/pow.ts";
import type { VerifyAnswer, VerifyTask } from "./verify-worker.ts";

/** Checks proofs beside the event loop. */
export interface Verifiers {
  readonly discharge: Discharge;
  stop(): Promise<void>;
}

export interface VerifiersOptions {
  /** Threads, started when first needed; with 0 proofs are checked in the caller's. */
  readonly threads: number;
  /** Makes the hashes; without it, work that has to be checked is an error. */
  readonly pow?: Pick<Pow, "hash"> | undefined;
  /** Milliseconds without a task after which a thread ends. */
  readonly idleMs?: number;
}

/** Work is checked before everything else: it is what makes a block costly to forge. */
export function createVerifiers({ threads, pow, idleMs = DEFAULT_IDLE_MS }: VerifiersOptions): Verifiers {
  const verifiers = threads === 0 ? inlineVerifiers() : threadedVerifiers(threads, idleMs);
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

/** One obligation at a time, a few milliseconds each, in slices. */
function inlineVerifiers(): Verifiers {
  return {
    async discharge(obligations) {
      await forEachSliced(obligations, (obligation) => throwFirst([discharge([obligation])]));
    },
    stop: async () => {},
  };
}

/** Rough cost of an obligation in milliseconds, to share a batch out evenly; work is checked elsewhere. */
const costOf: { readonly [K in Obligation["kind"]]: number } = {
  powHash: 0,
  borromean: 15,
  clsag: 3,
  mlsag: 3,
  fullMlsag: 5,
  ringSignature: 3,
  bulletproof: 3,
  rangeProof: 2.5,
  keyImages: 0.3,
  balance: 0.3,
  outputKeys: 0.1,
};

/** The least a further thread is woken for: what handing over costs would be felt, as with a payment of two inputs. */
const LEAST_SHARE = 6;

/** Cuts obligations into at most `threads` runs of about the same cost. */
function shareOut(obligations: readonly Obligation[], threads: number): Obligation[][] {
  const total = obligations.reduce((sum, { kind }) => sum + costOf[kind], 0);
  const parts = Math.min(threads, Math.max(1, Math.floor(total / LEAST_SHARE)));
  const shares: Obligation[][] = [];
  let spent = 0;
  for (const obligation of obligations) {
    const share = Math.min(parts - 1, Math.floor((spent / total) * parts));
    shares[share] ??= [];
    shares[share].push(obligation);
    spent += costOf[obligation.kind];
  }
  return shares.filter((share) => share !== undefined);
}

interface Waiting {
  resolve(failure: Failure | undefined): void;
  reject(reason: Error): void;
}

/** One worker thread and the tasks it has not answered yet; it keeps the process alive only while it has some. */
interface Hand {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
  /** Ends it when it has long had nothing to do. */
  rest: NodeJS.Timeout | undefined;
}

/** Milliseconds without a task after which a thread ends: it costs 20 MiB, and a tenth of a second to start again. */
const DEFAULT_IDLE_MS = 30_000;

interface HandOptions {
  /** Told when the hand is of no use any more. */
  readonly onGone: (hand: Hand) => void;
  readonly idleMs: number;
}

function hire({ onGone, idleMs }: HandOptions): Hand {
  const worker = new Worker(new URL("./verify-worker.js", import.meta.url));
  const hand: Hand = { worker, waiting: new Map(), rest: undefined };
  const letGo = () => {
    onGone(hand);
    void worker.terminate().then(giveBackMemory);
  };
  const lose = (reason: Error) => {
    clearTimeout(hand.rest);
    onGone(hand);
    for (const task of hand.waiting.values()) task.reject(reason);
    hand.waiting.clear();
  };
  worker.on("message", ({ id, failure, fault }: VerifyAnswer) => {
    const task = hand.waiting.get(id);
    hand.waiting.delete(id);
    if (hand.waiting.size === 0) {
      worker.unref();
      clearTimeout(hand.rest);
      hand.rest = setTimeout(letGo, idleMs).unref();
    }
    if (fault === undefined) task?.resolve(failure);
    else task?.reject(new Error(`a verification worker failed: ${fault}`));
  });
  worker.on("error", lose);
  worker.on("exit", () => lose(new Error("a verification worker ended")));
  return hand;
}

function threadedVerifiers(threads: number, idleMs: number): Verifiers {
  const hands: Hand[] = [];
  let nextId = 0;
  let stopped = false;
  const leastBusy = (): Hand => {
    const idle = hands.find(({ waiting }) => waiting.size === 0);
    if (idle !== undefined) return idle;
    if (hands.length === threads) return hands.reduce((a, b) => (b.waiting.size < a.waiting.size ? b : a));
    const onGone = (gone: Hand) => void hands.splice(hands.indexOf(gone), hands.includes(gone) ? 1 : 0);
    const hand = hire({ onGone, idleMs });
    hands.push(hand);
    return hand;
  };
  const run = (obligations: readonly Obligation[]) =>
    new Promise<Failure | undefined>((resolve, reject) => {
      const { worker, waiting, rest } = leastBusy();
      clearTimeout(rest);
      const task: VerifyTask = { id: nextId++, obligations };
      waiting.set(task.id, { resolve, reject });
      worker.ref();
      worker.postMessage(task);
    });
  return {
    async discharge(obligations) {
      if (stopped) throw new Error("verification has been stopped");
      throwFirst(await Promise.all(shareOut(obligations, threads).map(run)));
    },
    async stop() {
      stopped = true;
      await Promise.all(hands.map(({ worker }) => worker.terminate()));
    },
  };
}

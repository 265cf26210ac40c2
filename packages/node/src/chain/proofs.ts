import { type Obligation, type RingMember, RuleViolation, type Violation } from "@anulo/consensus";
import { keccak256 } from "@anulo/crypto";
import { toHex } from "@anulo/protocol";
import { proofsCost } from "./proof-costs.ts";

/**
 * Thrown inside an attempt that cannot finish before these obligations are discharged. Each payment throws it once, so it
 * is no Error: its stack would cost as much as reading the payment.
 */
class OpenProofs {
  readonly obligations: readonly Obligation[];

  constructor(obligations: readonly Obligation[]) {
    this.obligations = obligations;
  }
}

/** A proof that does not hold; `transactionId` (32 bytes) is set if it belongs to a transaction. */
export class FailedProof extends RuleViolation {
  readonly transactionId: Uint8Array | undefined;

  constructor(violation: Violation, transactionId: Uint8Array | undefined) {
    super(violation);
    this.transactionId = transactionId;
  }
}

/** Discharges obligations, in this thread or in workers; rejects with FailedProof for the first that does not hold. */
export type Discharge = (obligations: readonly Obligation[]) => Promise<void>;

/**
 * Remembers which obligations were discharged, so that a transaction checked on its way into the pool is not checked
 * again in its block. `runProven` runs one synchronous attempt at a time: the next attempt sees everything that changed
 * while proofs were being checked.
 */
export interface Proofs {
  /** Returns the obligations that are not discharged yet. */
  unproven(obligations: readonly Obligation[]): Obligation[];
  /** Discharges all of these, without remembering them; rejects with FailedProof. */
  prove(obligations: readonly Obligation[]): Promise<void>;
  /** Throws OpenProofs if some of these are not discharged yet. */
  requireProven(obligations: readonly Obligation[]): void;
  /** Records these as discharged, because the caller knows that they hold. */
  markProven(obligations: readonly Obligation[]): void;
  /** Repeats `attempt` until it requires nothing that is not proven; rejects with RuleViolation. */
  runProven<T>(attempt: () => T): Promise<T>;
  /** The same for an attempt that writes over several turns. */
  runProvenInTurns<T>(attempt: () => Promise<T>): Promise<T>;
  /** Runs what an attempt, or its preparation, does in one turn of the event loop; its time is told to `onWork`. */
  measure<T>(run: () => T): T;
  /** The same proofs for a sender whose processor time is counted. */
  chargedTo(onWork: OnWork): Proofs;
}

/**
 * Called with milliseconds of processor time: those that attempts took in this thread, and those that proofs they
 * require cost by declaration, in whatever thread.
 */
export type OnWork = (milliseconds: number) => void;

/** About 100 bytes each; a payment of two inputs makes about six. */
const DEFAULT_CAPACITY = 200_000;
/**
 * A chain that changes so often during its own verification has a bug, or a peer that sends reorganisations without
 * end.
 */
const MAX_ATTEMPTS = 1000;

export interface ProofsOptions {
  /** Obligations remembered as discharged; beyond it the oldest are forgotten. */
  readonly capacity?: number;
  /** Runs an attempt when it may write; by default at once. */
  readonly whenWritable?: <T>(attempt: () => T) => Promise<T>;
  /** Milliseconds of processor time that obligations cost; by default whatever the chain is. */
  readonly costOf?: (obligations: readonly Obligation[]) => number;
}

/** Creates it with nothing proven. */
export function createProofs(discharge: Discharge, options: ProofsOptions = {}): Proofs {
  const {
    capacity = DEFAULT_CAPACITY,
    whenWritable = async (attempt) => attempt(),
    costOf = proofsCost,
  } = options;
  const proven = new Set<string>();
  const fingerprints = new WeakMap<Obligation, string>();
  const fingerprintOf = (obligation: Obligation): string => {
    const print = fingerprints.get(obligation) ?? fingerprint(obligation);
    fingerprints.set(obligation, print);
    return print;
  };
  const remember = (obligation: Obligation) => {
    proven.add(fingerprintOf(obligation));
    if (proven.size > capacity) for (const oldest of proven) return void proven.delete(oldest);
  };
  const open = (obligations: readonly Obligation[]) =>
    obligations.filter((obligation) => !proven.has(fingerprintOf(obligation)));
  const proofsFor = (onWork: OnWork | undefined): Proofs => {
    const measure = onWork === undefined ? runAlone : measureFor(onWork);
    const runProvenInTurns = async <T>(attempt: () => Promise<T>): Promise<T> => {
      for (let i = 0; i < MAX_ATTEMPTS; i++) {
        try {
          return await attempt();
        } catch (error) {
          if (!(error instanceof OpenProofs)) throw error;
          onWork?.(costOf(error.obligations));
          await discharge(error.obligations);
          for (const obligation of error.obligations) remember(obligation);
        }
      }
      throw new Error(`the chain changed ${MAX_ATTEMPTS} times while proofs were being checked`);
    };
    return {
      unproven: open,
      prove: discharge,
      requireProven(obligations) {
        const missing = open(obligations);
        if (missing.length > 0) throw new OpenProofs(missing);
      },
      markProven: (obligations) => obligations.forEach(remember),
      runProven: (attempt) => runProvenInTurns(() => whenWritable(() => measure(attempt))),
      runProvenInTurns,
      measure,
      chargedTo: proofsFor,
    };
  };
  return proofsFor(undefined);
}

const runAlone = <T>(run: () => T): T => run();

const measureFor =
  (onWork: OnWork) =>
  <T>(run: () => T): T => {
    const startedAt = performance.now();
    try {
      return run();
    } finally {
      onWork(performance.now() - startedAt);
    }
  };

/**
 * Identifies what an obligation claims. The transaction's id stands for its bytes, but not for the outputs that its
 * rings refer to: those depend on the chain, so they are part of the claim.
 */
function fingerprint(obligation: Obligation): string {
  return Buffer.from(keccak256(Buffer.from(placeOf(obligation)), ...factsOf(obligation))).toString("base64");
}

/** Identifies the kind of an obligation and its input or output, besides the transaction. */
function placeOf(obligation: Obligation): string {
  if (obligation.kind === "powHash") {
    const { kind, difficulty, height, majorVersion, seedId } = obligation;
    return `${kind} ${difficulty} ${height} ${majorVersion} ${seedId === undefined ? "" : toHex(seedId)} `;
  }
  const part = "input" in obligation ? obligation.input : "output" in obligation ? obligation.output : "";
  return `${obligation.kind} ${part} `;
}

/** The block's bytes, or the transaction's id with the ring members. */
function factsOf(obligation: Obligation): Uint8Array[] {
  switch (obligation.kind) {
    case "powHash":
      return [obligation.blob];
    case "clsag":
      return [obligation.transactionId, obligation.keys, obligation.commitments];
    case "mlsag":
      return [obligation.transactionId, ...membersOf(obligation.ring)];
    case "fullMlsag":
      return [obligation.transactionId, ...obligation.rings.flatMap(membersOf)];
    case "ringSignature":
      return [obligation.transactionId, ...obligation.keys];
    default:
      return [obligation.transactionId];
  }
}

function membersOf(ring: readonly RingMember[]): Uint8Array[] {
  return ring.flatMap(({ key, commitment }) => [key, commitment]);
}

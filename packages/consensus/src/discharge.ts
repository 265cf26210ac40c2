import {
  areInMainSubgroup,
  checkRingSignature,
  commitmentsBalance,
  isPoint,
  verifyBorromean,
  verifyBulletproofs,
  verifyBulletproofsPlus,
  verifyClsagRing,
  verifyMlsagFull,
  verifyMlsagSimple,
} from "@anulo/crypto";
import type { Obligation } from "./obligations.ts";
import type { Violation } from "./violations.ts";

/** The obligation that failed, and the violation it causes. */
export interface Failure {
  /** Index in the list passed to `discharge`. */
  index: number;
  /** Of the transaction at fault (32 bytes); undefined where the block is. */
  transactionId: Uint8Array | undefined;
  violation: Violation;
}

type ObligationOf<K extends Obligation["kind"]> = Extract<Obligation, { kind: K }>;
type BatchKind = "bulletproof" | "rangeProof";
type SingleKind = Exclude<Obligation["kind"], BatchKind | "powHash">;

/**
 * Maximum number of terms of one multi-exponentiation: some 800 payments. A larger one saves nothing more, and the
 * kernel has a limit, which no number of proofs from strangers may reach.
 */
const MAX_BATCH_TERMS = 2 ** 14;

export interface DischargeOptions {
  /** Terms of one multi-exponentiation; a single proof may have more. */
  readonly maxBatchTerms?: number;
}

/**
 * Checks proofs and returns the first that fails, undefined when all hold. Range proofs of a kind share
 * multi-exponentiations; only when one of them fails is the failing proof searched for. This is heavy work (about a
 * millisecond per input), meant for workers. Throws `TypeError` for a proof of work: the caller has to compute its
 * hash, which takes a process and memory of its own.
 */
export function discharge(
  obligations: readonly Obligation[],
  options: DischargeOptions = {},
): Failure | undefined {
  return dischargeEach([obligations], options)[0];
}

/**
 * The same for several lists: the results are those of `discharge`, but range proofs of all lists are checked together.
 */
export function dischargeEach(
  lists: readonly (readonly Obligation[])[],
  { maxBatchTerms = MAX_BATCH_TERMS }: DischargeOptions = {},
): (Failure | undefined)[] {
  const singles = lists.map(firstBadSingle);
  const before = lists.map((obligations, list) => obligations.slice(0, singles[list]?.index));
  const batched = [
    firstBadOfAll(batchesOf(proofsOfKind(before, "bulletproof"), maxBatchTerms), verifyBulletproofs),
    firstBadOfAll(batchesOf(proofsOfKind(before, "rangeProof"), maxBatchTerms), verifyBulletproofsPlus),
  ];
  return lists.map((obligations, list) => {
    const bad = batched.map((failures) => failures.get(list)).filter((index) => index !== undefined);
    if (bad.length === 0) return singles[list];
    const index = Math.min(...bad);
    return failure(index, obligations[index]!, { code: "RANGE_PROOF" });
  });
}

function failure(index: number, obligation: Obligation, violation: Violation): Failure {
  const transactionId = obligation.kind === "powHash" ? undefined : obligation.transactionId;
  return { index, transactionId, violation };
}

/** The first failure among the obligations that are checked one by one. */
function firstBadSingle(obligations: readonly Obligation[]): Failure | undefined {
  for (const [index, obligation] of obligations.entries()) {
    const violation = checkOne(obligation);
    if (violation !== undefined) return failure(index, obligation, violation);
  }
  return undefined;
}

/** A proof with its list and its index there. */
interface IndexedProof<T> {
  readonly list: number;
  readonly index: number;
  readonly proof: T;
}

/** The proofs of a kind, list by list. */
function proofsOfKind<K extends BatchKind>(
  lists: readonly (readonly Obligation[])[],
  kind: K,
): IndexedProof<ObligationOf<K>>[] {
  return lists.flatMap((obligations, list) =>
    obligations.flatMap((proof, index) =>
      proof.kind === kind ? [{ list, index, proof: proof as ObligationOf<K> }] : [],
    ),
  );
}

/** Terms that a proof adds to the multi-exponentiation of its batch; a slight overestimate. */
function termsOf({ proof, commitments }: ObligationOf<BatchKind>): number {
  return proof.L.length + proof.R.length + commitments.length + 4;
}

/** Cuts proofs into batches of at most so many terms, in order. */
function* batchesOf<T extends ObligationOf<BatchKind>>(
  proofs: readonly IndexedProof<T>[],
  maxTerms: number,
): Generator<IndexedProof<T>[]> {
  let batch: IndexedProof<T>[] = [];
  let terms = 0;
  for (const numberedProof of proofs) {
    const more = termsOf(numberedProof.proof);
    if (batch.length > 0 && terms + more > maxTerms) {
      yield batch;
      batch = [];
      terms = 0;
    }
    batch.push(numberedProof);
    terms += more;
  }
  if (batch.length > 0) yield batch;
}

/** For each list, the index of its first proof that does not hold. */
function firstBadOfAll<T>(
  batches: Iterable<readonly IndexedProof<T>[]>,
  verify: (batch: readonly T[]) => boolean,
): ReadonlyMap<number, number> {
  const failures = new Map<number, number>();
  for (const batch of batches) findBad(batch, verify, failures);
  return failures;
}

/**
 * Records the first proof of each list that does not hold; halves a failing batch, so that one bad proof among n costs
 * some log₂ n batches. Lists in which one was found are not searched further.
 */
function findBad<T>(
  batch: readonly IndexedProof<T>[],
  verify: (batch: readonly T[]) => boolean,
  failures: Map<number, number>,
): void {
  const open = batch.filter(({ list }) => !failures.has(list));
  if (open.length === 0 || verify(open.map(({ proof }) => proof))) return;
  if (open.length === 1) return void failures.set(open[0]!.list, open[0]!.index);
  const middle = open.length >> 1;
  findBad(open.slice(0, middle), verify, failures);
  findBad(open.slice(middle), verify, failures);
}

function indexOfFirst<T>(items: readonly T[], isBad: (item: T) => boolean): number | undefined {
  const index = items.findIndex(isBad);
  return index === -1 ? undefined : index;
}

/**
 * The violation of each kind when it does not hold. Source: cryptonote_format_utils.cpp `check_outs_valid`;
 * cryptonote_core.cpp `check_tx_inputs_keyimages_domain`; rctSigs.cpp `verRctSemanticsSimple`, `verRct`,
 * `verRctNonSemanticsSimple`; blockchain.cpp `check_ring_signature`.
 */
const checks: { readonly [K in SingleKind]: (obligation: ObligationOf<K>) => Violation | undefined } = {
  outputKeys: ({ keys }) => {
    const output = indexOfFirst(keys, (key) => !isPoint(key));
    return output === undefined ? undefined : { code: "OUTPUT_KEY", output };
  },
  keyImages: ({ keyImages }) => {
    const input = areInMainSubgroup(keyImages).indexOf(false);
    if (input === -1) return undefined;
    return { code: isPoint(keyImages[input]!) ? "KEY_IMAGE_DOMAIN" : "KEY_IMAGE_POINT", input };
  },
  balance: ({ pseudoOuts, outputCommitments, fee }) => {
    if (commitmentsBalance(pseudoOuts, outputCommitments, fee)) return undefined;
    const output = indexOfFirst(outputCommitments, (commitment) => !isPoint(commitment));
    return output === undefined ? { code: "BALANCE" } : { code: "COMMITMENT_POINT", output };
  },
  borromean: ({ commitment, proof }) =>
    verifyBorromean(commitment, proof) ? undefined : { code: "RANGE_PROOF" },
  clsag: (obligation) =>
    verifyClsagRing(obligation) ? undefined : { code: "CLSAG", input: obligation.input },
  mlsag: (obligation) =>
    verifyMlsagSimple(obligation) ? undefined : { code: "MLSAG", input: obligation.input },
  fullMlsag: (obligation) => (verifyMlsagFull(obligation) ? undefined : { code: "FULL_MLSAG" }),
  ringSignature: ({ message: prefixHash, keyImage, keys: publicKeys, signatures, input }) => {
    const holds = checkRingSignature({ prefixHash, keyImage, publicKeys }, signatures);
    return holds ? undefined : { code: "RING_SIGNATURE", input };
  },
};

/** The violation of an obligation; undefined when it holds, or is checked in a batch. */
function checkOne(obligation: Obligation): Violation | undefined {
  if (obligation.kind === "powHash")
    throw new TypeError("proof of work is not discharged here: hash the blob and ask meetsDifficulty");
  if (obligation.kind === "bulletproof" || obligation.kind === "rangeProof") return undefined;
  const check = checks[obligation.kind] as (obligation: Obligation) => Violation | undefined;
  return check(obligation);
}

/** Turns transactions into the records that the wallet stores. */
import { wipe } from "@anulo/crypto";
import { type ExtraField, encryptedPaymentId, longPaymentId, type Transaction } from "@anulo/protocol";
import type { KeySet } from "../outputs/key-set.ts";
import type { ScannedOutput, ScannedTransaction } from "../state.ts";
import { type Candidate, type Finder, findOutputs } from "./find-outputs.ts";
import { packedKeys, startsOf } from "./packed-lists.ts";
import { type RawTransaction, sizeOf, transactionOf } from "./raw-transaction.ts";
import { cryptPaymentId, publicAmountOut } from "./scan-transaction.ts";
import { derive, type KeyedTransaction, readKeys, type Sifted, siftKeys, withKeys } from "./sift.ts";
import { namesWatched, type WatchedOutputs, watch } from "./watched-outputs.ts";

export type ScanContext = Finder & {
  /** Key images of every output found so far. */
  readonly knownImages: KeySet;
  /** Whether coinbase transactions are skipped. */
  readonly skipsCoinbase: boolean;
  /**
   * While the spend secret is not in memory: outputs without key image. A transaction that may spend one of them
   * concerns the wallet too.
   */
  readonly watched?: WatchedOutputs | undefined;
};

/**
 * Unencrypted payment ids are ignored from this hard fork on. Source: wallet2.cpp
 * IGNORE_LONG_PAYMENT_ID_FROM_BLOCK_VERSION.
 */
const LONG_PAYMENT_ID_IGNORED_FROM = 12;

type Prepared = Candidate & KeyedTransaction & { readonly raw: RawTransaction };

/** Transactions that pay the wallet or spend from it, in order. */
export function scanTransactions(
  context: ScanContext,
  transactions: readonly RawTransaction[],
): ScannedTransaction[] {
  const looked = context.skipsCoinbase ? transactions.filter(({ coinbase }) => !coinbase) : transactions;
  const [result] = siftKeys(context.keys.viewSecret, readKeys(looked));
  return pickOwn(context, looked, result!);
}

/**
 * The second half of scanning, in order of the chain: returns those of the sifted transactions that concern the wallet,
 * and wipes the derivations.
 */
export function pickOwn(
  context: ScanContext,
  transactions: readonly RawTransaction[],
  siftResult: Sifted,
): ScannedTransaction[] {
  const prepared = new Map<number, Prepared>();
  try {
    return pickSifted(context, transactions, siftResult, prepared);
  } finally {
    wipe(siftResult.derivations);
    for (const { derivations } of prepared.values()) wipe(derivations);
  }
}

function pickSifted(
  context: ScanContext,
  transactions: readonly RawTransaction[],
  siftResult: Sifted,
  prepared: Map<number, Prepared>,
): ScannedTransaction[] {
  const { keyCounts, imageCounts, derivations, keyImages, trials } = siftResult;
  const { knownImages, watched } = context;
  if (trials.of.length === 0 && knownImages.size === 0 && watched === undefined) return [];
  let starts: Uint32Array | undefined;
  const prepare = (place: number): Prepared => {
    const raw = transactions[place]!;
    starts ??= startsOf(keyCounts);
    const firstDerivation = starts[place]!;
    const end = firstDerivation + keyCounts[place]!;
    const { transaction, fields, keys, mains } = withKeys(transactionOf(raw));
    return {
      raw,
      transaction,
      fields,
      keys,
      mains,
      globalIndices: raw.globalIndices,
      coinbase: raw.coinbase,
      derivations:
        derivations?.subarray(32 * firstDerivation, 32 * end) ??
        derive(context.keys.viewSecret, packedKeys(keys)),
      firstDerivation,
    };
  };
  const candidateAt = (place: number): Prepared => {
    const candidate = prepared.get(place) ?? prepare(place);
    prepared.set(place, candidate);
    return candidate;
  };
  const received = findOutputs(context, siftResult, candidateAt);
  const scanned: ScannedTransaction[] = [];
  if (received.size === 0 && knownImages.size === 0 && watched === undefined) return scanned;
  let image = 0;
  for (let place = 0; place < transactions.length; place++) {
    const candidates = received.get(place) ?? [];
    learnFound(context, candidates);
    const end = image + imageCounts[place]!;
    let concerns = candidates.length > 0;
    for (; image < end; image++) concerns ||= knownImages.has(keyImages, 32 * image);
    if (!concerns && watched !== undefined && imageCounts[place]! > 0)
      concerns = namesWatched(watched, candidateAt(place).transaction);
    if (concerns) scanned.push(describeCandidate(candidateAt(place), candidates));
  }
  return scanned;
}

function learnFound({ knownImages, watched }: ScanContext, received: readonly ScannedOutput[]): void {
  for (const output of received) {
    if (output.keyImage !== undefined) knownImages.add(output.keyImage);
    else if (watched !== undefined) watch(watched, output);
  }
}

function describeCandidate(candidate: Prepared, received: readonly ScannedOutput[]): ScannedTransaction {
  const { raw, transaction, fields, derivations, mains } = candidate;
  const lastMain = mains === 0 ? undefined : derivations.subarray(32 * (mains - 1), 32 * mains);
  const paymentId = paymentIdOf(fields, raw.blockVersion, lastMain);
  return describe({ raw, transaction }, { received, paymentId });
}

/** The record of a transaction that does not pay the wallet, used to find out later whether it spends from it. */
export function describeUnpaid(raw: RawTransaction): ScannedTransaction {
  return describe({ raw, transaction: transactionOf(raw) }, { received: [], paymentId: new Uint8Array(32) });
}

function describe(
  { raw, transaction }: Pick<Prepared, "raw" | "transaction">,
  { received, paymentId }: Pick<ScannedTransaction, "received" | "paymentId">,
): ScannedTransaction {
  const { coinbase, height, timestamp, txHash } = raw;
  const { prefix } = transaction;
  return {
    txHash,
    txSize: sizeOf(raw, transaction),
    coinbase,
    height,
    timestamp,
    received,
    inputs: prefix.inputs.flatMap((input) =>
      input.type === "key" ? [{ keyImage: input.keyImage, amount: input.amount }] : [],
    ),
    unlockTime: prefix.unlockTime,
    fee: feeOf(raw, transaction),
    publicAmountOut: publicAmountOut(prefix),
    paymentId,
  };
}

function feeOf({ coinbase }: RawTransaction, { ringct }: Transaction): bigint | undefined {
  if (coinbase) return 0n;
  if (ringct === undefined) return undefined;
  return ringct.type === 0 ? 0n : ringct.fee;
}

/**
 * The payment id is encrypted with the last public key that was tried. Source: wallet2.cpp `process_new_transaction`.
 */
function paymentIdOf(
  fields: readonly ExtraField[],
  blockVersion: number,
  derivation: Uint8Array | undefined,
): Uint8Array {
  const paymentId = new Uint8Array(32);
  const encrypted = encryptedPaymentId(fields);
  if (encrypted !== undefined && derivation !== undefined)
    paymentId.set(cryptPaymentId(encrypted, derivation));
  else if (blockVersion < LONG_PAYMENT_ID_IGNORED_FROM) paymentId.set(longPaymentId(fields) ?? paymentId);
  return paymentId;
}

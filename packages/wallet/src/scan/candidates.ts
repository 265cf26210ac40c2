/** Turns transactions into what the wallet keeps of them; derivations are made for a whole batch at once. */
import { deriveBatch } from "@anulo/crypto";
import {
  additionalPublicKeys,
  type ExtraField,
  encryptedPaymentId,
  longPaymentId,
  parseExtra,
  type Transaction,
  toHex,
  txPublicKeys,
} from "@anulo/protocol";
import type { ScannedOutput, ScannedTransaction } from "../changes.ts";
import { type Candidate, type Finder, findOutputs, NO_DERIVATION, packedKeys } from "./find-outputs.ts";
import { cryptPaymentId, publicAmountOut, type ScanKeys } from "./scan-transaction.ts";

/** A transaction of a block or of the pool, before scanning. */
export type RawTransaction = {
  /** Id (32 bytes) and size in bytes (0 when unknown), worked out only for the few that matter. */
  readonly identify: () => { readonly txHash: Uint8Array; readonly txSize: number };
  readonly transaction: Pick<Transaction, "prefix" | "ringct">;
  /** By output. */
  readonly globalIndices: readonly bigint[];
  readonly coinbase: boolean;
  readonly height: number;
  readonly timestamp: number;
  /** Hard fork of the block. */
  readonly blockVersion: number;
};

export type ScanContext = Finder & {
  /** Hex key images of every output found so far. */
  readonly knownImages: Set<string>;
  /** Whether rewards of blocks are left out. */
  readonly skipsCoinbase: boolean;
};

/** Readable payment ids mean nothing from this hard fork on. Source: wallet2.cpp IGNORE_LONG_PAYMENT_ID_FROM_BLOCK_VERSION. */
const LONG_PAYMENT_ID_IGNORED_FROM = 12;

type Prepared = {
  readonly raw: RawTransaction;
  readonly fields: readonly ExtraField[];
  readonly publicKeys: readonly Uint8Array[];
  readonly additionalKeys: readonly Uint8Array[];
};

/** Transactions that pay or are paid by the wallet, in order. */
export function scanTransactions(
  context: ScanContext,
  transactions: readonly RawTransaction[],
): ScannedTransaction[] {
  const looked = context.skipsCoinbase ? transactions.filter(({ coinbase }) => !coinbase) : transactions;
  const prepared = looked.map(prepare);
  const derivations = deriveAll(context.keys, prepared);
  let at = 0;
  const candidates = prepared.map(({ raw, publicKeys, additionalKeys }): Candidate => {
    const { transaction, globalIndices, coinbase } = raw;
    const main = derivations.slice(at, at + publicKeys.length);
    at += publicKeys.length;
    const additionalDerivations = derivations.slice(at, at + additionalKeys.length);
    at += additionalKeys.length;
    return {
      transaction,
      publicKeys,
      derivations: main,
      additionalKeys,
      additionalDerivations,
      globalIndices,
      coinbase,
    };
  });
  const received = findOutputs(context, candidates);
  const scanned: ScannedTransaction[] = [];
  for (let i = 0; i < prepared.length; i++) {
    const item = prepared[i]!;
    const found = received[i]!;
    learnImages(context, found);
    if (found.length > 0 || spends(context, item.raw))
      scanned.push(describe(item, found, candidates[i]!.derivations));
  }
  return scanned;
}

function prepare(raw: RawTransaction): Prepared {
  const { outputs, extra } = raw.transaction.prefix;
  const fields = outputs.length === 0 ? [] : parseExtra(extra);
  const publicKeys = txPublicKeys(fields);
  // Without a main key the original doesn't look at the additional ones either.
  const additionalKeys = publicKeys.length === 0 ? [] : additionalPublicKeys(fields).slice(0, outputs.length);
  return { raw, fields, publicKeys, additionalKeys };
}

function deriveAll(keys: ScanKeys, prepared: readonly Prepared[]): Uint8Array[] {
  const all: Uint8Array[] = [];
  for (const { publicKeys, additionalKeys } of prepared) all.push(...publicKeys, ...additionalKeys);
  const publicKeys = packedKeys(all, (key) => key);
  const { derivations, valid } = deriveBatch({ viewSecret: keys.viewSecret, publicKeys });
  return all.map((_, i) => (valid[i] === 1 ? derivations.subarray(32 * i, 32 * i + 32) : NO_DERIVATION));
}

function learnImages({ knownImages }: ScanContext, received: readonly ScannedOutput[]): void {
  for (const { keyImage } of received) if (keyImage !== undefined) knownImages.add(toHex(keyImage));
}

function spends({ knownImages }: ScanContext, { transaction }: RawTransaction): boolean {
  return transaction.prefix.inputs.some(
    (input) => input.type === "key" && knownImages.has(toHex(input.keyImage)),
  );
}

/** What the wallet keeps of a transaction that pays it or spends from it. */
function describe(
  { raw, fields }: Prepared,
  received: readonly ScannedOutput[],
  main: readonly Uint8Array[],
): ScannedTransaction {
  const { coinbase, height, timestamp } = raw;
  const { prefix } = raw.transaction;
  const { txHash, txSize } = raw.identify();
  return {
    txHash,
    txSize,
    coinbase,
    height,
    timestamp,
    received,
    inputs: prefix.inputs.flatMap((input) =>
      input.type === "key" ? [{ keyImage: input.keyImage, amount: input.amount }] : [],
    ),
    unlockTime: prefix.unlockTime,
    fee: feeOf(raw),
    publicAmountOut: publicAmountOut(prefix),
    paymentId: paymentIdOf(fields, raw.blockVersion, main),
  };
}

function feeOf({ coinbase, transaction: { ringct } }: RawTransaction): bigint | undefined {
  if (coinbase) return 0n;
  if (ringct === undefined) return undefined;
  return ringct.type === 0 ? 0n : ringct.fee;
}

/** Encrypted to the last public key that was tried. Source: wallet2.cpp `process_new_transaction`. */
function paymentIdOf(
  fields: readonly ExtraField[],
  blockVersion: number,
  derivations: readonly Uint8Array[],
): Uint8Array {
  const paymentId = new Uint8Array(32);
  const encrypted = encryptedPaymentId(fields);
  const derivation = derivations.at(-1);
  if (encrypted !== undefined && derivation !== undefined)
    paymentId.set(cryptPaymentId(encrypted, derivation));
  else if (blockVersion < LONG_PAYMENT_ID_IGNORED_FROM) paymentId.set(longPaymentId(fields) ?? paymentId);
  return paymentId;
}

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
import { type Candidate, type Finder, findOutputs, NO_DERIVATION } from "./find-outputs.ts";
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
};

/** Readable payment ids mean nothing from this hard fork on. Source: wallet2.cpp IGNORE_LONG_PAYMENT_ID_FROM_BLOCK_VERSION. */
const LONG_PAYMENT_ID_IGNORED_FROM = 12;

type Prepared = RawTransaction & {
  readonly fields: readonly ExtraField[];
  readonly publicKeys: readonly Uint8Array[];
  readonly additionalKeys: readonly Uint8Array[];
};

/** Transactions that pay or are paid by the wallet, in order. */
export function scanTransactions(
  context: ScanContext,
  transactions: readonly RawTransaction[],
): ScannedTransaction[] {
  const prepared = transactions.map(prepare);
  const derivations = deriveAll(context.keys, prepared);
  let at = 0;
  const candidates = prepared.map((item): Candidate => {
    const main = derivations.slice(at, at + item.publicKeys.length);
    at += item.publicKeys.length;
    const additionalDerivations = derivations.slice(at, at + item.additionalKeys.length);
    at += item.additionalKeys.length;
    return { ...item, derivations: main, additionalDerivations };
  });
  const received = findOutputs(context, candidates);
  return prepared.flatMap((item, i) => {
    const scanned = describe(context, item, { received: received[i]!, main: candidates[i]!.derivations });
    return scanned === undefined ? [] : [scanned];
  });
}

function prepare(raw: RawTransaction): Prepared {
  const { outputs, extra } = raw.transaction.prefix;
  const fields = outputs.length === 0 ? [] : parseExtra(extra);
  const publicKeys = txPublicKeys(fields);
  // Without a main key the original doesn't look at the additional ones either.
  const additionalKeys = publicKeys.length === 0 ? [] : additionalPublicKeys(fields).slice(0, outputs.length);
  return { ...raw, fields, publicKeys, additionalKeys };
}

function deriveAll(keys: ScanKeys, prepared: readonly Prepared[]): Uint8Array[] {
  const all = prepared.flatMap(({ publicKeys, additionalKeys }) => [...publicKeys, ...additionalKeys]);
  const packed = new Uint8Array(32 * all.length);
  for (const [i, key] of all.entries()) packed.set(key, 32 * i);
  const { derivations, valid } = deriveBatch({ viewSecret: keys.viewSecret, publicKeys: packed });
  return all.map((_, i) => (valid[i] === 1 ? derivations.subarray(32 * i, 32 * i + 32) : NO_DERIVATION));
}

/** Undefined for a transaction that is none of the wallet's business. */
function describe(
  context: ScanContext,
  item: Prepared,
  { received, main }: { readonly received: ScannedOutput[]; readonly main: readonly Uint8Array[] },
): ScannedTransaction | undefined {
  for (const { keyImage } of received) {
    if (keyImage !== undefined) context.knownImages.add(toHex(keyImage));
  }
  const inputs = item.transaction.prefix.inputs.flatMap((input) =>
    input.type === "key" ? [{ keyImage: input.keyImage, amount: input.amount }] : [],
  );
  const spends = inputs.some(({ keyImage }) => context.knownImages.has(toHex(keyImage)));
  if (received.length === 0 && !spends) return undefined;
  const { coinbase, height, timestamp, transaction } = item;
  return {
    ...item.identify(),
    ...{ coinbase, height, timestamp, received, inputs },
    unlockTime: transaction.prefix.unlockTime,
    fee: feeOf(item),
    publicAmountOut: publicAmountOut(transaction.prefix),
    paymentId: paymentIdOf(item, main),
  };
}

function feeOf({ coinbase, transaction: { ringct } }: Prepared): bigint | undefined {
  if (coinbase) return 0n;
  if (ringct === undefined) return undefined;
  return ringct.type === 0 ? 0n : ringct.fee;
}

/** Encrypted to the last public key that was tried. Source: wallet2.cpp `process_new_transaction`. */
function paymentIdOf({ fields, blockVersion }: Prepared, derivations: readonly Uint8Array[]): Uint8Array {
  const paymentId = new Uint8Array(32);
  const encrypted = encryptedPaymentId(fields);
  const derivation = derivations.at(-1);
  if (encrypted !== undefined && derivation !== undefined)
    paymentId.set(cryptPaymentId(encrypted, derivation));
  else if (blockVersion < LONG_PAYMENT_ID_IGNORED_FROM) paymentId.set(longPaymentId(fields) ?? paymentId);
  return paymentId;
}

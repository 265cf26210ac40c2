/** Finds what one transaction pays to the wallet. Pure and synchronous; runs in the scan worker. */
import {
  commit,
  commitmentMask,
  decodeAmount,
  derivationToScalar,
  deriveSecretKey,
  deriveSubaddressPublicKey,
  deriveViewTag,
  hashToScalar,
  IDENTITY,
  keccak256,
  keyImageOf,
  publicKeyOf,
  scAdd,
  scSub,
  subaddressSecretKey,
} from "@anulo/crypto";
import { equalBytes, type RingCt, type Transaction, type TransactionPrefix, toHex } from "@anulo/protocol";
import type { ScannedOutput } from "../changes.ts";
import type { SubaddressIndex, WalletKeys } from "../state.ts";
import type { SubaddressTable } from "./subaddress-table.ts";

/** Scalar 1: the mask of an amount everybody sees. */
export const PUBLIC_MASK: Uint8Array = Uint8Array.of(1, ...new Uint8Array(31));

export type ScanKeys = Pick<WalletKeys, "viewSecret" | "spendSecret" | "spendPublic">;

/** A transaction ready to be scanned: derivations are 32 bytes each; an unusable public key gives the identity. */
export type Candidate = {
  readonly transaction: Pick<Transaction, "prefix" | "ringct">;
  readonly publicKeys: readonly Uint8Array[];
  readonly derivations: readonly Uint8Array[];
  readonly additionalKeys: readonly Uint8Array[];
  readonly additionalDerivations: readonly Uint8Array[];
  /** Global output indices, in output order. */
  readonly globalIndices: readonly bigint[];
  readonly coinbase: boolean;
};

/** What is replaced when no derivation can be made. Source: wallet2.cpp `process_new_transaction`. */
export const NO_DERIVATION: Uint8Array = IDENTITY;

type Match = { derivation: Uint8Array; txPublicKey: Uint8Array; subaddress: SubaddressIndex };

export function scanTransaction(
  keys: ScanKeys,
  table: SubaddressTable,
  candidate: Candidate,
): ScannedOutput[] {
  const found: ScannedOutput[] = [];
  candidate.transaction.prefix.outputs.forEach((output, outputIndex) => {
    const { target } = output;
    if (target.type !== "key" && target.type !== "taggedKey") return;
    const viewTag = target.type === "taggedKey" ? target.viewTag : undefined;
    const match = findMatch(table, candidate, { key: target.key, viewTag, outputIndex });
    if (match === undefined) return;
    const opened = openAmount(candidate, outputIndex, match.derivation);
    if (opened === undefined) return;
    const { derivation, txPublicKey, subaddress } = match;
    found.push({
      outputIndex,
      globalIndex: candidate.globalIndices[outputIndex] ?? 0n,
      ...opened,
      rct: output.amount === 0n || (candidate.coinbase && candidate.transaction.prefix.version >= 2),
      oneTimeKey: target.key,
      txPublicKey,
      keyImage: keyImage(keys, target.key, { derivation, outputIndex, subaddress }),
      subaddress,
    });
  });
  return found;
}

type Target = {
  readonly key: Uint8Array;
  readonly viewTag: number | undefined;
  readonly outputIndex: number;
};

/** The main keys come first, then this output's own additional key. Source: cryptonote_format_utils.cpp `is_out_to_acc_precomp`. */
function findMatch(table: SubaddressTable, candidate: Candidate, target: Target): Match | undefined {
  for (const [i, derivation] of candidate.derivations.entries()) {
    const subaddress = subaddressOf(table, derivation, target);
    if (subaddress !== undefined) return { derivation, txPublicKey: candidate.publicKeys[i]!, subaddress };
  }
  const derivation = candidate.additionalDerivations[target.outputIndex];
  if (derivation === undefined) return undefined;
  const subaddress = subaddressOf(table, derivation, target);
  if (subaddress === undefined) return undefined;
  return { derivation, txPublicKey: candidate.additionalKeys[target.outputIndex]!, subaddress };
}

function subaddressOf(
  table: SubaddressTable,
  derivation: Uint8Array,
  target: Target,
): SubaddressIndex | undefined {
  const { key, viewTag, outputIndex } = target;
  if (viewTag !== undefined && deriveViewTag(derivation, outputIndex) !== viewTag) return undefined;
  const spendPublic = spendKeyBehind(key, derivation, outputIndex);
  return spendPublic && table.byKey.get(toHex(spendPublic));
}

function spendKeyBehind(
  key: Uint8Array,
  derivation: Uint8Array,
  outputIndex: number,
): Uint8Array | undefined {
  try {
    return deriveSubaddressPublicKey(key, derivation, outputIndex);
  } catch (error) {
    if (error instanceof Error && error.name === "InvalidPoint") return undefined;
    throw error;
  }
}

/** Undefined when the hidden amount doesn't open its commitment: such an output can never be spent. */
function openAmount(candidate: Candidate, outputIndex: number, derivation: Uint8Array) {
  const { prefix, ringct } = candidate.transaction;
  const output = prefix.outputs[outputIndex]!;
  if (output.amount > 0n || ringct === undefined || ringct.type === 0) {
    return { amount: output.amount, mask: PUBLIC_MASK };
  }
  const opened = decodeEcdh(ringct, outputIndex, derivationToScalar(derivation, outputIndex));
  const commitment = ringct.outputCommitments[outputIndex];
  if (opened === undefined || commitment === undefined) return undefined;
  return equalBytes(commit(opened.mask, opened.amount), commitment) ? opened : undefined;
}

/** Source: rctOps.cpp `ecdhDecode`: short amounts from RCT type 4 on, masked scalars before. */
function decodeEcdh(ringct: Exclude<RingCt, { type: 0 }>, outputIndex: number, amountKey: Uint8Array) {
  const info = ringct.ecdhInfo[outputIndex];
  if (info === undefined) return undefined;
  if (!("mask" in info))
    return { mask: commitmentMask(amountKey), amount: decodeAmount(info.amount, amountKey) };
  const first = hashToScalar(amountKey);
  const second = hashToScalar(first);
  return { mask: scSub(info.mask, first), amount: littleEndian64(scSub(info.amount, second)) };
}

function littleEndian64(scalar: Uint8Array): bigint {
  return new DataView(scalar.buffer, scalar.byteOffset).getBigUint64(0, true);
}

type OneTime = { derivation: Uint8Array; outputIndex: number; subaddress: SubaddressIndex };

function keyImage(keys: ScanKeys, oneTimeKey: Uint8Array, oneTime: OneTime): Uint8Array | undefined {
  if (keys.spendSecret === undefined) return undefined;
  const secret = oneTimeSecret(keys, oneTime);
  try {
    if (!equalBytes(publicKeyOf(secret), oneTimeKey)) return undefined;
    return keyImageOf(oneTimeKey, secret);
  } finally {
    secret.fill(0);
  }
}

/** Secret of an owned output's one-time key: Hs(derivation ‖ i) + b, plus the subaddress's own part. */
export function oneTimeSecret(keys: ScanKeys, { derivation, outputIndex, subaddress }: OneTime): Uint8Array {
  if (keys.spendSecret === undefined) throw new Error("a view-only wallet has no spend secret");
  const base = deriveSecretKey(derivation, outputIndex, keys.spendSecret);
  const { major, minor } = subaddress;
  if (major === 0 && minor === 0) return base;
  const part = subaddressSecretKey(keys.viewSecret, major, minor);
  try {
    return scAdd(base, part);
  } finally {
    base.fill(0);
    part.fill(0);
  }
}

const ENCRYPTED_PAYMENT_ID_TAIL = 0x8d;

/** An 8-byte payment id, hidden or shown: the same step does both. Source: device_default.cpp `encrypt_payment_id`. */
export function cryptPaymentId(paymentId: Uint8Array, derivation: Uint8Array): Uint8Array {
  const pad = keccak256(derivation, Uint8Array.of(ENCRYPTED_PAYMENT_ID_TAIL));
  return paymentId.map((byte, i) => byte ^ pad[i]!);
}

/** Public output amounts added up; hidden ones count as 0. */
export function publicAmountOut(prefix: TransactionPrefix): bigint {
  return prefix.outputs.reduce((sum, output) => sum + output.amount, 0n);
}

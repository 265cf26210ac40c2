/**
 * Outputs a view-only wallet found, for the wallet that holds the spend key and may never see the chain.
 * Source: wallet2.h `exported_transfer_details`; wallet2.cpp `export_outputs`, `import_outputs`.
 */
import {
  deriveSubaddressPublicKey,
  generateKeyDerivation,
  InvalidPoint,
  keyImageOf,
  publicKeyOf,
} from "@anulo/crypto";
import {
  bytes32,
  equalBytes,
  list,
  refine,
  struct,
  type TypeOf,
  uint8,
  varint,
  varint64,
  varintBelow,
} from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";
import { oneTimeSecret } from "../scan/scan-transaction.ts";
import type { OwnedOutput, SubaddressIndex, WalletKeys } from "../state.ts";
import { isUnspent } from "../unlock.ts";

const exportedOutput = struct()
  .field(
    "version",
    refine(varint, (version) => version === 0, "unknown version"),
  )
  .field("oneTimeKey", bytes32)
  .field("outputIndex", varintBelow(65_536))
  .field("globalIndex", varint64)
  .field("txPublicKey", bytes32)
  .field("flags", uint8)
  .field("amount", varint64)
  .field("additionalTxPublicKeys", list(bytes32));

export type ExportedOutput = TypeOf<typeof exportedOutput>;

/** A run of outputs: `offset` is the place of the first in the wallet's list. The original writes a pair. */
export const exportedOutputs = struct()
  .field(
    "pairSize",
    refine(varint, (size) => size === 2, "not a pair"),
  )
  .field("offset", varint)
  .field("outputs", list(exportedOutput));

export type ExportedOutputs = TypeOf<typeof exportedOutputs>;

const FLAGS = { spent: 1, frozen: 2, rct: 4, keyImageKnown: 8, keyImageRequested: 16 } as const;

function flagsOf(output: OwnedOutput, isRequested: boolean): number {
  return (
    (isUnspent(output) ? 0 : FLAGS.spent) |
    (output.frozen ? FLAGS.frozen : 0) |
    (output.rct ? FLAGS.rct : 0) |
    (output.keyImage === undefined ? 0 : FLAGS.keyImageKnown) |
    (isRequested ? FLAGS.keyImageRequested : 0)
  );
}

/** The outputs from `offset` on. Only the public key that made the derivation is given, main or additional. */
export function exportOutputs(
  outputs: readonly OwnedOutput[],
  { offset, requestedFrom }: { offset: number; requestedFrom: number },
): ExportedOutputs {
  return {
    pairSize: 2,
    offset,
    outputs: outputs.slice(offset).map((output, i) => ({
      version: 0,
      oneTimeKey: output.oneTimeKey,
      outputIndex: output.outputIndex,
      globalIndex: output.globalIndex,
      txPublicKey: output.txPublicKey,
      flags: flagsOf(output, offset + i >= requestedFrom || output.keyImage === undefined),
      amount: output.amount,
      additionalTxPublicKeys: [],
    })),
  };
}

/** What the wallet needs to recognise and spend an output. */
export type Finder = {
  readonly keys: WalletKeys;
  readonly indexOfSpendKey: (spendPublic: Uint8Array) => SubaddressIndex | undefined;
};

/** Scalar 1 stands for a mask that is not known. */
const UNKNOWN_MASK = Uint8Array.of(1, ...new Uint8Array(31));

type Recognised = Pick<OwnedOutput, "txPublicKey" | "subaddress" | "keyImage">;

function recognise(
  exported: ExportedOutput,
  txPublicKey: Uint8Array,
  finder: Finder,
): Recognised | undefined {
  const { oneTimeKey, outputIndex } = exported;
  const derivation = generateKeyDerivation(txPublicKey, finder.keys.viewSecret);
  try {
    const subaddress = finder.indexOfSpendKey(deriveSubaddressPublicKey(oneTimeKey, derivation, outputIndex));
    if (subaddress === undefined) return undefined;
    const secret = oneTimeSecret(finder.keys, { derivation, outputIndex, subaddress });
    try {
      if (!equalBytes(publicKeyOf(secret), oneTimeKey)) return undefined;
      return { txPublicKey, subaddress, keyImage: keyImageOf(oneTimeKey, secret) };
    } finally {
      secret.fill(0);
    }
  } finally {
    derivation.fill(0);
  }
}

/** More than any chain has: the place of an output is told as a number that is exact. */
const MOST_OUTPUTS = BigInt(Number.MAX_SAFE_INTEGER);

/** An exported output as one of ours. Throws `WalletRefusal` when it isn't. */
export function importOutput(exported: ExportedOutput, finder: Finder): OwnedOutput {
  const { oneTimeKey, outputIndex, globalIndex, amount, flags, additionalTxPublicKeys } = exported;
  if (globalIndex > MOST_OUTPUTS)
    throw new WalletRefusal("UNKNOWN_ERROR", "Failed to import outputs: one of them has an impossible index");
  const candidates = [exported.txPublicKey, additionalTxPublicKeys[outputIndex]];
  for (const candidate of candidates) {
    const found = candidate && attempt(() => recognise(exported, candidate, finder));
    if (found === undefined) continue;
    return {
      oneTimeKey,
      outputIndex,
      globalIndex,
      amount,
      mask: UNKNOWN_MASK,
      ...found,
      rct: (flags & FLAGS.rct) !== 0,
      txHash: new Uint8Array(32),
      height: 0,
      timestamp: 0,
      unlockTime: 0n,
      coinbase: false,
      txSize: 0,
      frozen: (flags & FLAGS.frozen) !== 0,
      spentHeight: (flags & FLAGS.spent) === 0 ? undefined : 0,
      pendingSpend: undefined,
      replaces: undefined,
    };
  }
  throw new WalletRefusal("UNKNOWN_ERROR", "Failed to import outputs: one of them is not of this wallet");
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof InvalidPoint) return undefined;
    throw error;
  }
}

/** An output of which only what was exported is known. */
export function isImported(output: OwnedOutput): boolean {
  return output.height === 0 && output.txHash.every((byte) => byte === 0);
}

/**
 * Outputs that a view-only wallet found, for the wallet with the spend key, which may never read the chain.
 * Source: wallet2.h `exported_transfer_details`; wallet2.cpp `export_outputs`, `import_outputs`.
 */
import {
  deriveSubaddressPublicKey,
  generateKeyDerivation,
  InvalidPoint,
  keyImageOf,
  publicKeyOf,
  wipe,
} from "@anulo/crypto";
import {
  bytes32,
  type Codec,
  decodeInSteps,
  equalBytes,
  list,
  type Reader,
  readList,
  refine,
  struct,
  type TypeOf,
  u8,
  varint,
  varint64,
  varintBelow,
  Writer,
} from "@anulo/protocol";
import type { OutputBook } from "../outputs/output-book.ts";
import type { OwnedOutput, SubaddressIndex } from "../outputs/owned-output.ts";
import { createMoveCheck } from "../outputs/walk.ts";
import { WalletRefusal } from "../refusal.ts";
import { oneTimeSecret } from "../scan/scan-transaction.ts";
import type { SpendKeys } from "../state.ts";
import { isUnspent } from "../unlock.ts";

const outputFields = (version: number) =>
  struct()
    .field(
      "version",
      refine(varint, (read) => read === version, "unknown version"),
    )
    .field("oneTimeKey", bytes32)
    .field("outputIndex", varintBelow(65_536))
    .field("globalIndex", varint64)
    .field("txPublicKey", bytes32)
    .field("flags", u8)
    .field("amount", varint64)
    .field("additionalTxPublicKeys", list(bytes32));

/** The format of 0.18.0. */
const formerOutput = outputFields(0);
const exportedOutput = outputFields(1)
  .field("account", varintBelow(2 ** 32))
  .field("address", varintBelow(2 ** 32));

/** `account` and `address` are the exporting wallet's claim about its own address; the keys show whether it is true. */
export type ExportedOutput = TypeOf<typeof exportedOutput>;

/** A part of a wallet's outputs: index of the first in its list, length of the list, and the part. */
export type ExportedOutputs = {
  readonly offset: number;
  readonly total: number;
  readonly outputs: readonly ExportedOutput[];
};

/** Written in today's format: three values. 0.18.0 wrote two, without the total: these can be read too. */
export const exportedOutputs: Codec<ExportedOutputs> = {
  read(reader) {
    const steps = exportedInSteps(reader);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  },
  write(writer, { offset, total, outputs }) {
    for (const value of [3, offset, total]) varint.write(writer, value);
    list(exportedOutput).write(writer, [...outputs]);
  },
};

/** Reads the form of `exportedOutputs`, and nothing behind it; pauses between outputs. Throws `BadBytes`. */
export const readExported = (bytes: Uint8Array): Generator<void, ExportedOutputs> =>
  decodeInSteps(exportedInSteps, bytes);

/** Reads the form of `exportedOutputs`; pauses between outputs. Throws `BadBytes`. */
export function* exportedInSteps(reader: Reader): Generator<void, ExportedOutputs> {
  const values = varint.read(reader);
  if (values !== 2 && values !== 3) throw reader.bad("no list of outputs");
  const offset = varint.read(reader);
  if (values === 3)
    return { offset, total: varint.read(reader), outputs: yield* readList(reader, exportedOutput) };
  const former = yield* readList(reader, formerOutput);
  const outputs = former.map((each) => ({ ...each, version: 1, account: 0, address: 0 }));
  return { offset, total: offset + outputs.length, outputs };
}

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

/** Which outputs to export: `count` of them from `offset` on. */
export type ExportedPart = {
  readonly offset: number;
  readonly count: number;
  /** Index of the first output whose key image is requested. */
  readonly requestedFrom: number;
};

/** Outputs of a piece of an export: some 20 KB. */
const OUTPUTS_A_PIECE = 256;
const PIECE_BYTES = 32 * 1024;

/**
 * A part of the outputs in the form of `exportedOutputs`, in pieces that are made when they are asked for. Throws
 * `OutputsMoved`.
 */
export function* piecesOfExport(outputs: OutputBook, part: ExportedPart): Generator<Uint8Array, void> {
  const { offset, requestedFrom } = part;
  const total = outputs.count;
  const end = Math.max(offset, Math.min(total, offset + part.count));
  const check = createMoveCheck(outputs);
  const head = new Writer();
  for (const value of [3, offset, total, end - offset]) varint.write(head, value);
  yield head.finish();
  for (let from = offset; from < end; from += OUTPUTS_A_PIECE) {
    check();
    const writer = new Writer(PIECE_BYTES);
    for (let place = from; place < Math.min(end, from + OUTPUTS_A_PIECE); place++)
      exportedOutput.write(writer, exportedOf(outputs.at(place)!, place >= requestedFrom));
    yield writer.finish();
  }
}

/** Only the public key of the derivation is exported, main or additional. */
function exportedOf(output: OwnedOutput, isRequested: boolean): ExportedOutput {
  return {
    version: 1,
    oneTimeKey: output.oneTimeKey,
    outputIndex: output.outputIndex,
    globalIndex: output.globalIndex,
    txPublicKey: output.txPublicKey,
    flags: flagsOf(output, isRequested || output.keyImage === undefined),
    amount: output.amount,
    additionalTxPublicKeys: [],
    account: output.subaddress.major,
    address: output.subaddress.minor,
  };
}

/** The parts of a wallet needed to recognise and spend an output. */
export type Finder = {
  readonly keys: SpendKeys;
  readonly indexOfSpendKey: (spendPublic: Uint8Array) => SubaddressIndex | undefined;
};

/** Scalar 1 stands for a mask that is not known. */
const UNKNOWN_MASK = Uint8Array.of(1, ...new Uint8Array(31));

/** The properties of an exported output that are needed, whatever its origin. */
export type PlainOutput = Omit<ExportedOutput, "version" | "account" | "address">;

type Recognised = Pick<OwnedOutput, "txPublicKey" | "subaddress" | "keyImage">;

function recognise(exported: PlainOutput, txPublicKey: Uint8Array, finder: Finder): Recognised | undefined {
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
      wipe(secret);
    }
  } finally {
    wipe(derivation);
  }
}

/** More outputs than any chain has: the index of an output must be an exact `number`. */
const MAX_OUTPUTS = BigInt(Number.MAX_SAFE_INTEGER);

/** An exported output as one of ours. Throws `WalletRefusal` if it isn't. */
export function importOutput(exported: PlainOutput, finder: Finder): OwnedOutput {
  const { oneTimeKey, outputIndex, globalIndex, amount, flags, additionalTxPublicKeys } = exported;
  if (globalIndex > MAX_OUTPUTS)
    throw new WalletRefusal("UNKNOWN_ERROR", "Failed to import outputs: one of them has an impossible index");
  const candidates = [exported.txPublicKey, additionalTxPublicKeys[outputIndex]];
  for (const candidate of candidates) {
    const output = candidate && attempt(() => recognise(exported, candidate, finder));
    if (output === undefined) continue;
    return {
      oneTimeKey,
      outputIndex,
      globalIndex,
      amount,
      mask: UNKNOWN_MASK,
      ...output,
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

/** Whether only the exported properties of an output are known. */
export function isImported(output: OwnedOutput): boolean {
  return output.height === 0 && output.txHash.every((byte) => byte === 0);
}

/**
 * A transaction that waits to be relayed, with all data it was built from: `tx_metadata` of the wallet service. The
 * original reads and writes the same bytes. Source: wallet2.h `pending_tx`, `tx_construction_data`;
 * cryptonote_tx_utils.h.
 */
import {
  BadBytes,
  byteString,
  bytes,
  bytes32,
  type Codec,
  decode,
  encode,
  times as exactly,
  keyImagesOf,
  list,
  refine,
  struct,
  sumAmounts,
  type TypeOf,
  toHex,
  transaction,
  u8,
  u32,
  varint,
  varint64,
} from "@anulo/protocol";
import type { OwnedOutput } from "../outputs/owned-output.ts";
import { outputsOf } from "./outputs.ts";
import type { Destination, Receiver, Ring, SignedTransaction } from "./stages.ts";

/** Eight bytes, little-endian. */
export const uint64: Codec<bigint> = {
  read: (reader) => {
    const raw = bytes(8).read(reader);
    return new DataView(raw.buffer, raw.byteOffset).getBigUint64(0, true);
  },
  write: (writer, value) => {
    const raw = new Uint8Array(8);
    new DataView(raw.buffer).setBigUint64(0, value, true);
    writer.writeBytes(raw);
  },
};
/** A byte that is 0 or 1. */
export const flag: Codec<number> = refine(u8, (value) => value <= 1, "neither true nor false");
/** The version number of a record, of which only one is known. */
export const version = (newest: number): Codec<number> =>
  refine(varint, (value) => value === newest, "unknown version");

/** Source: cryptonote_tx_utils.h `tx_destination_entry`. */
export const destination = struct()
  .field("original", byteString)
  .field("amount", varint64)
  .field("spendPublic", bytes32)
  .field("viewPublic", bytes32)
  .field("isSubaddress", flag)
  .field("isIntegrated", flag);

/** The original encodes a pair as an array of two. */
const ringMember = struct()
  .field(
    "pairSize",
    refine(varint, (size) => size === 2, "not a pair"),
  )
  .field("globalIndex", varint64)
  .field("key", bytes32)
  .field("commitment", bytes32);

const source = struct()
  .field("outputs", list(ringMember))
  .field("realOutput", uint64)
  .field("txPublicKey", bytes32)
  .field("additionalTxPublicKeys", list(bytes32))
  .field("outputIndex", uint64)
  .field("amount", uint64)
  .field("rct", flag)
  .field("mask", bytes32)
  .field("multisig", bytes(128));

/** All data that a transaction is built from, except the secrets. */
export const constructionData = struct()
  .field("sources", list(source))
  .field("change", destination)
  .field("splitDestinations", list(destination))
  .field("selectedTransfers", list(varint64))
  .field("extra", byteString)
  .field("unlockTime", uint64)
  .field("flags", u8)
  .field("rctConfigVersion", version(0))
  .field("rangeProofType", varint)
  .field("bulletproofVersion", varint)
  .field("destinations", list(destination))
  .field("account", u32)
  .field("subaddressIndices", list(varint));

/** A part of `multisig_sig` that is always empty. */
const nothing = refine(varint, (size) => size === 0, "not empty");
const keys = list(bytes32);

/**
 * The signatures of one group of signers so far; `ringct` and `msout` are obsolete fields. Source: wallet2.h
 * `multisig_sig`.
 */
const signingAttempt = struct()
  .field("version", version(1))
  .field(
    "ringctType",
    refine(u8, (type) => type === 0, "not empty"),
  )
  .field("ringctMessage", bytes32)
  .field("ringct", exactly(11, nothing))
  .field("ignoredSigners", keys)
  .field("usedNonces", keys)
  .field("signingKeys", keys)
  .field("msout", exactly(2, nothing))
  .field("totalNoncesL", list(keys))
  .field("totalNoncesR", list(keys))
  .field("c1", keys)
  .field("s", keys);

/** Source of the field order: `pending_tx`, version 1. */
export const pendingTransaction = struct()
  .field("version", version(1))
  .field("transaction", transaction)
  .field("dust", uint64)
  .field("fee", uint64)
  .field("dustAddedToFee", flag)
  .field("change", destination)
  .field("selectedTransfers", list(varint64))
  .field("keyImages", byteString)
  .field("txKey", bytes32)
  .field("additionalTxKeys", list(bytes32))
  .field("destinations", list(destination))
  .field("constructionData", constructionData)
  .field("multisigSignatures", list(signingAttempt))
  .field("multisigEntropy", bytes32);

export type SigningAttempt = TypeOf<typeof signingAttempt>;
export type ConstructionData = TypeOf<typeof constructionData>;
/** One input with its ring. */
export type SourceValue = TypeOf<typeof source>;
export type PendingTransaction = TypeOf<typeof pendingTransaction>;

/** What construction data leave for the fee, in atomic units: below 0 if they pay more than they spend. */
export function feeOfConstruction({
  sources,
  splitDestinations,
}: Pick<ConstructionData, "sources" | "splitDestinations">): bigint {
  return sumAmounts(sources) - sumAmounts(splitDestinations);
}

/** Parses metadata; throws `BadBytes` for anything else, trailing bytes and multisig included. */
export function readMetadata(blob: Uint8Array): PendingTransaction {
  const pending = decode(pendingTransaction, blob);
  if (pending.multisigSignatures.length > 0) throw new BadBytes("a transaction of several signers");
  return pending;
}

/** Serializes metadata. The result contains the secret transaction keys. */
export function writeMetadata(pending: PendingTransaction): Uint8Array {
  return encode(pendingTransaction, pending);
}

export type DestinationValue = TypeOf<typeof destination>;
const utf8 = new TextEncoder();
const asFlag = (value: boolean): number => (value ? 1 : 0);

export function destinationValue(to: Receiver & Partial<Destination>): DestinationValue {
  const { spendPublic, viewPublic, isSubaddress, address = "", amount = 0n, paymentId } = to;
  return {
    original: utf8.encode(address),
    amount,
    spendPublic,
    viewPublic,
    isSubaddress: asFlag(isSubaddress),
    isIntegrated: asFlag(paymentId !== undefined),
  };
}

function sourceValue(output: OwnedOutput, { members, realIndex }: Ring): SourceValue {
  return {
    outputs: members.map(({ globalIndex, key, commitment }) => {
      return { pairSize: 2, globalIndex: BigInt(globalIndex), key, commitment };
    }),
    realOutput: BigInt(realIndex),
    txPublicKey: output.txPublicKey,
    additionalTxPublicKeys: [],
    outputIndex: BigInt(output.outputIndex),
    amount: output.amount,
    rct: asFlag(output.rct),
    mask: output.mask,
    multisig: new Uint8Array(128),
  };
}

/** RingCT outputs with view tags, padded Bulletproofs+ (version 4 to the original). */
const CONSTRUCTION = { flags: 3, rctConfigVersion: 0, rangeProofType: 3, bulletproofVersion: 4 };
/** View tags only. */
const VISIBLE_CONSTRUCTION = { flags: 2, rctConfigVersion: 0, rangeProofType: 0, bulletproofVersion: 0 };

export type MetadataContext = {
  readonly change: Receiver;
  /** Returns the index of an output in the wallet. */
  readonly indexOf: (output: OwnedOutput) => number;
};

/** A signed transaction as data that can be stored and relayed later. */
export function pendingOf(signed: SignedTransaction, context: MetadataContext): PendingTransaction {
  const { inputs, rings, fee, txKeys, transaction: tx } = signed;
  const [txKey, ...additionalTxKeys] = txKeys;
  const selectedTransfers = inputs.map((input) => BigInt(context.indexOf(input)));
  const change = destinationValue({ ...context.change, amount: signed.change });
  const destinations = signed.destinations.map(destinationValue);
  const dummy = context.change;
  const minors = new Set(inputs.map((input) => input.subaddress.minor));
  const images = keyImagesOf(tx.prefix).map((keyImage) => `<${toHex(keyImage)}> `);
  return {
    version: 1,
    transaction: tx,
    dust: 0n,
    fee,
    dustAddedToFee: 0,
    change,
    selectedTransfers,
    keyImages: utf8.encode(images.join("")),
    txKey: txKey!,
    additionalTxKeys,
    destinations,
    constructionData: {
      ...(signed.isVisible === true ? VISIBLE_CONSTRUCTION : CONSTRUCTION),
      sources: inputs.map((input, i) => sourceValue(input, rings[i]!)),
      change,
      selectedTransfers,
      extra: tx.prefix.extra,
      unlockTime: signed.unlockTime,
      destinations,
      // Destinations come first, with the caller's text unchanged: signers compare them.
      splitDestinations: outputsOf(signed, { change: context.change, dummy }).map(
        (output, i) => (signed.isVisible === true ? undefined : destinations[i]) ?? destinationValue(output),
      ),
      account: inputs[0]!.subaddress.major,
      subaddressIndices: [...minors].sort((a, b) => a - b),
    },
    multisigSignatures: [],
    multisigEntropy: new Uint8Array(32),
  };
}

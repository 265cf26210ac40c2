/**
 * The two sets of transactions that a view-only wallet and the signing wallet exchange.
 * Source: wallet2.h `unsigned_tx_set`, `signed_tx_set`; wallet2.cpp `dump_tx_to_str`, `sign_tx_dump_to_str`.
 */
import { runSliced } from "@anulo/limits";
import {
  BadBytes,
  bytes32,
  type Codec,
  decodeInSteps,
  encode,
  list,
  type Reader,
  readList,
  refine,
  struct,
  type TypeOf,
  varint,
} from "@anulo/protocol";
import { constructionData, pendingTransaction } from "../transfer/metadata.ts";
import { exportedInSteps, exportedOutputs } from "./exported-outputs.ts";
import { magicOf, type Sealer, seal, unseal } from "./sealed.ts";

const exactly = (value: number, reason: string) => refine(varint, (read) => read === value, reason);

/** 0.18.0 writes version 1, whose outputs have no total. */
const unsignedVersion = refine(varint, (read) => read === 1 || read === 2, "unknown version");
const unsignedHead = struct().field("version", unsignedVersion).field("transactions", list(constructionData));
const unsignedSet = unsignedHead.field("newOutputs", exportedOutputs);

const keyImageOfOutput = struct()
  .field("pairSize", exactly(2, "not a pair"))
  .field("oneTimeKey", bytes32)
  .field("keyImage", bytes32);

const signedVersion = exactly(0, "unknown version");
const signedSet = struct()
  .field("version", signedVersion)
  .field("transactions", list(pendingTransaction))
  .field("keyImages", list(bytes32))
  .field("ownOutputs", list(keyImageOfOutput));

export type UnsignedSet = TypeOf<typeof unsignedSet>;
export type SignedSet = TypeOf<typeof signedSet>;

/** The magic and the codec of a kind of set, which may be long: `steps` reads it with pauses. */
export type Kind<T> = {
  readonly magic: Uint8Array;
  readonly codec: Codec<T>;
  readonly steps: (reader: Reader) => Generator<void, T>;
};

function* unsignedInSteps(reader: Reader): Generator<void, UnsignedSet> {
  const version = unsignedVersion.read(reader);
  const transactions = yield* readList(reader, constructionData);
  return { version, transactions, newOutputs: yield* exportedInSteps(reader) };
}

function* signedInSteps(reader: Reader): Generator<void, SignedSet> {
  const version = signedVersion.read(reader);
  const transactions = yield* readList(reader, pendingTransaction);
  const keyImages = yield* readList(reader, bytes32);
  return { version, transactions, keyImages, ownOutputs: yield* readList(reader, keyImageOfOutput) };
}

export const unsignedKind: Kind<UnsignedSet> = {
  magic: magicOf("Monero unsigned tx set", 5),
  codec: unsignedSet,
  steps: unsignedInSteps,
};
export const signedKind: Kind<SignedSet> = {
  magic: magicOf("Monero signed tx set", 5),
  codec: signedSet,
  steps: signedInSteps,
};

export function sealSet<T>({ magic, codec }: Kind<T>, set: T, sealer: Sealer): Promise<Uint8Array> {
  return seal(magic, encode(codec, set), sealer);
}

/** An unsigned set whose outputs are made as they are needed: the bytes of `exportedOutputs` in pieces. */
export function sealUnsigned(
  transactions: UnsignedSet["transactions"],
  newOutputs: Iterable<Uint8Array>,
  sealer: Sealer,
): Promise<Uint8Array> {
  const head = encode(unsignedHead, { version: 2, transactions });
  return seal(unsignedKind.magic, joined(head, newOutputs), sealer);
}

function* joined(head: Uint8Array, rest: Iterable<Uint8Array>): Generator<Uint8Array, void> {
  yield head;
  yield* rest;
}

/** Undefined for data that is not such a set of this wallet. */
export async function unsealSet<T>(
  { magic, steps }: Kind<T>,
  sealed: Uint8Array,
  sealer: Sealer,
): Promise<T | undefined> {
  const plain = await unseal(magic, sealed, sealer);
  if (plain === undefined) return undefined;
  try {
    return await runSliced(decodeInSteps(steps, plain));
  } catch (error) {
    if (error instanceof BadBytes) return undefined;
    throw error;
  }
}

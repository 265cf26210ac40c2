import { Reader } from "./codec/bytes-io.ts";
import type { Codec, TypeOf } from "./codec/wire.ts";
import {
  absent,
  byteString,
  bytes,
  bytes32,
  decode,
  encode,
  list,
  refine,
  struct,
  times,
  u8,
  union,
  varint,
  varint64,
} from "./codec/wire.ts";
import type { RingCt, RingCtShape } from "./ringct.ts";
import { maxAmountsOfProofs, noRingCt, ringCt, ringCtTypes } from "./ringct.ts";

/**
 * Source: cryptonote_basic/cryptonote_basic.h. The script kinds were never valid in a chain, but they can be parsed.
 */
const scriptOutput = struct().field("keys", list(bytes32)).field("script", byteString);

const txInput = union({
  /** New coins: a miner transaction's only input. `height` in blocks. */
  generation: [0xff, struct().field("height", varint)],
  script: [0x00, struct().field("prev", bytes32).field("prevout", varint64).field("sigset", byteString)],
  scriptHash: [
    0x01,
    struct()
      .field("prev", bytes32)
      .field("prevout", varint64)
      .field("script", scriptOutput)
      .field("sigset", byteString),
  ],
  /** Spends one of the outputs of its ring; `keyOffsets` are global indices, each relative to the one before. */
  key: [
    0x02,
    struct().field("amount", varint64).field("keyOffsets", list(varint64)).field("keyImage", bytes32),
  ],
});
/** The source of a transaction's coins. `amount` in atomic units, 0 when hidden by RingCT. */
export type TxInput = TypeOf<typeof txInput>;
export type KeyInput = Extract<TxInput, { type: "key" }>;

const txTarget = union({
  script: [0x00, scriptOutput],
  scriptHash: [0x01, struct().field("hash", bytes32)],
  /** A one-time public key. */
  key: [0x02, struct().field("key", bytes32)],
  /** A one-time public key and its view tag (a byte), from hard fork 15. */
  taggedKey: [0x03, struct().field("key", bytes32).field("viewTag", u8)],
});
export type TxTarget = TypeOf<typeof txTarget>;

const txOutput = struct().field("amount", varint64).field("target", txTarget);
/** The destination of coins. `amount` in atomic units, 0 when hidden by RingCT. */
export type TxOutput = TypeOf<typeof txOutput>;

export const transactionPrefix = struct()
  .field(
    "version",
    refine(varint, (version) => version === 1 || version === 2, "unknown transaction version"),
  )
  .field("unlockTime", varint64)
  .field("inputs", list(txInput))
  .field("outputs", list(txOutput))
  .field("extra", byteString);
/** A transaction without its proofs. `unlockTime`: below `MAX_BLOCK_NUMBER` a height, else seconds since 1970. */
export type TransactionPrefix = TypeOf<typeof transactionPrefix>;

const signature = bytes(64);

/** Version 1: one signature for every ring member of every input. */
export function ringSignatures(inputs: readonly TxInput[]): Codec<Uint8Array[][]> {
  const rows = inputs.map((input) => times(input.type === "key" ? input.keyOffsets.length : 0, signature));
  return {
    read: (reader) => rows.map((row) => row.read(reader)),
    write: (writer, values) => {
      if (values.length !== rows.length) throw new RangeError("expected signatures for every input");
      for (const [i, row] of rows.entries()) row.write(writer, values[i]!);
    },
  };
}

/** The inputs that spend outputs: all inputs of a transaction, but none of a miner's. */
export function keyInputs({ inputs }: Pick<TransactionPrefix, "inputs">): KeyInput[] {
  return inputs.filter((input) => input.type === "key");
}

/** Key images (32 bytes each) that a transaction spends, in the order of its inputs. */
export function keyImagesOf(prefix: Pick<TransactionPrefix, "inputs">): Uint8Array[] {
  return keyInputs(prefix).map(({ keyImage }) => keyImage);
}

/** The counts of a transaction's RingCT part. */
export function ringCtShape({ inputs, outputs }: TransactionPrefix): RingCtShape {
  const first = inputs[0];
  const ringSize = first?.type === "key" ? first.keyOffsets.length : 1;
  return { inputs: inputs.length, outputs: outputs.length, ringSize };
}

/** Version 2 without inputs is parsed by the original but has no hash there, so it is refused here. */
const prefixWithInputs = refine(
  transactionPrefix,
  ({ version, inputs }) => version === 1 || inputs.length > 0,
  "no inputs",
);

/** 0.18.5.3 reads a generation input only if it is the only input. Others can be written, for tests of the rules. */
export const hashablePrefix: Codec<TransactionPrefix> = {
  read: (reader) => {
    const prefix = prefixWithInputs.read(reader);
    const { inputs } = prefix;
    const isMixed = inputs.length > 1 && inputs.some(({ type }) => type === "generation");
    if (isMixed) throw reader.bad("a generation input beside others");
    return prefix;
  },
  write: prefixWithInputs.write,
};

function transactionCodec(isPruned: boolean) {
  return struct()
    .field("prefix", hashablePrefix)
    .field("signatures", ({ prefix }) =>
      prefix.version === 1 && !isPruned ? ringSignatures(prefix.inputs) : absent<Uint8Array[]>(),
    )
    .field("ringct", ({ prefix }) =>
      prefix.version === 1 ? noRingCt : (ringCt(ringCtShape(prefix), isPruned) as Codec<RingCt | undefined>),
    );
}

/** The codec of a transaction inside a block. */
export const transaction = transactionCodec(false);
/** The same without signatures and proofs. */
export const prunedTransaction = transactionCodec(true);
/** `signatures` are version 1's (64 bytes each, by input), `ringct` is version 2's. */
export type Transaction = TypeOf<typeof transaction>;

/** Whether this is the transaction that pays a block's miner. */
export function isMinerTransaction({ prefix: { inputs } }: Transaction): boolean {
  return inputs.length === 1 && inputs[0]!.type === "generation";
}

/** The one-time public key (32 bytes) of an output, undefined for script outputs. */
export function outputKey({ target }: TxOutput): Uint8Array | undefined {
  return target.type === "key" || target.type === "taggedKey" ? target.key : undefined;
}

/**
 * Whether a transaction passes a check that the original makes on single transactions, beyond the format. Source:
 * `expand_transaction_1`.
 */
export function isExpandable(tx: Transaction, isPruned: boolean): boolean {
  const { prefix, ringct } = tx;
  if (ringct === undefined || ringct.type === ringCtTypes.none || isMinerTransaction(tx)) return true;
  if (prefix.outputs.some((output) => outputKey(output) === undefined)) return false;
  if (isPruned || ringct.type < ringCtTypes.bulletproof) return true;
  const { bulletproofs, bulletproofsPlus } = ringct.prunable!;
  const proofs = [...bulletproofs, ...bulletproofsPlus];
  return proofs.length === 1 && maxAmountsOfProofs(proofs) >= prefix.outputs.length;
}

/**
 * Parses a transaction of exactly these bytes (a copy is kept); `pruned`: without signatures and proofs. Throws
 * `BadBytes`.
 */
export function readTransaction(blob: Uint8Array, options: { readonly pruned?: boolean } = {}): Transaction {
  const isPruned = options.pruned ?? false;
  const codec = isPruned ? prunedTransaction : transaction;
  return decode(
    refine<Transaction>(codec, (tx) => isExpandable(tx, isPruned), "RingCT part does not fit the outputs"),
    blob,
  );
}

/** Parses the prefix at the start of a transaction's bytes; the rest is not read. Throws `BadBytes`. */
export function readTransactionPrefix(blob: Uint8Array): TransactionPrefix {
  return transactionPrefix.read(new Reader(new Uint8Array(blob)));
}

/** Serializes a whole transaction; throws `RangeError` when it has been pruned. */
export function writeTransaction(tx: Transaction): Uint8Array {
  return encode(transaction, tx);
}

/** Serializes a transaction without signatures and proofs. */
export function writePrunedTransaction(tx: Transaction): Uint8Array {
  return encode(prunedTransaction, tx);
}

/**
 * Global output indices of a ring, from offsets that are each relative to the one before (modulo 2^64, as the original
 * adds).
 */
export function absoluteOffsets(relative: readonly bigint[]): bigint[] {
  let sum = 0n;
  return relative.map((offset) => {
    sum = BigInt.asUintN(64, sum + offset);
    return sum;
  });
}

/** Offsets that are each relative to the one before, from global output indices in any order. */
export function relativeOffsets(absolute: readonly bigint[]): bigint[] {
  const sorted = [...absolute].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted.map((index, i) => (i === 0 ? index : index - sorted[i - 1]!));
}

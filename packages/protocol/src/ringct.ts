import type { Reader, Writer } from "./codec/bytes-io.ts";
import type { Codec, TypeOf } from "./codec/wire.ts";
import {
  absent,
  bytes,
  bytes32,
  constant,
  list,
  refine,
  struct,
  times,
  u8,
  u32,
  varint64,
  varintBelow,
} from "./codec/wire.ts";

/**
 * The counts that determine the RingCT part of a version 2 transaction; they follow from its prefix. Source:
 * ringct/rctTypes.h `serialize_rctsig_base`, `serialize_rctsig_prunable`.
 */
export type RingCtShape = {
  readonly inputs: number;
  readonly outputs: number;
  /** Size of the first input's ring; all rings have this size. */
  readonly ringSize: number;
};

/** RingCT types by number, as on the wire. */
export const ringCtTypes = {
  /** No hidden amounts: miner transactions. */
  none: 0,
  /** One MLSAG over all inputs, Borromean range proofs. */
  full: 1,
  /** One MLSAG per input, Borromean range proofs. */
  simple: 2,
  bulletproof: 3,
  /** As `bulletproof`, amounts in 8 bytes. */
  bulletproof2: 4,
  clsag: 5,
  bulletproofPlus: 6,
} as const;

/** Borromean range proof of one output: 64 pairs of scalars, a challenge, 64 bit commitments (32 bytes each). */
const rangeSignature = struct()
  .field("s0", bytes(64 * 32))
  .field("s1", bytes(64 * 32))
  .field("ee", bytes32)
  .field("Ci", bytes(64 * 32));
export type RangeSignature = TypeOf<typeof rangeSignature>;

type Halves = { readonly L: readonly unknown[]; readonly R: readonly unknown[] };
const hasHalves = ({ L, R }: Halves) => L.length > 0 && L.length === R.length;

const bulletproof = refine(
  struct()
    .field("A", bytes32)
    .field("S", bytes32)
    .field("T1", bytes32)
    .field("T2", bytes32)
    .field("taux", bytes32)
    .field("mu", bytes32)
    .field("L", list(bytes32))
    .field("R", list(bytes32))
    .field("a", bytes32)
    .field("b", bytes32)
    .field("t", bytes32),
  hasHalves,
  "Bulletproof without matching L and R",
);
export type Bulletproof = TypeOf<typeof bulletproof>;

const bulletproofPlus = refine(
  struct()
    .field("A", bytes32)
    .field("A1", bytes32)
    .field("B", bytes32)
    .field("r1", bytes32)
    .field("s1", bytes32)
    .field("d1", bytes32)
    .field("L", list(bytes32))
    .field("R", list(bytes32)),
  hasHalves,
  "Bulletproof+ without matching L and R",
);
export type BulletproofPlus = TypeOf<typeof bulletproofPlus>;

/** `ss[ring member][column]`. */
const mlsag = (rows: number, columns: number) =>
  struct()
    .field("ss", times(rows, times(columns, bytes32)))
    .field("cc", bytes32);
export type Mlsag = TypeOf<ReturnType<typeof mlsag>>;

const clsag = (ringSize: number) =>
  struct().field("s", times(ringSize, bytes32)).field("c1", bytes32).field("D", bytes32);
export type Clsag = TypeOf<ReturnType<typeof clsag>>;

/**
 * Amount and mask, encrypted for the receiver: `mask` (32 bytes) and `amount` of 32 bytes, or only an amount of 8
 * bytes.
 */
export type EcdhInfo = { mask: Uint8Array; amount: Uint8Array } | { amount: Uint8Array };
const ecdhInfoLong = struct().field("mask", bytes32).field("amount", bytes32) as Codec<EcdhInfo>;
const ecdhInfoShort = struct().field("amount", bytes(8)) as Codec<EcdhInfo>;

/**
 * Number of amounts that proofs with these numbers of L can cover; 0 when one of them is impossible. At most 16 per
 * proof.
 */
export function maxAmountsOfProofs(proofs: readonly Halves[]): number {
  let total = 0;
  for (const { L } of proofs) {
    if (L.length < 6 || L.length > 10) return 0;
    total += 2 ** (L.length - 6);
  }
  return total;
}

function proofs<T extends Halves>(count: Codec<number>, proof: Codec<T>, outputs: number): Codec<T[]> {
  const isEnough = (values: T[]) => values.length <= outputs && maxAmountsOfProofs(values) >= outputs;
  return refine(
    {
      read: (reader) => {
        const announced = count.read(reader);
        if (announced > outputs) throw reader.bad("more range proofs than outputs");
        return times(announced, proof).read(reader);
      },
      write: (writer, values) => {
        count.write(writer, values.length);
        times(values.length, proof).write(writer, values);
      },
    },
    isEnough,
    "range proofs do not fit the outputs",
  );
}

const base = ({ inputs, outputs }: RingCtShape, type: number) =>
  struct()
    .field("fee", varint64)
    .field("pseudoOuts", type === ringCtTypes.simple ? times(inputs, bytes32) : absent<Uint8Array>())
    .field("ecdhInfo", times(outputs, type >= ringCtTypes.bulletproof2 ? ecdhInfoShort : ecdhInfoLong))
    .field("outputCommitments", times(outputs, bytes32));

const varint32 = varintBelow(2 ** 32);

function mlsags({ inputs, ringSize }: RingCtShape, type: number): Codec<Mlsag[]> {
  return type === ringCtTypes.full
    ? times(1, mlsag(ringSize, inputs + 1))
    : times(inputs, mlsag(ringSize, 2));
}

function bulletproofsOf({ outputs }: RingCtShape, type: number): Codec<Bulletproof[]> {
  if (type < ringCtTypes.bulletproof || type > ringCtTypes.clsag) return absent();
  return proofs(type === ringCtTypes.bulletproof ? u32 : varint32, bulletproof, outputs);
}

function bulletproofsPlusOf({ outputs }: RingCtShape, type: number): Codec<BulletproofPlus[]> {
  return type === ringCtTypes.bulletproofPlus ? proofs(varint32, bulletproofPlus, outputs) : absent();
}

const prunable = (shape: RingCtShape, type: number) => {
  const { inputs, outputs, ringSize } = shape;
  const hasClsags = type >= ringCtTypes.clsag;
  return struct()
    .field(
      "rangeSigs",
      type < ringCtTypes.bulletproof ? times(outputs, rangeSignature) : absent<RangeSignature>(),
    )
    .field("bulletproofs", bulletproofsOf(shape, type))
    .field("bulletproofsPlus", bulletproofsPlusOf(shape, type))
    .field("clsags", hasClsags ? times(inputs, clsag(ringSize)) : absent<Clsag>())
    .field("mgs", hasClsags ? absent<Mlsag>() : mlsags(shape, type));
};

/** Proofs and signatures: the part that a pruned node removes. Kinds of other types are empty lists. */
export type RingCtPrunable = TypeOf<ReturnType<typeof prunable>>;

export type ConfidentialType = 1 | 2 | 3 | 4 | 5 | 6;

/** RingCT with hidden amounts; `prunable` is undefined, and from type 3 `pseudoOuts` empty, in a pruned transaction. */
export type ConfidentialRingCt = { type: ConfidentialType } & TypeOf<ReturnType<typeof base>> & {
    prunable: RingCtPrunable | undefined;
  };
export type RingCt = { type: 0 } | ConfidentialRingCt;

const ringCtType = refine(u8, (type) => type <= 6, "unknown RingCT type");

/** Reads and writes the part that is never pruned. */
export function ringCtBase(shape: RingCtShape): Codec<RingCt> {
  return {
    read: (reader): RingCt => {
      const type = ringCtType.read(reader);
      if (type === ringCtTypes.none) return { type: 0 };
      return { type: type as ConfidentialType, ...base(shape, type).read(reader), prunable: undefined };
    },
    write: (writer, value) => {
      ringCtType.write(writer, value.type);
      if (value.type === ringCtTypes.none) return;
      const pseudoOuts = value.type === ringCtTypes.simple ? value.pseudoOuts : [];
      base(shape, value.type).write(writer, { ...value, pseudoOuts });
    },
  };
}

/** From type 3 the pseudo outputs are at the end of the prunable part. */
function pseudoOutsAtEnd({ inputs }: RingCtShape, type: ConfidentialType): Codec<Uint8Array[]> {
  return type >= ringCtTypes.bulletproof ? times(inputs, bytes32) : absent();
}

/** The Bulletproofs (of either kind) at the start of a prunable part of type 3 or later; none for earlier types. */
export function readBulletproofs(reader: Reader, shape: RingCtShape, type: number): Halves[] {
  return [...bulletproofsOf(shape, type).read(reader), ...bulletproofsPlusOf(shape, type).read(reader)];
}

/** Adds the prunable part to the result of `ringCtBase`. Throws `BadBytes`. */
export function readPrunable(reader: Reader, shape: RingCtShape, ringct: RingCt): RingCt {
  if (ringct.type === ringCtTypes.none) return ringct;
  if (shape.ringSize === 0) throw reader.bad("first ring is empty");
  const proofsAndSignatures = prunable(shape, ringct.type).read(reader);
  const last = pseudoOutsAtEnd(shape, ringct.type).read(reader);
  return {
    ...ringct,
    pseudoOuts: ringct.type === ringCtTypes.simple ? ringct.pseudoOuts : last,
    prunable: proofsAndSignatures,
  };
}

/** Writes the prunable part; throws `RangeError` when the value has been pruned. */
export function writePrunable(writer: Writer, shape: RingCtShape, ringct: RingCt): void {
  if (ringct.type === ringCtTypes.none) return;
  if (ringct.prunable === undefined) throw new RangeError("this transaction has been pruned");
  prunable(shape, ringct.type).write(writer, ringct.prunable);
  pseudoOutsAtEnd(shape, ringct.type).write(writer, ringct.pseudoOuts);
}

/** The RingCT part, with or without its prunable part. */
export function ringCt(shape: RingCtShape, isPruned: boolean): Codec<RingCt> {
  const first = ringCtBase(shape);
  if (isPruned) return first;
  return {
    read: (reader) => readPrunable(reader, shape, first.read(reader)),
    write: (writer, value) => {
      first.write(writer, value);
      writePrunable(writer, shape, value);
    },
  };
}

/** No RingCT part at all: version 1. */
export const noRingCt: Codec<RingCt | undefined> = constant(undefined);

import {
  type Block,
  type ConfidentialType,
  type ExtraField,
  type RingCt,
  type RingCtPrunable,
  type Transaction,
  type TransactionPrefix,
  type TxInput,
  type TxOutput,
  writeExtra,
} from "@anulo/protocol";
import { seededRandom } from "../eras/forge/scalars.ts";

/** What is chosen at random for a value: the same for the same seed. */
export type Chance = {
  /** A whole number below a limit. */
  below(limit: number): number;
  bytes(length: number): Uint8Array;
  oneOf<T>(all: readonly T[]): T;
};

export function createChance(seed: string): Chance {
  const random = seededRandom(seed);
  const below = (limit: number) => Buffer.from(random(32)).readUInt32LE() % limit;
  return { below, bytes: random, oneOf: (all) => all[below(all.length)]! };
}

/** Where a varint gets a byte longer, where times begin, and the ends. */
const edges = [0n, 1n, 127n, 128n, 16_383n, 16_384n, 499_999_999n, 500_000_000n, 2n ** 63n, 2n ** 64n - 1n];

function anyAmount({ below, bytes, oneOf }: Chance): bigint {
  return below(2) === 0 ? oneOf(edges) : Buffer.from(bytes(8)).readBigUInt64LE() >> BigInt(below(64));
}

function times<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make);
}

/** Any block the format has, whatever the rules say of it: any transaction may stand for the miner's. */
export function anyBlock(chance: Chance): Block {
  const { below, bytes, oneOf } = chance;
  return {
    header: {
      majorVersion: oneOf([0, 1, 7, 16, 127, 128, 255]),
      minorVersion: oneOf([0, 1, 16, 255]),
      timestamp: oneOf([0, 1_400_000_000, 2 ** 32, 2 ** 53 - 1]),
      previousId: bytes(32),
      nonce: oneOf([0, below(2 ** 32), 2 ** 32 - 1]),
    },
    minerTransaction: anyTransaction(chance),
    transactionHashes: times(oneOf([0, 0, 1, 2, 3, 7, 8, 30]), () => bytes(32)),
  };
}

/** Today's release reads no transaction that spends an output of a script; ours refuses it by its rules (DIFFERENCES.md). */
export function spendsScript({ prefix }: Transaction): boolean {
  return prefix.inputs.some(({ type }) => type === "script" || type === "scriptHash");
}

/** Any transaction the format has. */
export function anyTransaction(chance: Chance): Transaction {
  const version = chance.oneOf([1, 2, 2, 2]);
  const prefix: TransactionPrefix = {
    version,
    unlockTime: anyAmount(chance),
    inputs: anyInputs(chance, version),
    outputs: times(chance.oneOf([0, 1, 2, 2, 3, 4, 11, 16, 17]), () => anyOutput(chance)),
    extra: anyExtra(chance),
  };
  const rings = prefix.inputs.map((input) => (input.type === "key" ? input.keyOffsets.length : 0));
  if (version === 2) return { prefix, signatures: [], ringct: anyRingCt(chance, prefix) };
  const signatures = rings.map((size) => times(size, () => chance.bytes(64)));
  return { prefix, signatures, ringct: undefined };
}

function anyInputs(chance: Chance, version: number): TxInput[] {
  const { below, bytes, oneOf } = chance;
  const least = version === 1 ? 0 : 1;
  const kinds: (() => TxInput)[] = [
    () => ({ type: "script", prev: bytes(32), prevout: anyAmount(chance), sigset: bytes(below(40)) }),
    () => ({
      type: "scriptHash",
      prev: bytes(32),
      prevout: anyAmount(chance),
      script: { keys: times(below(3), () => bytes(32)), script: bytes(below(5)) },
      sigset: bytes(below(5)),
    }),
  ];
  const spend = (): TxInput => ({
    type: "key",
    amount: anyAmount(chance),
    keyOffsets: times(1 + below(17), () => anyAmount(chance)),
    keyImage: bytes(32),
  });
  if (below(8) === 0) return [{ type: "generation", height: oneOf([0, 1, 202_612, 2 ** 40]) }];
  return times(Math.max(least, oneOf([0, 1, 1, 2, 3, 16])), () =>
    below(4) === 0 ? oneOf(kinds)() : spend(),
  );
}

function anyOutput(chance: Chance): TxOutput {
  const { below, bytes, oneOf } = chance;
  const key = bytes(32);
  const targets: TxOutput["target"][] = [
    { type: "key", key },
    { type: "taggedKey", key, viewTag: below(256) },
    { type: "scriptHash", hash: key },
    { type: "script", keys: times(below(3), () => bytes(32)), script: bytes(below(5)) },
  ];
  return { amount: anyAmount(chance), target: oneOf(targets) };
}

function anyExtra({ below, bytes, oneOf }: Chance): Uint8Array {
  const fields: ExtraField[] = [
    { type: "publicKey", key: bytes(32) },
    { type: "nonce", nonce: bytes(below(256)) },
    { type: "additionalPublicKeys", keys: times(below(20), () => bytes(32)) },
    { type: "minergate", data: bytes(oneOf([0, 1, 300])) },
    { type: "padding", size: 1 + below(255) },
  ];
  return writeExtra(fields.filter(() => below(2) === 0));
}

function anyRingCt(chance: Chance, { inputs, outputs }: TransactionPrefix): RingCt {
  const { bytes, oneOf } = chance;
  const type = oneOf([0, 1, 2, 3, 4, 5, 6] as const);
  if (type === 0) return { type };
  const long = () => ({ mask: bytes(32), amount: bytes(32) });
  return {
    type,
    fee: anyAmount(chance),
    pseudoOuts: type === 1 ? [] : inputs.map(() => bytes(32)),
    ecdhInfo: outputs.map(() => (type >= 4 ? { amount: bytes(8) } : long())),
    outputCommitments: outputs.map(() => bytes(32)),
    prunable: anyProofs(chance, type, { inputs, outputs }),
  };
}

function anyProofs(
  chance: Chance,
  type: ConfidentialType,
  { inputs, outputs }: Pick<TransactionPrefix, "inputs" | "outputs">,
): RingCtPrunable {
  const { bytes } = chance;
  const one = () => bytes(32);
  const size = inputs[0]!.type === "key" ? inputs[0]!.keyOffsets.length : 1;
  const rows = type === 1 ? inputs.length + 1 : 2;
  const rounds = anyRounds(chance, outputs.length);
  const halves = (length: number) => ({ L: times(length, one), R: times(length, one) });
  return {
    rangeSigs: type < 3 ? outputs.map(() => anyRangeSignature(chance)) : [],
    bulletproofs:
      type < 3 || type > 5
        ? []
        : rounds.map((length) => ({
            A: one(),
            S: one(),
            T1: one(),
            T2: one(),
            taux: one(),
            mu: one(),
            ...halves(length),
            a: one(),
            b: one(),
            t: one(),
          })),
    bulletproofsPlus:
      type < 6
        ? []
        : rounds.map((length) => ({
            A: one(),
            A1: one(),
            B: one(),
            r1: one(),
            s1: one(),
            d1: one(),
            ...halves(length),
          })),
    clsags: type < 5 ? [] : inputs.map(() => ({ s: times(size, one), c1: one(), D: one() })),
    mgs:
      type > 4
        ? []
        : times(type === 1 ? 1 : inputs.length, () => ({
            ss: times(size, () => times(rows, one)),
            cc: one(),
          })),
  };
}

function anyRangeSignature({ bytes }: Chance) {
  const bits = () => bytes(64 * 32);
  return { s0: bits(), s1: bits(), ee: bytes(32), Ci: bits() };
}

/** Rounds of proofs that are no more than the outputs and have room for them. */
function anyRounds({ below }: Chance, outputs: number): number[] {
  const rounds: number[] = [];
  for (let room = 0; room < outputs; ) {
    const isLast = rounds.length + 1 === outputs;
    const needed = 6 + Math.ceil(Math.log2(outputs - room));
    const length = isLast || below(3) > 0 ? Math.min(10, needed + below(2)) : 6 + below(5);
    rounds.push(length);
    room += 2 ** (length - 6);
  }
  return rounds;
}

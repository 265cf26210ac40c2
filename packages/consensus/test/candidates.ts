import type { ConfidentialRingCt, KeyInput, RingCtPrunable, Transaction, TxOutput } from "@anulo/protocol";
import type { TransactionCandidate } from "../src/index.ts";
import { tagged } from "./forge.ts";

export type RingCtType = ConfidentialRingCt["type"];

export const bytes = (fill: number): Uint8Array => new Uint8Array(32).fill(fill);
const zero = bytes(0);

/** Relative offsets of a ring of neighbours. */
export const offsets = (size: number, first = 5n): bigint[] => [
  first,
  ...Array.from({ length: Math.max(0, size - 1) }, () => 1n),
];

export const input = (keyImage: number, ringSize = 16, amount = 0n): KeyInput => ({
  type: "key",
  amount,
  keyOffsets: offsets(ringSize),
  keyImage: bytes(keyImage),
});

export const untagged = (amount = 0n): TxOutput => ({ amount, target: { type: "key", key: bytes(1) } });

/** A version 1 transaction: its rules need no proofs to be made. */
export function versionOne(inputs: KeyInput[], outputs: TxOutput[]): TransactionCandidate {
  const prefix = { version: 1, unlockTime: 0n, inputs, outputs, extra: zero };
  const signatures = inputs.map(({ keyOffsets }) => keyOffsets.map(() => new Uint8Array(64)));
  return { transaction: { prefix, signatures, ringct: undefined }, id: bytes(9), weight: 1000 };
}

interface Edit {
  inputs?: KeyInput[];
  outputs?: TxOutput[];
  type?: RingCtType;
}

/** A RingCT transaction of the right shape, Bulletproofs+ unless said, with proofs nobody made. */
export function versionTwo(edit: Edit = {}): TransactionCandidate {
  const inputs = edit.inputs ?? [input(7)];
  const outputs = edit.outputs ?? [tagged(bytes(1)), tagged(bytes(2))];
  const type = edit.type ?? 6;
  const transaction: Transaction = {
    prefix: { version: 2, unlockTime: 0n, inputs, outputs, extra: zero },
    signatures: [],
    ringct: {
      type,
      fee: 10n ** 10n,
      pseudoOuts: type === 1 ? [] : inputs.map(() => zero),
      ecdhInfo: outputs.map(() => (type < 4 ? { mask: zero, amount: zero } : { amount: new Uint8Array(8) })),
      outputCommitments: outputs.map(() => zero),
      prunable: { ...noProofs, ...rangeProofs(type, outputs.length), ...signatures(type, inputs) },
    },
  };
  return { transaction, id: bytes(9), weight: 2000 };
}

const noProofs: RingCtPrunable = {
  rangeSigs: [],
  bulletproofs: [],
  bulletproofsPlus: [],
  clsags: [],
  mgs: [],
};

function rangeProofs(type: RingCtType, outputs: number): Partial<RingCtPrunable> {
  const rounds = Array.from({ length: 6 + Math.ceil(Math.log2(Math.max(1, outputs))) }, () => bytes(3));
  if (type === 6) {
    const proof = { A: zero, A1: zero, B: zero, r1: zero, s1: zero, d1: zero, L: rounds, R: rounds };
    return { bulletproofsPlus: [proof] };
  }
  if (type >= 3) {
    const points = { A: zero, S: zero, T1: zero, T2: zero, L: rounds, R: rounds };
    return { bulletproofs: [{ ...points, taux: zero, mu: zero, a: zero, b: zero, t: zero }] };
  }
  const bits = new Uint8Array(64 * 32);
  return { rangeSigs: Array.from({ length: outputs }, () => ({ s0: bits, s1: bits, ee: zero, Ci: bits })) };
}

/** On the wire every signature has the size of the first ring. */
function signatures(type: RingCtType, inputs: KeyInput[]): Partial<RingCtPrunable> {
  const ring = inputs[0]?.keyOffsets ?? [];
  if (type >= 5) return { clsags: inputs.map(() => ({ s: ring.map(() => zero), c1: zero, D: zero })) };
  const rows = type === 1 ? inputs.length + 1 : 2;
  const signed = type === 1 ? inputs.slice(0, 1) : inputs;
  const row = Array.from({ length: rows }, () => zero);
  return { mgs: signed.map(() => ({ ss: ring.map(() => row), cc: zero })) };
}

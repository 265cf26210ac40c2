import { G, H, IDENTITY } from "@anulo/crypto";
import {
  fromHex,
  type KeyInput,
  readTransaction,
  type Transaction,
  type TransactionPrefix,
  type TxOutput,
  toHex,
  writeTransaction,
} from "@anulo/protocol";
import type { Specimen } from "./fixture.ts";
import { addOrders } from "./forge/scalars.ts";
import { smallOrder, strangeKeys } from "./strange-points.ts";

/** Specimens that are lawful for long, one of each way to sign. */
const models = [
  "version 1, ring of 16",
  "version 1, ring of 1 for one of 1",
  "type 1, ring of 7",
  "type 2, ring of 7",
  "type 3, hidden, two inputs",
  "type 4, hidden, two inputs",
  "type 5, hidden, two inputs",
  "type 6, hidden, ring of 16",
  "type 6, hidden, eleven outputs",
];

/** What nobody would send: variations of a few specimens that no longer hold, as hex, by name. */
export function strangeTransactions(specimens: readonly Specimen[]): Record<string, string> {
  const chosen = specimens.filter(({ name }) => models.includes(name));
  return Object.fromEntries(
    chosen.flatMap(({ name, blob }) =>
      variations(blob).map(([how, changed]) => [`${name}: ${how}`, changed] as const),
    ),
  );
}

type Variation = readonly [how: string, blob: string];

function variations(blob: string): Variation[] {
  const good = readTransaction(fromHex(blob));
  const changed = [...ofInputs(good), ...ofOutputs(good), ...ofSignatures(good), ...ofRingCt(good)];
  return [
    ...changed.flatMap(([how, transaction]): Variation[] => {
      const written = write(transaction);
      return written === undefined ? [] : [[how, written]];
    }),
    ["one byte more", `${blob}00`],
    ["one byte less", blob.slice(0, -2)],
    ["last byte changed", blob.slice(0, -2) + (blob.endsWith("01") ? "02" : "01")],
    ["version 0", `00${blob.slice(2)}`],
    ["version 3", `03${blob.slice(2)}`],
    ["the other version", (blob.startsWith("01") ? "02" : "01") + blob.slice(2)],
  ];
}

/** Its bytes; undefined where the format has none for it. */
function write(transaction: Transaction): string | undefined {
  try {
    return toHex(writeTransaction(transaction));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

type Changed = readonly [how: string, transaction: Transaction];

function withPrefix(good: Transaction, edit: Partial<TransactionPrefix>): Transaction {
  return { ...good, prefix: { ...good.prefix, ...edit } };
}

const noPoint = new Uint8Array(32).fill(2);

function ofInputs(good: Transaction): Changed[] {
  const [first, ...others] = good.prefix.inputs as KeyInput[];
  const input = (edit: Partial<KeyInput>): Transaction =>
    withPrefix(good, { inputs: [{ ...first!, ...edit }, ...others] });
  const { keyOffsets, amount } = first!;
  const last = keyOffsets.length - 1;
  return [
    [
      "member repeated",
      input({ keyOffsets: keyOffsets.map((offset, i) => (i === last && i > 0 ? 0n : offset)) }),
    ],
    ["member that does not exist", input({ keyOffsets: keyOffsets.with(last, 1_000_000n) })],
    ["members beyond 2^64", input({ keyOffsets: keyOffsets.with(last, 2n ** 64n - 1n) })],
    ["another amount", input({ amount: amount + 1n })],
    ["an amount of nothing", input({ amount: 0n })],
    ["key image of the generator", input({ keyImage: G })],
    ["key image of the identity", input({ keyImage: IDENTITY })],
    ["key image of small order", input({ keyImage: smallOrder })],
    ["key image of the identity above the prime", input({ keyImage: strangeKeys[3]![1] })],
    ["key image that is no point", input({ keyImage: noPoint })],
    [
      "input twice",
      {
        ...withPrefix(good, { inputs: [first!, ...others, first!] }),
        signatures: [...good.signatures, ...good.signatures.slice(0, 1)],
      },
    ],
    ["an input of new coins", withPrefix(good, { inputs: [{ type: "generation", height: 1 }] })],
    ["empty ring", { ...input({ keyOffsets: [] }), signatures: [[], ...good.signatures.slice(1)] }],
  ];
}

function ofOutputs(good: Transaction): Changed[] {
  const { outputs } = good.prefix;
  const first = (edit: (output: TxOutput) => TxOutput): Transaction =>
    withPrefix(good, { outputs: [edit(outputs[0]!), ...outputs.slice(1)] });
  return [
    ["output of one more", first((output) => ({ ...output, amount: output.amount + 1n }))],
    ["output of all there is", first((output) => ({ ...output, amount: 2n ** 64n - 1n }))],
    ["output missing", withPrefix(good, { outputs: outputs.slice(1) })],
    ["no outputs", withPrefix(good, { outputs: [] })],
    ...strangeKeys.map(([what, key]): Changed => {
      return [
        `output to ${what}`,
        first((output) => ({ ...output, target: { ...output.target, key } as never })),
      ];
    }),
    ["outputs swapped", withPrefix(good, { outputs: [...outputs].reverse() })],
    ["locked", withPrefix(good, { unlockTime: 5n })],
    ["other extra", withPrefix(good, { extra: Uint8Array.of(2, 1, 5) })],
    ["extra of 100 kB", withPrefix(good, { extra: new Uint8Array(100_000) })],
  ];
}

/** The same scalars, not reduced: nothing that is signed says which of them is written. */
function ofSignatures(good: Transaction): Changed[] {
  const higher = (value: Uint8Array) => addOrders(value, 1);
  const [first, ...others] = good.signatures;
  if (first !== undefined) {
    const changed = (edit: (signature: Uint8Array) => Uint8Array[]): Transaction => ({
      ...good,
      signatures: [[Buffer.concat(edit(first[0]!)), ...first.slice(1)], ...others],
    });
    return [
      ["challenge above the order", changed((one) => [higher(one.subarray(0, 32)), one.subarray(32)])],
      ["response above the order", changed((one) => [one.subarray(0, 32), higher(one.subarray(32))])],
    ];
  }
  const { ringct } = good;
  if (ringct === undefined || ringct.type === 0) return [];
  const { clsags, mgs } = ringct.prunable!;
  const withProofs = (edit: Partial<NonNullable<typeof ringct.prunable>>): Transaction => ({
    ...good,
    ringct: { ...ringct, prunable: { ...ringct.prunable!, ...edit } },
  });
  return [
    [
      "challenge above the order",
      withProofs({
        clsags: clsags.map((proof) => ({ ...proof, c1: higher(proof.c1) })),
        mgs: mgs.map((proof) => ({ ...proof, cc: higher(proof.cc) })),
      }),
    ],
    [
      "response above the order",
      withProofs({
        clsags: clsags.map((proof) => ({ ...proof, s: [higher(proof.s[0]!), ...proof.s.slice(1)] })),
        mgs: mgs.map((proof) => ({ ...proof, ss: [proof.ss[0]!.map(higher), ...proof.ss.slice(1)] })),
      }),
    ],
  ];
}

function ofRingCt(good: Transaction): Changed[] {
  const { ringct } = good;
  if (ringct === undefined || ringct.type === 0) return [];
  const { prunable, outputCommitments, pseudoOuts } = ringct;
  const withRingCt = (edit: Partial<typeof ringct>): Transaction => ({
    ...good,
    ringct: { ...ringct, ...edit },
  });
  const withProofs = (edit: Partial<NonNullable<typeof prunable>>) =>
    withRingCt({ prunable: { ...prunable!, ...edit } });
  const replace = (list: readonly Uint8Array[], by: Uint8Array) => [by, ...list.slice(1)];
  const { clsags, mgs, bulletproofs, bulletproofsPlus, rangeSigs } = prunable!;
  const none = new Uint8Array(32);
  return [
    ["other fee", withRingCt({ fee: ringct.fee + 1n })],
    ["no fee", withRingCt({ fee: 0n })],
    ["highest fee", withRingCt({ fee: 2n ** 64n - 1n })],
    ["other commitment", withRingCt({ outputCommitments: replace(outputCommitments, H) })],
    ["commitment that is no point", withRingCt({ outputCommitments: replace(outputCommitments, noPoint) })],
    ["other pseudo output", withRingCt({ pseudoOuts: replace(pseudoOuts, H) })],
    ["pseudo output that is no point", withRingCt({ pseudoOuts: replace(pseudoOuts, noPoint) })],
    ["no ringct", { ...good, ringct: { type: 0 } }],
    ["D of the identity", withProofs({ clsags: clsags.map((proof) => ({ ...proof, D: IDENTITY })) })],
    ["D that is no point", withProofs({ clsags: clsags.map((proof) => ({ ...proof, D: noPoint })) })],
    [
      "challenge of nothing",
      withProofs({
        clsags: clsags.map((proof) => ({ ...proof, c1: none })),
        mgs: mgs.map((proof) => ({ ...proof, cc: none })),
      }),
    ],
    [
      "range proof of another",
      withProofs({
        bulletproofs: bulletproofs.map((proof) => ({ ...proof, A: H })),
        bulletproofsPlus: bulletproofsPlus.map((proof) => ({ ...proof, A: H })),
        rangeSigs: rangeSigs.map((proof) => ({ ...proof, ee: none })),
      }),
    ],
    [
      "range proof of too many",
      withProofs({
        bulletproofs: bulletproofs.map((proof) => ({ ...proof, L: [...proof.L, H], R: [...proof.R, H] })),
        bulletproofsPlus: bulletproofsPlus.map((proof) => ({
          ...proof,
          L: [...proof.L, H],
          R: [...proof.R, H],
        })),
      }),
    ],
    [
      "scalars out of range",
      withProofs({
        bulletproofs: bulletproofs.map((proof) => ({ ...proof, a: new Uint8Array(32).fill(255) })),
        bulletproofsPlus: bulletproofsPlus.map((proof) => ({ ...proof, r1: new Uint8Array(32).fill(255) })),
        clsags: clsags.map((proof) => ({ ...proof, s: replace(proof.s, new Uint8Array(32).fill(255)) })),
        mgs: mgs.map((proof) => ({ ...proof, cc: new Uint8Array(32).fill(255) })),
      }),
    ],
  ];
}

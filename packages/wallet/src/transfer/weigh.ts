/** The weight of a ringed transaction once signed: the size of every element is known before signing. */
import {
  relativeOffsets,
  type Transaction,
  type TransactionPrefix,
  transactionWeight,
} from "@anulo/protocol";
import { blankExtra, outputsOf } from "./outputs.ts";
import { listedAmount, type Receiver, RING_SIZE, type RingedTransaction } from "./stages.ts";
import type { OutputPlan } from "./tx-keys.ts";

const blank = (): Uint8Array => new Uint8Array(32);
const blanks = (count: number): Uint8Array[] => Array.from({ length: count }, blank);

function blankRangeProof(outputs: number) {
  const rounds = 6 + Math.ceil(Math.log2(outputs));
  const scalars = { A: blank(), A1: blank(), B: blank(), r1: blank(), s1: blank(), d1: blank() };
  return { ...scalars, L: blanks(rounds), R: blanks(rounds) };
}

function skeletonPrefix(
  { inputs, rings, unlockTime, isVisible = false }: RingedTransaction,
  outputs: readonly OutputPlan[],
  extra: Uint8Array,
): TransactionPrefix {
  return {
    version: isVisible ? 1 : 2,
    unlockTime,
    inputs: inputs.map((input, i) => ({
      type: "key",
      amount: listedAmount(input),
      keyOffsets: relativeOffsets(rings[i]!.members.map(({ globalIndex }) => BigInt(globalIndex))),
      keyImage: blank(),
    })),
    outputs: outputs.map(({ amount }) => ({
      amount: isVisible ? amount : 0n,
      target: { type: "taggedKey", key: blank(), viewTag: 0 },
    })),
    extra,
  };
}

/** The transaction with zeros in place of every key, proof and signature. */
function skeleton(ringed: RingedTransaction, change: Receiver): Transaction {
  const outputs = outputsOf(ringed, { change, dummy: change });
  const { isVisible = false } = ringed;
  const prefix = skeletonPrefix(ringed, outputs, blankExtra(ringed, outputs, change));
  if (isVisible) {
    const signatures = ringed.rings.map(({ members }) => members.map(() => new Uint8Array(64)));
    return { prefix, signatures, ringct: undefined };
  }
  const clsag = () => ({ s: blanks(RING_SIZE), c1: blank(), D: blank() });
  return {
    prefix,
    signatures: [],
    ringct: {
      type: 6,
      fee: ringed.fee,
      pseudoOuts: blanks(ringed.rings.length),
      ecdhInfo: outputs.map(() => ({ amount: new Uint8Array(8) })),
      outputCommitments: blanks(outputs.length),
      prunable: {
        rangeSigs: [],
        bulletproofs: [],
        mgs: [],
        bulletproofsPlus: [blankRangeProof(outputs.length)],
        clsags: ringed.rings.map(clsag),
      },
    },
  };
}

/** Weight in bytes of the transaction that `sign` will return. */
export function weightOf(ringed: RingedTransaction, change: Receiver): number {
  return transactionWeight(skeleton(ringed, change));
}

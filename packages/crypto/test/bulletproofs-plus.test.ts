import assert from "node:assert/strict";
import { test } from "node:test";
import type { Backend } from "../src/backend.ts";
import { backend, useBackend } from "../src/engine.ts";
import {
  type BulletproofPlus,
  commit,
  IDENTITY,
  type ProvenCommitments,
  pointAdd,
  proveBulletproofPlus,
  randomScalar,
  scalarMult,
  verifyBulletproofsPlus,
} from "../src/index.ts";
import { INVERSE_OF_EIGHT } from "../src/scalar.ts";
import { onEachBackend } from "./backends.ts";
import { bytes, flipBit, hex, NO_POINT, plusOrder, recordedTransactions, TORSION } from "./fixtures.ts";

const recorded: ProvenCommitments[] = recordedTransactions.map(({ proof, commitments }) => ({
  proof: {
    A: bytes(proof.A),
    A1: bytes(proof.A1),
    B: bytes(proof.B),
    r1: bytes(proof.r1),
    s1: bytes(proof.s1),
    d1: bytes(proof.d1),
    L: proof.L.map(bytes),
    R: proof.R.map(bytes),
  },
  commitments: commitments.map(bytes),
}));
const valid = recorded[0]!;
const another = recorded[1]!;

function changed(part: Partial<BulletproofPlus>): ProvenCommitments {
  return { ...valid, proof: { ...valid.proof, ...part } };
}

const { A, A1, r1, s1, d1, L, R } = valid.proof;
const [first, second] = valid.commitments as [Uint8Array, Uint8Array];

const forgeries: [string, ProvenCommitments][] = [
  ["another A", changed({ A: A1 })],
  ["another A1", changed({ A1: A })],
  ["another B", changed({ B: A })],
  ["an A that is no point", changed({ A: NO_POINT })],
  ["an A1 that is no point", changed({ A1: NO_POINT })],
  ["a B that is no point", changed({ B: NO_POINT })],
  ["another r1", changed({ r1: flipBit(r1, 0) })],
  ["another s1", changed({ s1: flipBit(s1, 100) })],
  ["another d1", changed({ d1: flipBit(d1, 251) })],
  ["r1 plus the order", changed({ r1: plusOrder(r1) })],
  ["s1 plus the order", changed({ s1: plusOrder(s1) })],
  ["d1 plus the order", changed({ d1: plusOrder(d1) })],
  ["another L", changed({ L: [L[1]!, L[0]!, ...L.slice(2)] })],
  ["another R", changed({ R: [...R.slice(0, -1), IDENTITY] })],
  ["an L that is no point", changed({ L: [...L.slice(0, -1), NO_POINT] })],
  ["an R that is no point", changed({ R: [NO_POINT, ...R.slice(1)] })],
  ["an L too few", changed({ L: L.slice(1) })],
  ["an L and an R too few", changed({ L: L.slice(1), R: R.slice(1) })],
  ["an L and an R too many", changed({ L: [...L, IDENTITY], R: [...R, IDENTITY] })],
  ["no L and no R", changed({ L: [], R: [] })],
  ["a short scalar", changed({ r1: r1.slice(1) })],
  ["a long point in L", changed({ L: [new Uint8Array(64), ...L.slice(2)] })],
  ["swapped commitments", { ...valid, commitments: [second, first] }],
  ["another commitment", { ...valid, commitments: [first, another.commitments[0]!] }],
  ["a commitment that is no point", { ...valid, commitments: [first, NO_POINT] }],
  ["a commitment with a small-order part", { ...valid, commitments: [first, pointAdd(second, TORSION)] }],
  ["a commitment too few", { ...valid, commitments: [first] }],
  ["a commitment too many", { ...valid, commitments: [first, second, second] }],
  ["no commitments", { ...valid, commitments: [] }],
  ["17 commitments", { ...valid, commitments: Array.from({ length: 17 }, () => first) }],
];

/** The backend with a point of order 8 added to chosen results of the prover's multi-exponentiations. */
function withTorsion(engine: Backend, isChosen: (call: number) => boolean, torsion: Uint8Array): Backend {
  let calls = 0;
  return {
    ...engine,
    multiexp(terms) {
      const sum = engine.multiexp(terms)!;
      return isChosen(calls++) ? engine.pointAdd(sum, torsion) : sum;
    },
  };
}

function proveOn(engine: Backend, amounts: bigint[]): ProvenCommitments {
  const usual = backend;
  useBackend(engine);
  try {
    return proveBulletproofPlus(
      amounts,
      amounts.map(() => randomScalar()),
    );
  } finally {
    useBackend(usual);
  }
}

onEachBackend("Bulletproofs+ verification", () => {
  test("accepts every recorded proof, alone and as one batch", () => {
    for (const proven of recorded) assert.equal(verifyBulletproofsPlus([proven]), true);
    assert.equal(verifyBulletproofsPlus(recorded), true);
    assert.equal(verifyBulletproofsPlus([...recorded].reverse()), true);
  });

  test("an empty batch holds", () => assert.equal(verifyBulletproofsPlus([]), true));

  for (const [name, forgery] of forgeries) {
    test(`refuses ${name}, alone and among valid proofs`, () => {
      assert.equal(verifyBulletproofsPlus([forgery]), false);
      assert.equal(verifyBulletproofsPlus([valid, forgery, another]), false);
    });
  }

  test("two forgeries do not cancel out", () => {
    const [up, down] = [changed({ d1: flipBit(d1, 0) }), changed({ d1: flipBit(d1, 1) })];
    assert.equal(verifyBulletproofsPlus([up, down]), false);
    assert.equal(verifyBulletproofsPlus([up, up]), false);
  });
});

onEachBackend("Bulletproofs+ proving", (engine) => {
  const counts = engine.name === "reference" ? [1, 2] : [1, 2, 3, 5, 16]; // the twin needs 8 s to prove 16
  for (const outputs of counts) {
    test(`a proof of ${outputs} amounts is accepted and commits to them`, () => {
      const amounts = Array.from({ length: outputs }, (_, i) => [0n, 1n, 2n ** 64n - 1n, 10n ** 12n][i % 4]!);
      const masks = amounts.map(() => randomScalar());
      const { proof, commitments } = proveBulletproofPlus(amounts, masks);
      assert.deepEqual(
        commitments.map(hex),
        amounts.map((amount, i) => hex(commit(masks[i]!, amount))),
      );
      assert.equal(proof.L.length, 6 + Math.ceil(Math.log2(outputs)));
      assert.equal(verifyBulletproofsPlus([{ proof, commitments }]), true);
      assert.equal(
        verifyBulletproofsPlus([{ proof, commitments: [commit(masks[0]!, 3n), ...commitments.slice(1)] }]),
        false,
      );
    });
  }

  test("points with small-order parts count as their prime-order part", () => {
    const outputs = 2;
    const proven = proveOn(
      withTorsion(engine, (call) => call >= outputs, TORSION),
      [5n, 6n],
    );
    assert.equal(verifyBulletproofsPlus([proven]), true);
  });

  test("commitments with small-order parts are proven with an eighth of them", () => {
    const outputs = 2;
    const eighth = scalarMult(INVERSE_OF_EIGHT, TORSION);
    const { proof, commitments } = proveOn(
      withTorsion(engine, (call) => call < outputs, eighth),
      [5n, 6n],
    );
    const shifted = commitments.map((commitment) => pointAdd(commitment, TORSION));
    assert.equal(verifyBulletproofsPlus([{ proof, commitments: shifted }]), true);
    assert.equal(verifyBulletproofsPlus([{ proof, commitments }]), false);
  });

  test("will not prove amounts, masks or counts out of range", () => {
    const mask = randomScalar();
    assert.throws(() => proveBulletproofPlus([2n ** 64n], [mask]), RangeError);
    assert.throws(() => proveBulletproofPlus([-1n], [mask]), RangeError);
    assert.throws(() => proveBulletproofPlus([1n], [plusOrder(mask)]), RangeError);
    assert.throws(() => proveBulletproofPlus([1n, 2n], [mask]), RangeError);
    assert.throws(() => proveBulletproofPlus([], []), RangeError);
    assert.throws(() => proveBulletproofPlus(new Array(17).fill(1n), new Array(17).fill(mask)), RangeError);
  });
});

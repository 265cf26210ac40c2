/**
 * Bulletproofs, the range proofs of RCT types 3 to 5: verification of many at once.
 * Each proof gives two equations that must vanish; both are weighted at random and everything is summed.
 * Source: Bünz et al., https://eprint.iacr.org/2017/1066; bulletproofs.cc (transcript, scaling by 1/8).
 */
import { randomBytes } from "node:crypto";
import { concatBytes, elementAt, elementsOf, equalBytes, repeatElement } from "../bytes.ts";
import { backend } from "../engine.ts";
import { G, H, hashToScalar, IDENTITY } from "../point.ts";
import {
  INVERSE_OF_EIGHT,
  type RandomSource,
  randomScalar,
  scFromUint64,
  scIsCanonical,
  scIsZero,
  scMul,
  scMulSub,
  scSub,
} from "../scalar.ts";

const BITS = 64;
const MAX_OUTPUTS = 16;
const ZERO = new Uint8Array(32);
const TWOS = backend.vector.powers(scFromUint64(2n), BITS);
/** Σ 2^i over the bits of an amount. */
const ALL_BITS = scFromUint64(2n ** 64n - 1n);

/** A proof as on the wire: points divided by 8, scalars, and L and R of 6 + ⌈log₂ outputs⌉ points; 32 bytes each. */
export type Bulletproof = {
  A: Uint8Array;
  S: Uint8Array;
  T1: Uint8Array;
  T2: Uint8Array;
  taux: Uint8Array;
  mu: Uint8Array;
  L: readonly Uint8Array[];
  R: readonly Uint8Array[];
  a: Uint8Array;
  b: Uint8Array;
  t: Uint8Array;
};

/** A proof with its output commitments, as in the transaction (not divided by 8). */
export type BulletproofCommitments = { proof: Bulletproof; commitments: readonly Uint8Array[] };

type Challenges = { y: Uint8Array; z: Uint8Array; x: Uint8Array; xInner: Uint8Array; rounds: Uint8Array };

/** The weighted factors of one proof; vectors Gs and Hs by generator index. */
type Equation = { Gs: Uint8Array; Hs: Uint8Array; scalars: Uint8Array; points: Uint8Array };

/** Whether every proof of the batch holds; true for none, false on anything malformed. */
export function verifyBulletproofs(
  batch: readonly BulletproofCommitments[],
  random: RandomSource = randomBytes,
): boolean {
  const equations: Equation[] = [];
  for (const proven of batch) {
    const divided = isWellFormed(proven) ? divideCommitments(proven.commitments) : undefined;
    const challenges = divided && challengesOf(proven.proof, divided);
    if (divided === undefined || challenges === undefined) return false;
    const equation = weigh(proven.proof, divided, { challenges, random });
    if (equation === undefined) return false;
    equations.push(equation);
  }
  return vanishes(equations);
}

function isWellFormed({ proof, commitments }: BulletproofCommitments): boolean {
  const { A, S, T1, T2, taux, mu, L, R, a, b, t } = proof;
  const scalars = [taux, mu, a, b, t];
  if (![A, S, T1, T2, ...scalars, ...L, ...R, ...commitments].every(({ length }) => length === 32))
    return false;
  if (commitments.length < 1 || commitments.length > MAX_OUTPUTS) return false;
  const rounds = 6 + Math.ceil(Math.log2(commitments.length));
  return L.length === rounds && R.length === rounds && scalars.every(scIsCanonical);
}

/** C/8 for each commitment, which the prover hashed; undefined if one of them is no point. */
function divideCommitments(commitments: readonly Uint8Array[]): Uint8Array | undefined {
  const divided = commitments.map((commitment) => backend.scalarMult(INVERSE_OF_EIGHT, commitment));
  return divided.every((point) => point !== undefined) ? concatBytes(...divided) : undefined;
}

/** The Fiat-Shamir challenges; undefined if one is zero. Source: bulletproofs.cc `hash_cache_mash`. */
function challengesOf(
  { A, S, T1, T2, taux, mu, t, L, R }: Bulletproof,
  V: Uint8Array,
): Challenges | undefined {
  const y = hashToScalar(hashToScalar(V), A, S);
  const z = hashToScalar(y);
  const x = hashToScalar(z, z, T1, T2);
  const xInner = hashToScalar(x, x, taux, mu, t);
  let transcript = xInner;
  const rounds = L.map((left, i) => {
    transcript = hashToScalar(transcript, left, R[i]!);
    return transcript;
  });
  if ([y, z, x, xInner, ...rounds].some(scIsZero)) return undefined;
  return { y, z, x, xInner, rounds: concatBytes(...rounds) };
}

/** Πⱼ xⱼ^(±1) for every index: + where its bit is set, the first round belonging to the highest bit. */
function challengeProducts(rounds: Uint8Array, inverses: Uint8Array): Uint8Array {
  let products = scFromUint64(1n);
  for (let j = 0; j < rounds.length / 32; j++) {
    const unset = elementsOf(backend.vector.scale(products, elementAt(inverses, j)));
    const set = elementsOf(backend.vector.scale(products, elementAt(rounds, j)));
    products = concatBytes(...unset.flatMap((product, i) => [product, set[i]!]));
  }
  return products;
}

function sum(vector: Uint8Array): Uint8Array {
  return backend.vector.innerProduct(vector, repeatElement(scFromUint64(1n), vector.length / 32));
}

function reverse(vector: Uint8Array): Uint8Array {
  return concatBytes(...elementsOf(vector).reverse());
}

/** Both equations of a proof, weighted; undefined where a point does not decode. */
function weigh(
  proof: Bulletproof,
  V: Uint8Array,
  { challenges, random }: { challenges: Challenges; random: RandomSource },
): Equation | undefined {
  const { vector } = backend;
  const { y, z, x, xInner, rounds } = challenges;
  const { taux, mu, a, b, t } = proof;
  const size = 2 ** (rounds.length / 32);
  const inverses = vector.invert(concatBytes(rounds, y));
  const roundInverses = inverses.subarray(0, rounds.length);
  const yInversePowers = vector.powers(elementAt(inverses, rounds.length / 32), size);
  const products = challengeProducts(rounds, roundInverses);
  const zPowers = vector.powers(z, size / BITS + 3);
  const zBits = concatBytes(
    ...elementsOf(zPowers)
      .slice(2, -1)
      .map((power) => vector.scale(TWOS, power)),
  );
  const [outer, inner] = [randomScalar(random), randomScalar(random)];

  const g = vector.add(vector.scale(products, a), repeatElement(z, size));
  const slopes = vector.sub(vector.scale(reverse(products), b), zBits);
  const h = vector.sub(vector.mul(slopes, yInversePowers), repeatElement(z, size));
  const points = concatBytes(V, proof.T1, proof.T2, proof.A, proof.S, ...proof.L, ...proof.R);
  const eightfold = elementsOf(points).map((point) => backend.mulBy8(point));
  if (!eightfold.every((point) => point !== undefined)) return undefined;

  const offset = offsetOf({ y, z, size, zPowers });
  const gFactor = scSub(scSub(ZERO, scMul(taux, outer)), scMul(mu, inner));
  const innerTerm = scMul(scMulSub(a, b, t), xInner);
  const hFactor = scMulSub(scSub(t, offset), outer, scMul(innerTerm, inner));
  const minusInner = scSub(ZERO, inner);
  return {
    Gs: vector.scale(g, minusInner),
    Hs: vector.scale(h, minusInner),
    points: concatBytes(G, H, ...eightfold),
    scalars: concatBytes(
      gFactor,
      hFactor,
      vector.scale(zPowers.subarray(64, 64 + V.length), outer),
      scMul(x, outer),
      scMul(scMul(x, x), outer),
      inner,
      scMul(x, inner),
      vector.scale(vector.mul(rounds, rounds), inner),
      vector.scale(vector.mul(roundInverses, roundInverses), inner),
    ),
  };
}

/** (z − z²)·Σ yⁱ − Σ z^(j+3)·(2⁶⁴ − 1): the difference between the proven inner product and the amounts. */
function offsetOf(values: { y: Uint8Array; z: Uint8Array; size: number; zPowers: Uint8Array }): Uint8Array {
  const { y, z, size, zPowers } = values;
  const ySum = sum(backend.vector.powers(y, size));
  const zCubes = sum(zPowers.subarray(32 * 3));
  return scMulSub(zCubes, ALL_BITS, scMul(scSub(z, scMul(z, z)), ySum));
}

/** Whether the sum of all equations is the identity. */
function vanishes(equations: readonly Equation[]): boolean {
  const longest = Math.max(0, ...equations.map(({ Gs }) => Gs.length));
  let [Gs, Hs] = [new Uint8Array(longest), new Uint8Array(longest)];
  for (const equation of equations) {
    Gs = new Uint8Array(backend.vector.add(Gs, padded(equation.Gs, longest)));
    Hs = new Uint8Array(backend.vector.add(Hs, padded(equation.Hs, longest)));
  }
  const generators = concatBytes(...elementsOf(Hs).flatMap((h, i) => [h, elementAt(Gs, i)]));
  const total = backend.multiexpVartime({
    scalars: concatBytes(...equations.map(({ scalars }) => scalars)),
    points: concatBytes(...equations.map(({ points }) => points)),
    generators: { family: "bulletproof", scalars: generators },
  });
  return total !== undefined && equalBytes(total, IDENTITY);
}

function padded(vector: Uint8Array, length: number): Uint8Array {
  const longer = new Uint8Array(length);
  longer.set(vector);
  return longer;
}

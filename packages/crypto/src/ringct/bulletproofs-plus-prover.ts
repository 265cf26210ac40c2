/**
 * The Bulletproofs+ prover on vectors of scalars and points (32 bytes each).
 *
 * Times: amounts, masks and nonces are used only in scalar arithmetic and `multiexp`, whose times do not depend on
 * their values. `…Vartime` calls fold the generators, with challenges that anybody can recompute from the proof.
 * Source: https://eprint.iacr.org/2020/735 §3 and §4; bulletproofs_plus.cc.
 */
import { asciiBytes, concatBytes, elementAt, elementsOf, repeatElement, wipe } from "../bytes.ts";
import { backend } from "../engine.ts";
import { keccak256 } from "../hash/keccak.ts";
import { G, H, hashToPoint, hashToScalar, mulBy8, requirePoint } from "../point.ts";
import {
  INVERSE_OF_EIGHT,
  type RandomSource,
  randomScalar,
  scFromUint64,
  scInvert,
  scIsCanonical,
  scIsZero,
  scMul,
  scMulAdd,
} from "../scalar.ts";

const BITS = 64;
const MAX_OUTPUTS = 16;
const GENERATOR_PAIR = concatBytes(H, G);
const ONE = scFromUint64(1n);

export type RangeProofRequest = {
  amounts: readonly bigint[];
  masks: readonly Uint8Array[];
  random: RandomSource;
};

type Proof = {
  A: Uint8Array;
  A1: Uint8Array;
  B: Uint8Array;
  r1: Uint8Array;
  s1: Uint8Array;
  d1: Uint8Array;
  L: Uint8Array;
  R: Uint8Array;
};

/**
 * The state of the inner-product argument: a and b shrink, Gs and Hs are folded along with them. Of the generators it
 * is `GFactor`·Gs and `HFactor`·Hs that count: so one half of them is added as it is rather than multiplied.
 */
type Folding = {
  a: Uint8Array;
  b: Uint8Array;
  Gs: Uint8Array;
  Hs: Uint8Array;
  GFactor: Uint8Array;
  HFactor: Uint8Array;
  /** The blinding factor of everything committed to so far. */
  alpha: Uint8Array;
};

/** A challenge came out as zero (never in practice): the proof has to be started over with other nonces. */
class ZeroChallenge extends Error {}

/** The Fiat-Shamir transcript. Source: bulletproofs_plus.cc `transcript_update`. */
class Transcript {
  #state = hashToPoint(keccak256(asciiBytes("bulletproof_plus_transcript")));

  /** The next challenge, after hashing the elements in. */
  next(...elements: readonly Uint8Array[]): Uint8Array {
    this.#state = hashToScalar(this.#state, ...elements);
    if (scIsZero(this.#state)) throw new ZeroChallenge();
    return this.#state;
  }
}

/** Proof and commitments (not divided by 8), the vectors end to end. */
export function proveRange(request: RangeProofRequest): { proof: Proof; commitments: Uint8Array } {
  checkRequest(request);
  const divided = dividedCommitments(request);
  const commitments = concatBytes(...elementsOf(divided).map(mulBy8));
  for (;;) {
    try {
      return { proof: prove(request, divided), commitments };
    } catch (error) {
      if (!(error instanceof ZeroChallenge)) throw error;
    }
  }
}

function checkRequest({ amounts, masks }: RangeProofRequest): void {
  if (amounts.length < 1 || amounts.length > MAX_OUTPUTS) throw new RangeError("1 to 16 amounts expected");
  if (amounts.length !== masks.length) throw new RangeError("as many masks as amounts expected");
  if (!masks.every(scIsCanonical)) throw new RangeError("a mask is not below the group order");
}

/** (mask·G + amount·H)/8 for every output. */
function dividedCommitments({ amounts, masks }: RangeProofRequest): Uint8Array {
  return concatBytes(
    ...amounts.map((amount, i) => dividedSum(concatBytes(scFromUint64(amount), masks[i]!), GENERATOR_PAIR)),
  );
}

/** (Σ sᵢ·Pᵢ)/8, in a time that does not depend on the sᵢ, which are wiped. */
function dividedSum(scalars: Uint8Array, points: Uint8Array): Uint8Array {
  const divided = backend.vector.scale(scalars, INVERSE_OF_EIGHT);
  const sum = requirePoint(backend.multiexp({ scalars: divided, points }), "generator");
  wipe(scalars, divided);
  return sum;
}

function prove({ amounts, masks, random }: RangeProofRequest, divided: Uint8Array): Proof {
  const transcript = new Transcript();
  const size = BITS * 2 ** Math.ceil(Math.log2(amounts.length));
  const bits = bitsOf(amounts, size);
  const complements = backend.vector.sub(bits, repeatElement(scFromUint64(1n), size)); // bit − 1
  const nonce = randomScalar(random);
  transcript.next(hashToScalar(divided));
  const A = commitToBits(bits, complements, nonce);
  const y = transcript.next(A);
  const z = transcript.next();
  const yPowers = backend.vector.powers(y, size + 2);
  const generators = elementsOf(backend.generators("bulletproof_plus", 2 * size));
  const folding: Folding = {
    ...shiftBits(bits, complements, { z, yPowers }),
    Hs: concatBytes(...generators.filter((_, i) => i % 2 === 0)),
    Gs: concatBytes(...generators.filter((_, i) => i % 2 === 1)),
    GFactor: ONE,
    HFactor: ONE,
    alpha: blindMasks(masks, nonce, { z, yTop: elementAt(yPowers, size + 1) }),
  };
  wipe(bits, complements, nonce);
  const rounds: { L: Uint8Array; R: Uint8Array }[] = [];
  while (folding.a.length > 32) rounds.push(foldOnce(folding, { transcript, yPowers, random }));
  return {
    A,
    ...finish(folding, { transcript, y, random }),
    L: concatBytes(...rounds.map(({ L }) => L)),
    R: concatBytes(...rounds.map(({ R }) => R)),
  };
}

/** The amounts' bits as scalars, the lowest first; amounts that pad to a power of two are 0. */
function bitsOf(amounts: readonly bigint[], size: number): Uint8Array {
  const bits = new Uint8Array(32 * size);
  amounts.forEach((amount, j) => {
    const bytes = scFromUint64(amount);
    for (let i = 0; i < BITS; i++) bits[32 * (BITS * j + i)] = (bytes[i >> 3]! >> (i & 7)) & 1;
    wipe(bytes);
  });
  return bits;
}

/** (Σ bitᵢ·Gᵢ + (bitᵢ − 1)·Hᵢ + nonce·G)/8. */
function commitToBits(bits: Uint8Array, complements: Uint8Array, nonce: Uint8Array): Uint8Array {
  const interleaved = concatBytes(...elementsOf(bits).flatMap((bit, i) => [elementAt(complements, i), bit]));
  const scalars = backend.vector.scale(interleaved, INVERSE_OF_EIGHT);
  const dividedNonce = scMul(nonce, INVERSE_OF_EIGHT);
  const generators = { family: "bulletproof_plus", scalars } as const;
  const A = requirePoint(backend.multiexp({ scalars: dividedNonce, points: G, generators }), "generator");
  wipe(interleaved, scalars, dividedNonce);
  return A;
}

/** a = bits − z and b = bits − 1 + z + d∘(y^size … y), with d of bit i of amount j being z^(2(j+1))·2^i. */
function shiftBits(
  bits: Uint8Array,
  complements: Uint8Array,
  { z, yPowers }: { z: Uint8Array; yPowers: Uint8Array },
): { a: Uint8Array; b: Uint8Array } {
  const { vector } = backend;
  const size = bits.length / 32;
  const shift = repeatElement(z, size);
  const zSquare = scMul(z, z);
  const twos = vector.powers(scFromUint64(2n), BITS);
  const zPowers = elementsOf(vector.scale(vector.powers(zSquare, size / BITS), zSquare));
  const d = concatBytes(...zPowers.map((power) => vector.scale(twos, power)));
  const yDescending = concatBytes(
    ...elementsOf(yPowers)
      .slice(1, size + 1)
      .reverse(),
  );
  return {
    a: vector.sub(bits, shift),
    b: vector.add(vector.add(complements, shift), vector.mul(d, yDescending)),
  };
}

/** nonce + Σ z^(2(j+1))·y^(size+1)·maskⱼ. */
function blindMasks(
  masks: readonly Uint8Array[],
  nonce: Uint8Array,
  { z, yTop }: { z: Uint8Array; yTop: Uint8Array },
): Uint8Array {
  const zSquare = scMul(z, z);
  const alpha = Uint8Array.from(nonce);
  let factor = yTop;
  for (const mask of masks) {
    factor = scMul(factor, zSquare);
    addProduct(alpha, factor, mask);
  }
  return alpha;
}

/** sum += a·b, in place. */
function addProduct(sum: Uint8Array, a: Uint8Array, b: Uint8Array): void {
  const total = scMulAdd(a, b, sum);
  sum.set(total);
  wipe(total);
}

/** One round: sends L and R, then halves the vectors. Replaces the fields of `folding`. */
function foldOnce(
  folding: Folding,
  { transcript, yPowers, random }: { transcript: Transcript; yPowers: Uint8Array; random: RandomSource },
): { L: Uint8Array; R: Uint8Array } {
  const { vector } = backend;
  const half = folding.a.length / 2;
  const n = half / 32;
  const [aLow, aHigh] = [folding.a.subarray(0, half), folding.a.subarray(half)];
  const [bLow, bHigh] = [folding.b.subarray(0, half), folding.b.subarray(half)];
  const [GLow, GHigh] = [folding.Gs.subarray(0, half), folding.Gs.subarray(half)];
  const [HLow, HHigh] = [folding.Hs.subarray(0, half), folding.Hs.subarray(half)];
  const yHalf = elementAt(yPowers, n);
  const yHalfInverse = scInvert(yHalf);
  const weights = yPowers.subarray(32, 32 + half); // y … yⁿ
  const aHighScaled = vector.scale(aHigh, yHalf);
  const nonces = { L: randomScalar(random), R: randomScalar(random) };

  const cL = vector.innerProduct(vector.mul(aLow, bHigh), weights);
  const cR = vector.innerProduct(vector.mul(aHighScaled, bLow), weights);
  const { GFactor, HFactor } = folding;
  const ofL = [vector.scale(aLow, scMul(yHalfInverse, GFactor)), vector.scale(bHigh, HFactor)] as const;
  const L = dividedSum(concatBytes(...ofL, cL, nonces.L), concatBytes(GHigh, HLow, GENERATOR_PAIR));
  const ofR = [vector.scale(aHighScaled, GFactor), vector.scale(bLow, HFactor)] as const;
  const R = dividedSum(concatBytes(...ofR, cR, nonces.R), concatBytes(GLow, HHigh, GENERATOR_PAIR));

  const x = transcript.next(L, R);
  const xInverse = scInvert(x);
  addProduct(folding.alpha, scMul(x, x), nonces.L);
  addProduct(folding.alpha, scMul(xInverse, xInverse), nonces.R);
  const a = vector.scaleAdd(aLow, x, vector.scale(aHighScaled, xInverse));
  const b = vector.scaleAdd(bLow, xInverse, vector.scale(bHigh, x));
  wipe(folding.a, folding.b, aHighScaled, ...ofL, ...ofR, cL, cR, nonces.L, nonces.R);
  const GRatio = scMul(yHalfInverse, scMul(x, x));
  const HRatio = scMul(xInverse, xInverse);
  folding.Gs = requirePoint(backend.foldVartime({ a: ONE, A: GLow, b: GRatio, B: GHigh }), "generator");
  folding.Hs = requirePoint(backend.foldVartime({ a: ONE, A: HLow, b: HRatio, B: HHigh }), "generator");
  folding.GFactor = scMul(GFactor, xInverse);
  folding.HFactor = scMul(HFactor, x);
  folding.a = a;
  folding.b = b;
  return { L, R };
}

/** The last step, on vectors of one element. */
function finish(
  { a, b, Gs, Hs, GFactor, HFactor, alpha }: Folding,
  { transcript, y, random }: { transcript: Transcript; y: Uint8Array; random: RandomSource },
): Pick<Proof, "A1" | "B" | "r1" | "s1" | "d1"> {
  const [r, s, d, eta] = [random, random, random, random].map(randomScalar) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const rb = scMul(r, b);
  const cross = scMul(y, scMulAdd(s, a, rb));
  const product = scMul(scMul(r, y), s);
  const ofA1 = [scMul(r, GFactor), scMul(s, HFactor)] as const;
  const A1 = dividedSum(concatBytes(...ofA1, cross, d), concatBytes(Gs, Hs, GENERATOR_PAIR));
  const B = dividedSum(concatBytes(product, eta), GENERATOR_PAIR);
  const e = transcript.next(A1, B);
  const answer = {
    A1,
    B,
    r1: scMulAdd(a, e, r),
    s1: scMulAdd(b, e, s),
    d1: scMulAdd(alpha, scMul(e, e), scMulAdd(d, e, eta)),
  };
  wipe(a, b, alpha, r, s, d, eta, rb, cross, product, ...ofA1);
  return answer;
}

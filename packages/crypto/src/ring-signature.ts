/**
 * Ring signatures of version 1 transactions, one 64-byte c ‖ r for each ring member.
 * Source: CryptoNote whitepaper v2.0 §4.4; crypto.cpp `generate_ring_signature`, `check_ring_signature`.
 */
import { checkLength, concatBytes, elementAt, equalBytes, repeatElement, wipe } from "./bytes.ts";
import { backend } from "./engine.ts";
import { G, hashToScalar, requirePoint, scalarMult, scalarMultBase } from "./point.ts";
import { type RandomSource, randomScalar, scAdd, scIsCanonical, scMulSub, scSub } from "./scalar.ts";

export type RingSignatureStatement = {
  /** The transaction's prefix hash, 32 bytes. */
  prefixHash: Uint8Array;
  keyImage: Uint8Array;
  /** The one-time keys of the ring, 32 bytes each. */
  publicKeys: readonly Uint8Array[];
};

/** Lᵢ = rᵢ·G + cᵢ·Pᵢ and Rᵢ = rᵢ·Hp(Pᵢ) + cᵢ·I for all members; undefined where a point does not decode. */
function commitments(statement: RingSignatureStatement, c: Uint8Array, r: Uint8Array) {
  const size = statement.publicKeys.length;
  const keys = concatBytes(...statement.publicKeys);
  const images = repeatElement(statement.keyImage, size);
  const L = backend.doubleScalarMultVartime({ a: c, A: keys, b: r, B: repeatElement(G, size) });
  const R = backend.doubleScalarMultVartime({ a: c, A: images, b: r, B: backend.hashToPoint(keys) });
  return L && R && { L, R };
}

/** As `commitments` of all but the signer, whose place is filled later: alone, only the points are checked. */
function othersCommitments(statement: RingSignatureStatement, c: Uint8Array, r: Uint8Array) {
  const { keyImage, publicKeys } = statement;
  if (publicKeys.length > 1) return commitments(statement, c, r);
  const arePoints = backend.isPoint(keyImage) && backend.isPoint(publicKeys[0]!);
  return arePoints ? { L: new Uint8Array(32), R: new Uint8Array(32) } : undefined;
}

function challenge(prefixHash: Uint8Array, pairs: { L: Uint8Array; R: Uint8Array }): Uint8Array {
  const size = pairs.L.length / 32;
  const lines = Array.from({ length: size }, (_, i) => [elementAt(pairs.L, i), elementAt(pairs.R, i)]);
  return hashToScalar(prefixHash, ...lines.flat());
}

function sumOf(scalars: Uint8Array): Uint8Array {
  let sum = new Uint8Array(32);
  for (let i = 0; i < scalars.length / 32; i++) sum = new Uint8Array(scAdd(sum, elementAt(scalars, i)));
  return sum;
}

/** Signs as member `realIndex`; throws `InvalidPoint` on a ring member or key image that is no point. */
export function generateRingSignature(
  statement: RingSignatureStatement,
  signer: { secretKey: Uint8Array; realIndex: number },
  random?: RandomSource,
): Uint8Array[] {
  const { publicKeys, prefixHash } = statement;
  const { secretKey, realIndex } = signer;
  const realKey = publicKeys[realIndex];
  if (realKey === undefined) throw new RangeError("the signer is not in the ring");
  checkLength("prefix hash", prefixHash, 32);
  const [c, r] = [new Uint8Array(32 * publicKeys.length), new Uint8Array(32 * publicKeys.length)];
  let k = new Uint8Array(32);
  for (let i = 0; i < publicKeys.length; i++) {
    if (i === realIndex) {
      k = new Uint8Array(randomScalar(random));
    } else {
      c.set(randomScalar(random), 32 * i);
      r.set(randomScalar(random), 32 * i);
    }
  }
  try {
    const pairs = othersCommitments(statement, c, r);
    requirePoint(pairs?.L, "ring member or key image");
    pairs!.L.set(scalarMultBase(k), 32 * realIndex);
    pairs!.R.set(scalarMult(k, backend.hashToPoint(realKey)), 32 * realIndex);
    const realC = scSub(challenge(prefixHash, pairs!), sumOf(c));
    c.set(realC, 32 * realIndex);
    r.set(scMulSub(realC, secretKey, k), 32 * realIndex);
  } finally {
    wipe(k);
  }
  return publicKeys.map((_, i) => concatBytes(elementAt(c, i), elementAt(r, i)));
}

/** Whether one member of the ring signed; false on anything malformed. */
export function checkRingSignature(
  statement: RingSignatureStatement,
  signatures: readonly Uint8Array[],
): boolean {
  const { prefixHash, keyImage, publicKeys } = statement;
  if (prefixHash.length !== 32 || ![keyImage, ...publicKeys].every(({ length }) => length === 32))
    return false;
  if (signatures.length !== publicKeys.length) return false;
  if (!signatures.every((signature) => signature.length === 64)) return false;
  const cs = signatures.map((signature) => signature.subarray(0, 32));
  const rs = signatures.map((signature) => signature.subarray(32));
  if (![...cs, ...rs].every(scIsCanonical) || !backend.isPoint(keyImage)) return false;
  const c = concatBytes(...cs);
  const pairs = commitments(statement, c, concatBytes(...rs));
  return pairs !== undefined && equalBytes(challenge(prefixHash, pairs), sumOf(c));
}

/**
 * Ring signatures of version 1 transactions, one 64-byte c ‖ r for each ring member.
 * Source: CryptoNote whitepaper v2.0 §4.4; crypto.cpp `generate_ring_signature`, `check_ring_signature`.
 */
import { checkLength, concatBytes, elementAt, elementsOf, equalBytes, wipe } from "./bytes.ts";
import { backend } from "./engine.ts";
import { G, hashToScalar, requirePoint } from "./point.ts";
import { type RandomSource, randomScalar, scAdd, scIsCanonical, scMulSub, scSub } from "./scalar.ts";

export type RingSignatureStatement = {
  /** The transaction's prefix hash, 32 bytes. */
  prefixHash: Uint8Array;
  keyImage: Uint8Array;
  /** The one-time keys of the ring, 32 bytes each. */
  publicKeys: readonly Uint8Array[];
};

/**
 * Lᵢ = rᵢ·G + cᵢ·Pᵢ and Rᵢ = rᵢ·Hp(Pᵢ) + cᵢ·I of all members, L₀ ‖ R₀ ‖ L₁ ‖ R₁ …; undefined where a point does not
 * decode.
 */
function commitments(
  { publicKeys, keyImage }: RingSignatureStatement,
  c: Uint8Array,
  r: Uint8Array,
): Uint8Array | undefined {
  const hashed = elementsOf(backend.hashToPoint(concatBytes(...publicKeys)));
  const A = concatBytes(...publicKeys.flatMap((key) => [key, keyImage]));
  const B = concatBytes(...hashed.flatMap((point) => [G, point]));
  return backend.twinScalarMultVartime({ a: c, A, b: r, B });
}

/** As `commitments` of all but the signer, whose place is filled later: alone, only the points are checked. */
function othersCommitments(statement: RingSignatureStatement, c: Uint8Array, r: Uint8Array) {
  const { keyImage, publicKeys } = statement;
  if (publicKeys.length > 1) return commitments(statement, c, r);
  const arePoints = backend.isPoint(keyImage) && backend.isPoint(publicKeys[0]!);
  return arePoints ? new Uint8Array(64) : undefined;
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
  let k: Uint8Array = new Uint8Array(32);
  for (let i = 0; i < publicKeys.length; i++) {
    if (i === realIndex) {
      k = randomScalar(random);
    } else {
      c.set(randomScalar(random), 32 * i);
      r.set(randomScalar(random), 32 * i);
    }
  }
  try {
    // The signer's place takes as long as another's: scalars of 0 would not.
    const other = (realIndex + 1) % publicKeys.length;
    for (const scalars of [c, r]) scalars.set(elementAt(scalars, other), 32 * realIndex);
    const pairs = othersCommitments(statement, c, r);
    c.fill(0, 32 * realIndex, 32 * realIndex + 32);
    requirePoint(pairs, "ring member or key image");
    const { L, R } = backend.commitTwice(k, realKey);
    pairs!.set(L, 64 * realIndex);
    pairs!.set(R, 64 * realIndex + 32);
    const realC = scSub(hashToScalar(prefixHash, pairs!), sumOf(c));
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
  return pairs !== undefined && equalBytes(hashToScalar(prefixHash, pairs), sumOf(c));
}

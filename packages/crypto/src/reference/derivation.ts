/** The wallet's scanning functions: one derivation, view tag, scalar or key a line of the vector. */
import type { Backend, SubaddressRequest } from "../backend.ts";
import { asciiBytes, checkLength, concatBytes, countElements, elementsOf, varint } from "../bytes.ts";
import { readFactor, readPoint } from "./group.ts";
import { keccak256 } from "./keccak.ts";
import {
  add,
  basePoint,
  decodePoint,
  encodePoint,
  IDENTITY,
  multiplyVartime,
  negate,
  type Point,
} from "./point.ts";
import { readScalar, scalar } from "./scalar.ts";

type DerivationFunctions = Pick<
  Backend,
  | "deriveBatch"
  | "matchViewTags"
  | "viewTags"
  | "derivationScalars"
  | "outputSpendKeys"
  | "subaddressSpendKeys"
>;

/** Every derivation with its output index. */
function pair(
  derivations: Uint8Array,
  outputIndices: Uint32Array,
): { derivation: Uint8Array; index: number }[] {
  if (countElements("derivations", derivations) !== outputIndices.length) {
    throw new RangeError("as many output indices as derivations expected");
  }
  return elementsOf(derivations).map((derivation, i) => ({ derivation, index: outputIndices[i]! }));
}

/** Hs(derivation ‖ varint(index)). Source: crypto.cpp `derivation_to_scalar`. */
function derivationScalar(derivation: Uint8Array, index: number): Uint8Array {
  return scalar.reduce32(keccak256(concatBytes(derivation, varint(index))));
}

/** First byte of keccak256("view_tag" ‖ derivation ‖ varint(index)). */
function viewTag(derivation: Uint8Array, index: number): number {
  return keccak256(concatBytes(asciiBytes("view_tag"), derivation, varint(index)))[0]!;
}

/** Encodes the points; 32 zero bytes and `valid` 0 for undefined ones. */
function encodeValid(points: readonly (Point | undefined)[]): { points: Uint8Array; valid: Uint8Array } {
  return {
    points: concatBytes(...points.map((point) => (point ? encodePoint(point) : new Uint8Array(32)))),
    valid: Uint8Array.from(points, (point) => (point ? 1 : 0)),
  };
}

function uint32(value: number): Uint8Array {
  if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) {
    throw new RangeError(`not a 32-bit index: ${value}`);
  }
  return new Uint8Array(Uint32Array.of(value).buffer); // little-endian, as every machine Node runs on
}

function subaddressSpendKeys(request: SubaddressRequest): Uint8Array | undefined {
  const { viewSecret, spendPublic, major, fromMinor, count } = request;
  checkLength("view secret", viewSecret, 32);
  const spendPoint = readPoint(spendPublic);
  if (spendPoint === undefined) return undefined;
  const keys = Array.from({ length: count }, (_, i) => {
    const minor = fromMinor + i;
    if (major === 0 && minor === 0) return spendPublic;
    const preimage = concatBytes(asciiBytes("SubAddr\0"), viewSecret, uint32(major), uint32(minor));
    const offset = readScalar(scalar.reduce32(keccak256(preimage)));
    return encodePoint(add(spendPoint, multiplyVartime(offset, basePoint())));
  });
  return concatBytes(...keys);
}

export const derivation: DerivationFunctions = {
  deriveBatch(secret, publicKeys) {
    const factor = readFactor(secret);
    countElements("public keys", publicKeys);
    const shared = elementsOf(publicKeys).map((key) => {
      const point = decodePoint(key);
      return point && multiplyVartime(8n * factor, point);
    });
    const { points: derivations, valid } = encodeValid(shared);
    return { derivations, valid };
  },
  matchViewTags(secrets, { publicKeys, counts, indices, tags }) {
    countElements("secrets", secrets);
    const outputs = counts.reduce((sum, count) => sum + count, 0);
    const [m, n] = [indices.length, tags.length];
    if (countElements("public keys", publicKeys) !== counts.length || m !== outputs || n !== outputs)
      throw new RangeError("outputs of each key expected");
    const keyOf = [...counts].flatMap((count, key) => Array.from({ length: count }, () => key));
    const bySecret = elementsOf(secrets).map((secret) => derivation.deriveBatch(secret, publicKeys));
    const derivationAt = (secret: number, key: number) => {
      const { derivations, valid } = bySecret[secret]!;
      return valid[key] === 1 ? derivations.subarray(32 * key, 32 * key + 32) : encodePoint(IDENTITY);
    };
    const matches = keyOf.flatMap((key, output) =>
      bySecret.flatMap((_, secret) => {
        const derivation = derivationAt(secret, key);
        const isFound = tags[output]! > 255 || viewTag(derivation, indices[output]!) === tags[output];
        return isFound ? [{ secret, output, derivation }] : [];
      }),
    );
    return {
      secrets: Uint32Array.from(matches, ({ secret }) => secret),
      outputs: Uint32Array.from(matches, ({ output }) => output),
      derivations: concatBytes(...matches.map((each) => each.derivation)),
    };
  },
  viewTags: (derivations, outputIndices) =>
    Uint8Array.from(pair(derivations, outputIndices), ({ derivation, index }) => viewTag(derivation, index)),
  derivationScalars: (derivations, outputIndices) =>
    concatBytes(
      ...pair(derivations, outputIndices).map(({ derivation, index }) => derivationScalar(derivation, index)),
    ),
  outputSpendKeys(outputKeys, derivations, outputIndices) {
    if (outputKeys.length !== derivations.length)
      throw new RangeError("as many derivations as keys expected");
    const keys = elementsOf(outputKeys).map(decodePoint);
    const spendKeys = pair(derivations, outputIndices).map(({ derivation, index }, i) => {
      const offset = multiplyVartime(readScalar(derivationScalar(derivation, index)), basePoint());
      const key = keys[i];
      return key && add(key, negate(offset));
    });
    return encodeValid(spendKeys);
  },
  subaddressSpendKeys,
};

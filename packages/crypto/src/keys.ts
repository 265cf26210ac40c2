/**
 * One-time addresses: what sender and recipient of an output derive from each other's keys.
 * Source: CryptoNote whitepaper v2.0 §4.3; crypto.cpp; device_default.cpp (subaddresses).
 */
import { asciiBytes, checkLength, concatBytes, equalBytes, repeatElement, varint, wipe } from "./bytes.ts";
import { backend } from "./engine.ts";
import { keccak256 } from "./hash/keccak.ts";
import {
  hashToScalar,
  mulBy8,
  pointAdd,
  pointSub,
  publicKeyOf,
  requirePoint,
  scalarMultBase,
} from "./point.ts";
import { scAdd } from "./scalar.ts";

/** A wallet's keys as far as they find outputs: 32 bytes each. */
export type ViewKeys = { readonly viewSecret: Uint8Array; readonly spendPublic: Uint8Array };

/** 8·a·R, the secret sender and recipient share, 32 bytes; throws `InvalidPoint`. Source: `generate_key_derivation`. */
export function generateKeyDerivation(txPublicKey: Uint8Array, viewSecret: Uint8Array): Uint8Array {
  const product = requirePoint(backend.scalarMult(viewSecret, txPublicKey), "transaction public key");
  const derivation = mulBy8(product);
  wipe(product);
  return derivation;
}

/** Hs(derivation ‖ varint(index)), 32 bytes: also the key that encrypts the amount. Source: `derivation_to_scalar`. */
export function derivationToScalar(derivation: Uint8Array, outputIndex: number): Uint8Array {
  checkLength("derivation", derivation, 32);
  return hashToScalar(derivation, varint(outputIndex));
}

/** The one byte by which a wallet skips the outputs of others (0 … 255). Source: `derive_view_tag`. */
export function deriveViewTag(derivation: Uint8Array, outputIndex: number): number {
  checkLength("derivation", derivation, 32);
  return keccak256(asciiBytes("view_tag"), derivation, varint(outputIndex))[0]!;
}

/** Hs(derivation ‖ i)·G. */
function offsetOf(derivation: Uint8Array, outputIndex: number): Uint8Array {
  const scalar = derivationToScalar(derivation, outputIndex);
  try {
    return scalarMultBase(scalar);
  } finally {
    wipe(scalar);
  }
}

/** The output's one-time key B + Hs(derivation ‖ i)·G, 32 bytes; throws `InvalidPoint`. Source: `derive_public_key`. */
export function derivePublicKey(
  derivation: Uint8Array,
  outputIndex: number,
  spendPublic: Uint8Array,
): Uint8Array {
  return pointAdd(spendPublic, offsetOf(derivation, outputIndex));
}

/** The secret of the one-time key, b + Hs(derivation ‖ i), 32 bytes. Source: `derive_secret_key`. */
export function deriveSecretKey(
  derivation: Uint8Array,
  outputIndex: number,
  spendSecret: Uint8Array,
): Uint8Array {
  const offset = derivationToScalar(derivation, outputIndex);
  const secret = scAdd(spendSecret, offset);
  wipe(offset);
  return secret;
}

/**
 * The spend key an output was sent to, K − Hs(derivation ‖ i)·G, 32 bytes; throws `InvalidPoint`.
 * Source: `derive_subaddress_public_key`.
 */
export function deriveSubaddressPublicKey(
  outputKey: Uint8Array,
  derivation: Uint8Array,
  outputIndex: number,
): Uint8Array {
  return pointSub(outputKey, offsetOf(derivation, outputIndex));
}

/** The key image x·Hp(P), 32 bytes: the same whenever the output is spent. Source: `generate_key_image`. */
export function keyImageOf(oneTimePublic: Uint8Array, oneTimeSecret: Uint8Array): Uint8Array {
  return backend.scalarMultHashed(oneTimeSecret, oneTimePublic);
}

/**
 * m = Hs("SubAddr\0" ‖ a ‖ major ‖ minor), which a subaddress adds to the spend key. Source:
 * `get_subaddress_secret_key`.
 */
export function subaddressSecretKey(viewSecret: Uint8Array, major: number, minor: number): Uint8Array {
  checkLength("view secret", viewSecret, 32);
  const preimage = concatBytes(asciiBytes("SubAddr\0"), viewSecret, indexBytes(major), indexBytes(minor));
  const secret = hashToScalar(preimage);
  wipe(preimage);
  return secret;
}

function indexBytes(index: number): Uint8Array {
  if (!Number.isInteger(index) || index < 0 || index > 0xffffffff) {
    throw new RangeError(`not a subaddress index: ${index}`);
  }
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, index, true);
  return bytes;
}

/** Neighbouring subaddresses of an account. */
export type SubaddressRange = {
  readonly keys: ViewKeys;
  readonly major: number;
  readonly fromMinor: number;
  readonly count: number;
};

/** The spend key B + m·G of a subaddress, B itself for (0, 0); throws `InvalidPoint`. */
export function subaddressSpendPublicKey(keys: ViewKeys, major: number, minor: number): Uint8Array {
  return subaddressSpendPublicKeys({ keys, major, fromMinor: minor, count: 1 });
}

/** The same of neighbouring subaddresses: 32 bytes each, end to end. */
export function subaddressSpendPublicKeys({ keys, ...range }: SubaddressRange): Uint8Array {
  return requirePoint(backend.subaddressSpendKeys({ ...keys, ...range }), "spend public key");
}

type SubaddressKeys = { readonly spendPublic: Uint8Array; readonly viewPublic: Uint8Array };

/** The two public keys of a subaddress, those of the main address for (0, 0); throws `InvalidPoint`. */
export function subaddressKeys(keys: ViewKeys, major: number, minor: number): SubaddressKeys {
  return subaddressKeysOf({ keys, major, fromMinor: minor, count: 1 })[0]!;
}

/** The same of neighbouring subaddresses. */
export function subaddressKeysOf(range: SubaddressRange): SubaddressKeys[] {
  const { keys, major, fromMinor, count } = range;
  const spendKeys = subaddressSpendPublicKeys(range);
  const factors = repeatElement(keys.viewSecret, count);
  const products = requirePoint(backend.scalarMult(factors, spendKeys), "spend public key");
  wipe(factors);
  return Array.from({ length: count }, (_, i) => {
    const isMain = major === 0 && fromMinor + i === 0;
    const viewPublic = isMain ? publicKeyOf(keys.viewSecret) : products.slice(32 * i, 32 * i + 32);
    return { spendPublic: spendKeys.slice(32 * i, 32 * i + 32), viewPublic };
  });
}

/** Whether the secret key belongs to the public key. */
export function isKeyPair(publicKey: Uint8Array, secretKey: Uint8Array): boolean {
  return backend.scalar.isCanonical(secretKey) && equalBytes(backend.scalarMultBase(secretKey), publicKey);
}

/**
 * Monero's own vectors of the crypto library, every line of them. Some lines depend on the random numbers the lines
 * before them drew, so a run goes through the file in order.
 * Source: monero tests/crypto/main.cpp (line formats); src/crypto/random.c (the generator, its state set to 42s).
 */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import type { Backend } from "../src/backend.ts";
import { backend } from "../src/engine.ts";
import {
  checkRingSignature,
  checkSignature,
  derivePublicKey,
  deriveSecretKey,
  deriveViewTag,
  generateKeyDerivation,
  generateRingSignature,
  hashToPoint,
  hashToScalar,
  InvalidPoint,
  isPoint,
  keyImageOf,
  pointAdd,
  pointSub,
  publicKeyOf,
  type RandomSource,
  type RingSignatureStatement,
  randomScalar,
  scIsCanonical,
  signMessageHash,
} from "../src/index.ts";
import { fieldToPoint } from "../src/reference/hash-to-point.ts";
import { keccakPermute } from "../src/reference/keccak.ts";
import { encodePoint } from "../src/reference/point.ts";
import { onEachBackend } from "./backends.ts";
import { readVectorLines, type VectorLine } from "./vector-lines.ts";

const VECTOR_FILE = "/usr/share/monero/testdata/crypto/tests.txt";

const inCi = process.env.CI === "true";

/** Larger rings (up to 256 keys) take the twin minutes: only the kernels compute them. 16 keys is today's size. */
const TWIN_RING_SIZE = inCi ? 16 : 2;

type Check = (line: VectorLine, random: RandomSource) => void;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const same = (actual: Uint8Array, expected: Uint8Array): void => assert.equal(hex(actual), hex(expected));

/** The generator of the file's makers: the first 136 bytes of a Keccak state that starts as 42s. */
function vectorRandom(): RandomSource {
  const state = new Uint8Array(200).fill(42);
  return (size) => {
    assert.ok(size <= 136);
    keccakPermute(state);
    return state.slice(0, size);
  };
}

/** "true" and the expected bytes, or "false": then computing must fail with `refusal`. */
function valueOr(
  refusal: new (...args: never[]) => Error,
  line: VectorLine,
  compute: () => Uint8Array,
): void {
  if (line.flag()) same(compute(), line.bytes());
  else assert.throws(compute, refusal);
}

/** Hash, key image and ring, as both ring signature kinds start. */
function readRing(line: VectorLine): RingSignatureStatement {
  const [prefixHash, keyImage] = [line.bytes(), line.bytes()];
  const publicKeys = Array.from({ length: line.integer() }, () => line.bytes());
  return { prefixHash, keyImage, publicKeys };
}

function isForKernels({ publicKeys }: RingSignatureStatement): boolean {
  return backend.name === "reference" && publicKeys.length > TWIN_RING_SIZE;
}

const checks: Record<string, Check> = {
  check_scalar: (line) => assert.equal(scIsCanonical(line.bytes()), line.flag()),
  random_scalar: (line, random) => same(randomScalar(random), line.bytes()),
  hash_to_scalar: (line) => same(hashToScalar(line.bytes()), line.bytes()),
  generate_keys(line, random) {
    const secretKey = randomScalar(random);
    same(publicKeyOf(secretKey), line.bytes());
    same(secretKey, line.bytes());
  },
  check_key: (line) => assert.equal(isPoint(line.bytes()), line.flag()),
  secret_key_to_public_key(line) {
    const secretKey = line.bytes();
    valueOr(RangeError, line, () => publicKeyOf(secretKey));
  },
  generate_key_derivation(line) {
    const [publicKey, secretKey] = [line.bytes(), line.bytes()];
    valueOr(InvalidPoint, line, () => generateKeyDerivation(publicKey, secretKey));
  },
  derive_public_key(line) {
    const [derivation, index, base] = [line.bytes(), line.integer(), line.bytes()];
    valueOr(InvalidPoint, line, () => derivePublicKey(derivation, index, base));
  },
  derive_secret_key(line) {
    const [derivation, index, base] = [line.bytes(), line.integer(), line.bytes()];
    same(deriveSecretKey(derivation, index, base), line.bytes());
  },
  derive_view_tag(line) {
    const [derivation, index] = [line.bytes(), line.integer()];
    same(Uint8Array.of(deriveViewTag(derivation, index)), line.bytes());
  },
  generate_signature(line, random) {
    const [hash, publicKey, secretKey] = [line.bytes(), line.bytes(), line.bytes()];
    same(signMessageHash(hash, publicKey, secretKey, random), line.bytes());
  },
  check_signature(line) {
    const [hash, publicKey, signature] = [line.bytes(), line.bytes(), line.bytes()];
    assert.equal(checkSignature(hash, publicKey, signature), line.flag());
  },
  /** The map to the curve alone, before the factor 8; only the twin has it by itself. */
  hash_to_point: (line) => same(encodePoint(fieldToPoint(line.bytes())), line.bytes()),
  hash_to_ec: (line) => same(hashToPoint(line.bytes()), line.bytes()),
  generate_key_image(line) {
    const [publicKey, secretKey] = [line.bytes(), line.bytes()];
    same(keyImageOf(publicKey, secretKey), line.bytes());
  },
  generate_ring_signature(line, random) {
    const statement = readRing(line);
    const signer = { secretKey: line.bytes(), realIndex: line.integer() };
    const expected = line.bytes();
    if (isForKernels(statement)) {
      for (let drawn = 0; drawn < 2 * statement.publicKeys.length - 1; drawn++) randomScalar(random);
    } else {
      same(Buffer.concat(generateRingSignature(statement, signer, random)), expected);
    }
  },
  check_ring_signature(line) {
    const statement = readRing(line);
    const joined = line.bytes();
    const signatures = statement.publicKeys.map((_, i) => joined.subarray(64 * i, 64 * i + 64));
    const expected = line.flag();
    if (!isForKernels(statement)) assert.equal(checkRingSignature(statement, signatures), expected);
  },
  /** K + K − K − K must be seen as the identity. The first flag is the answer of a wrong test the makers once had. */
  check_ge_p3_identity(line) {
    const key = line.bytes();
    line.flag();
    const isIdentity = hex(pointSub(pointSub(pointAdd(key, key), key), key)) === `01${"00".repeat(31)}`;
    assert.equal(isIdentity, line.flag());
  },
};

function runAll(lines: readonly VectorLine[]): Map<string, number> {
  const random = vectorRandom();
  const counts = new Map<string, number>();
  for (const line of lines) {
    const check = checks[line.kind];
    assert.ok(check, `line ${line.number}: unknown function ${line.kind}`);
    try {
      check(line, random);
      line.end();
    } catch (error) {
      throw new Error(`line ${line.number}, ${line.kind}`, { cause: error });
    }
    counts.set(line.kind, (counts.get(line.kind) ?? 0) + 1);
  }
  return counts;
}

function vectorSuite(engine: Backend): void {
  test("every line of the file gives the expected result", (context) => {
    const counts = runAll(readVectorLines(readFileSync(VECTOR_FILE, "utf8")));
    assert.deepEqual([...counts.keys()].sort(), Object.keys(checks).sort(), "every function has vectors");
    context.diagnostic([...counts].map(([kind, count]) => `${kind} ${count}`).join(", "));
    if (engine.name === "reference") {
      context.diagnostic(`rings of more than ${TWIN_RING_SIZE} keys were read but not computed`);
    }
  });
}

const missing = !existsSync(VECTOR_FILE);
if (missing && !inCi) {
  test("cncrypto vectors", { skip: `${VECTOR_FILE} is missing (Debian package monero-tests)` });
} else {
  onEachBackend("cncrypto vectors", vectorSuite);
}

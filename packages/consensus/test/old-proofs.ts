import {
  commit,
  G,
  H,
  hashToPoint,
  hashToScalar,
  keyImageOf,
  pointAdd,
  pointSub,
  publicKeyOf,
  randomScalar,
  scAdd,
  scalarMult,
  scalarMultBase,
  scFromUint64,
  scMulSub,
  scSub,
} from "@anulo/crypto";
import { concatBytes } from "@anulo/protocol";
import type {
  BorromeanObligation,
  FullMlsagObligation,
  MlsagObligation,
  MlsagProof,
  RingMember,
} from "../src/index.ts";

/** The signer's side of proofs that no wallet makes any more, from their papers. */

const transactionId = new Uint8Array(32).fill(9);
const BITS = 64;

/** Noether, https://eprint.iacr.org/2015/1098, §2: the first `linked` rows have key images. */
function signMlsag(columns: Uint8Array[][], secrets: Uint8Array[], signing: MlsagSigning): MlsagProof {
  const { message, linked, realIndex } = signing;
  const nonces = secrets.map(() => randomScalar());
  const images = secrets.slice(0, linked).map((secret, row) => keyImageOf(columns[realIndex]![row]!, secret));
  const ss = columns.map((column) => column.map(() => randomScalar()));
  const hash = (keys: Uint8Array[], L: Uint8Array[], R: Uint8Array[]) => {
    const rows = keys.map((key, row) => concatBytes(key, L[row]!, row < linked ? R[row]! : new Uint8Array()));
    return hashToScalar(message, ...rows);
  };
  const real = columns[realIndex]!;
  let at = (realIndex + 1) % columns.length;
  let challenge = hash(
    real,
    nonces.map((nonce) => scalarMultBase(nonce)),
    images.map((_, row) => scalarMult(nonces[row]!, hashToPoint(real[row]!))),
  );
  let first = challenge;
  while (at !== realIndex) {
    const [keys, s, c] = [columns[at]!, ss[at]!, challenge];
    if (at === 0) first = challenge;
    challenge = hash(
      keys,
      keys.map((key, row) => pointAdd(scalarMultBase(s[row]!), scalarMult(c, key))),
      images.map((image, row) =>
        pointAdd(scalarMult(s[row]!, hashToPoint(keys[row]!)), scalarMult(c, image)),
      ),
    );
    at = (at + 1) % columns.length;
  }
  if (at === 0) first = challenge;
  ss[realIndex] = secrets.map((secret, row) => scMulSub(challenge, secret, nonces[row]!));
  return { ss, cc: first };
}

interface MlsagSigning {
  message: Uint8Array;
  linked: number;
  realIndex: number;
}

const AMOUNT = 5_000n;
const REAL = 1;

function createRing() {
  const [secretKey, mask] = [randomScalar(), randomScalar()];
  const ring: RingMember[] = Array.from({ length: 3 }, () => ({
    key: publicKeyOf(randomScalar()),
    commitment: commit(randomScalar(), AMOUNT),
  }));
  ring[REAL] = { key: publicKeyOf(secretKey), commitment: commit(mask, AMOUNT) };
  return { ring, secretKey, mask };
}

/** The signature of one input among three outputs. */
export function provenMlsag(): MlsagObligation {
  const { ring, secretKey, mask } = createRing();
  const pseudoMask = randomScalar();
  const pseudoOut = commit(pseudoMask, AMOUNT);
  const message = hashToScalar(G);
  const columns = ring.map(({ key, commitment }) => [key, pointSub(commitment, pseudoOut)]);
  const signing = { message, linked: 1, realIndex: REAL };
  const proof = signMlsag(columns, [secretKey, scSub(mask, pseudoMask)], signing);
  const keyImage = keyImageOf(ring[REAL]!.key, secretKey);
  return { kind: "mlsag", transactionId, input: 4, message, ring, pseudoOut, keyImage, proof };
}

/** The one signature of two inputs, which pay one output and a fee of 7. */
export function provenFullMlsag(): FullMlsagObligation {
  const fee = 7n;
  const inputs = [createRing(), createRing()];
  const rings = inputs.map(({ ring }) => ring);
  const outputMask = randomScalar();
  const outputCommitments = [commit(outputMask, 2n * AMOUNT - fee)];
  const spent = pointAdd(outputCommitments[0]!, scalarMult(scFromUint64(fee), H));
  const columns = Array.from({ length: 3 }, (_, i) => {
    const members = rings.map((ring) => ring[i]!);
    const received = members.map(({ commitment }) => commitment).reduce(pointAdd);
    return [...members.map(({ key }) => key), pointSub(received, spent)];
  });
  const mask = scSub(inputs.map((input) => input.mask).reduce(scAdd), outputMask);
  const message = hashToScalar(H);
  const secrets = [...inputs.map(({ secretKey }) => secretKey), mask];
  const proof = signMlsag(columns, secrets, { message, linked: 2, realIndex: REAL });
  const keyImages = inputs.map(({ ring, secretKey }) => keyImageOf(ring[REAL]!.key, secretKey));
  return { kind: "fullMlsag", transactionId, message, rings, outputCommitments, fee, keyImages, proof };
}

/** Maxwell and Poelstra, "Borromean ring signatures" (2015), over the bits of an amount. */
export function provenBorromean(amount: bigint): BorromeanObligation {
  const isSet = (bit: number) => ((amount >> BigInt(bit)) & 1n) === 1n;
  const bits = Array.from({ length: BITS }, (_, bit) => {
    const mask = randomScalar();
    const power = scalarMult(scFromUint64(1n << BigInt(bit)), H);
    const point = isSet(bit) ? pointAdd(scalarMultBase(mask), power) : scalarMultBase(mask);
    return {
      mask,
      point,
      without: pointSub(point, power),
      nonce: randomScalar(),
      s0: randomScalar(),
      s1: randomScalar(),
    };
  });
  const join = (s: Uint8Array, c: Uint8Array, P: Uint8Array) => pointAdd(scalarMultBase(s), scalarMult(c, P));
  const last = bits.map(({ nonce, s1, without }, bit) => {
    if (isSet(bit)) return scalarMultBase(nonce);
    return join(s1, hashToScalar(scalarMultBase(nonce)), without);
  });
  const ee = hashToScalar(...last);
  for (const [bit, each] of bits.entries()) {
    if (isSet(bit)) each.s1 = scMulSub(hashToScalar(join(each.s0, ee, each.point)), each.mask, each.nonce);
    else each.s0 = scMulSub(ee, each.mask, each.nonce);
  }
  const proof = {
    s0: concatBytes(...bits.map(({ s0 }) => s0)),
    s1: concatBytes(...bits.map(({ s1 }) => s1)),
    ee,
    Ci: concatBytes(...bits.map(({ point }) => point)),
  };
  const commitment = bits.map(({ point }) => point).reduce(pointAdd);
  return { kind: "borromean", transactionId, output: 3, commitment, proof };
}

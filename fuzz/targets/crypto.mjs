import * as crypto from "../../packages/crypto/dist/src/index.js";
import { debianCorpus } from "../corpus.mjs";

const numbered = (first, count) => Buffer.from(Array.from({ length: count }, (_, i) => (first + i) & 0xff));
const part = (input, at) => {
  const bytes = new Uint8Array(32);
  bytes.set(input.subarray(32 * at, 32 * at + 32));
  return bytes;
};

function signed() {
  const secret = crypto.randomScalar(() => numbered(1, 64).subarray(0, 32));
  const hash = new Uint8Array(numbered(3, 32));
  const key = crypto.publicKeyOf(secret);
  return Buffer.concat([hash, key, crypto.signMessageHash(hash, key, secret)]);
}

function rangeProof() {
  const mask = crypto.scReduce32(new Uint8Array(numbered(9, 32)));
  const { proof, commitments } = crypto.proveBulletproofPlus([1n, 2n], [mask, mask]);
  const { A, A1, B, r1, s1, d1, L, R } = proof;
  return Buffer.concat([A, A1, B, r1, s1, d1, ...commitments, ...L, ...R]);
}

export const targets = {
  signatures: {
    seeds: () => [signed(), numbered(0, 200), ...debianCorpus("signature")],
    refusals: [crypto.InvalidPoint],
    run(input) {
      const [hash, key, c, r] = [0, 1, 2, 3].map((at) => part(input, at));
      crypto.checkSignature(hash, key, Buffer.concat([c, r]));
      const ring = [0, 1].map((at) => ({ key: part(input, at), commitment: part(input, at + 2) }));
      const proof = { s: [c, r], c1: part(input, 4), D: part(input, 5) };
      crypto.verifyClsag({ message: hash, ring, pseudoOut: key, keyImage: part(input, 6), proof });
      crypto.isPoint(key);
      crypto.isInMainSubgroup(key);
      crypto.hashToPoint(hash);
      crypto.pointAdd(key, c);
    },
  },
  "range-proofs": {
    seeds: () => [rangeProof(), ...debianCorpus("bulletproof")],
    refusals: [crypto.InvalidPoint],
    run(input) {
      const [A, A1, B, r1, s1, d1, first, second] = Array.from({ length: 8 }, (_, at) => part(input, at));
      const rest = Array.from({ length: Math.min(40, Math.floor(input.length / 32) - 8) }, (_, at) =>
        part(input, at + 8),
      );
      const half = Math.max(0, Math.floor(rest.length / 2));
      const proof = { A, A1, B, r1, s1, d1, L: rest.slice(0, half), R: rest.slice(half, 2 * half) };
      crypto.verifyBulletproofsPlus([{ proof, commitments: [first, second] }]);
    },
  },
};

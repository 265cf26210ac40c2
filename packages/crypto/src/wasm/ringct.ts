import type { Backend, BulletproofPlusParts, ClsagRing } from "../backend.ts";
import { checkLength, concatBytes, countElements } from "../bytes.ts";
import type { Kernel, Pointer } from "./kernel.ts";
import type { Memory } from "./memory.ts";
import { checkFactors } from "./points.ts";

const MAX_MEMBERS = 2048;
const MAX_OUTPUTS = 16;
/** Proofs of one batch; each takes some 6 KB while it is checked. */
const MAX_PROOFS = 2 ** 14;
const BITS_LOG = 6;

type RingFunctions = Pick<Backend, "verifyClsag" | "clsagChallengesVartime" | "verifyBulletproofsPlus">;

function bytesOfWords(words: readonly number[]): Uint8Array {
  return new Uint8Array(Uint32Array.from(words).buffer); // little-endian, as every machine Node runs on
}

function checkRing(ring: ClsagRing): number {
  for (const name of ["message", "pseudoOut", "keyImage", "D"] as const) checkLength(name, ring[name], 32);
  const size = countElements("ring keys", ring.keys);
  checkLength("ring commitments", ring.commitments, ring.keys.length);
  if (size > MAX_MEMBERS) throw new RangeError(`a ring of ${size} is larger than ${MAX_MEMBERS}`);
  return size;
}

/** Whether a proof has as many rounds as its outputs require; throws `RangeError` for parts that are no elements. */
function isWellFormed(proof: BulletproofPlusParts): boolean {
  for (const name of ["A", "A1", "B", "r1", "s1", "d1"] as const) checkLength(name, proof[name], 32);
  const outputs = countElements("commitments", proof.commitments);
  if (outputs < 1 || outputs > MAX_OUTPUTS) return false;
  const rounds = BITS_LOG + Math.ceil(Math.log2(outputs));
  return countElements("L", proof.L) === rounds && countElements("R", proof.R) === rounds;
}

/** CLSAG and Bulletproofs+. All inputs are public. */
export function createRingctFunctions(kernel: Kernel, memory: Memory): RingFunctions {
  /** The record `Ring` of `assembly/clsag.ts`. */
  const putRing = (ring: ClsagRing, size: number): Pointer => {
    const { message, keys, commitments, pseudoOut, keyImage, D } = ring;
    const at = [message, keys, commitments, pseudoOut, keyImage, D].map(memory.put);
    return memory.put(bytesOfWords([...at, size]));
  };
  /** The words of the record `Proof` of `assembly/bulletproofs-plus.ts`. */
  const putProof = (proof: BulletproofPlusParts): number[] => [
    memory.put(proof.commitments),
    memory.put(concatBytes(proof.A, proof.A1, proof.B, proof.L, proof.R)),
    memory.put(concatBytes(proof.r1, proof.s1, proof.d1)),
    proof.commitments.length / 32,
  ];
  return {
    verifyClsag(ring, s, c1) {
      const size = checkRing(ring);
      checkLength("responses", s, 32 * size);
      checkLength("challenge", c1, 32);
      if (size === 0) return false;
      memory.begin();
      return kernel.verifyClsag(putRing(ring, size), memory.put(s), memory.put(c1)) === 1;
    },
    clsagChallengesVartime(ring, { s, first, challenge, count }) {
      const size = checkRing(ring);
      checkLength("responses", s, 32 * size);
      checkLength("challenge", challenge, 32);
      checkFactors(s);
      if (!(first >= 0 && first < size && count >= 0 && count <= size)) {
        throw new RangeError("the walk leaves the ring");
      }
      memory.begin();
      const out = memory.room(32 * count);
      const [at, responses, start] = [putRing(ring, size), memory.put(s), memory.put(challenge)];
      const isWalked = kernel.clsagChallenges(out, at, responses, first, start, count);
      return isWalked ? memory.read(out, 32 * count) : undefined;
    },
    verifyBulletproofsPlus(proofs, weights) {
      checkLength("weights", weights, 32 * proofs.length);
      if (proofs.length > MAX_PROOFS)
        throw new RangeError(`${proofs.length} proofs are too many for one batch`);
      if (!proofs.every(isWellFormed)) return false;
      if (proofs.length === 0) return true;
      memory.begin();
      const records = memory.put(bytesOfWords(proofs.flatMap(putProof)));
      return kernel.verifyBulletproofsPlus(records, proofs.length, memory.put(weights)) === 1;
    },
  };
}

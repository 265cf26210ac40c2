import {
  commit,
  H,
  hashToScalar,
  pointAdd,
  pointSub,
  publicKeyOf,
  type RandomSource,
  randomScalar,
  scalarMult,
  scMulSub,
} from "@anulo/crypto";
import type { RangeSignature } from "@anulo/protocol";
import { fromBytes, mod, toBytes } from "./scalars.ts";

const bits = 64;

/** Range proof of an amount as RCT types 1 and 2 have it. Source: rctSigs.cpp `proveRange`, `genBorromean`. */
export function proveBorromean(amount: bigint, mask: Uint8Array, random: RandomSource): RangeSignature {
  const masks = masksThatSumTo(mask, random);
  const lines = masks.map((bitMask, i) =>
    startLine({ i, isSet: ((amount >> BigInt(i)) & 1n) === 1n, bitMask }),
  );
  const ee = hashToScalar(...lines.map((line) => line.last(random)));
  const responses = lines.map((line) => line.answer(ee, random));
  return {
    s0: Buffer.concat(responses.map(({ s0 }) => s0)),
    s1: Buffer.concat(responses.map(({ s1 }) => s1)),
    ee,
    Ci: Buffer.concat(lines.map(({ commitment }) => commitment)),
  };

  function startLine({ i, isSet, bitMask }: { i: number; isSet: boolean; bitMask: Uint8Array }) {
    const power = toBytes(2n ** BigInt(i));
    const commitment = commit(bitMask, isSet ? 2n ** BigInt(i) : 0n);
    const withoutBit = pointSub(commitment, scalarMult(power, H));
    const nonce = randomScalar(random);
    let s1 = randomScalar(random);
    return {
      commitment,
      /** The point each ring of two ends in. */
      last: (source: RandomSource): Uint8Array => {
        if (isSet) return publicKeyOf(nonce);
        s1 = randomScalar(source);
        return sumOf(s1, hashToScalar(publicKeyOf(nonce)), withoutBit);
      },
      answer: (challenge: Uint8Array, source: RandomSource) => {
        if (!isSet) return { s0: scMulSub(bitMask, challenge, nonce), s1 };
        const s0 = randomScalar(source);
        const next = hashToScalar(sumOf(s0, challenge, commitment));
        return { s0, s1: scMulSub(bitMask, next, nonce) };
      },
    };
  }
}

/** s·G + c·P. */
function sumOf(s: Uint8Array, c: Uint8Array, point: Uint8Array): Uint8Array {
  return pointAdd(publicKeyOf(s), scalarMult(c, point));
}

function masksThatSumTo(mask: Uint8Array, random: RandomSource): Uint8Array[] {
  const masks = Array.from({ length: bits - 1 }, () => randomScalar(random));
  const rest = masks.reduce((left, one) => left - fromBytes(one), fromBytes(mask));
  return [...masks, toBytes(mod(rest))];
}

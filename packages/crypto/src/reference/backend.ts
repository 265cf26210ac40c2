import type { Backend } from "../backend.ts";
import { concatBytes } from "../bytes.ts";
import { verifyBulletproofsPlus } from "./bulletproofs-plus.ts";
import { clsagChallenges, verifyClsag } from "./clsag.ts";
import { derivation } from "./derivation.ts";
import { rangeProofGenerators } from "./generators.ts";
import { group } from "./group.ts";
import { keccak256, keccakAbsorb } from "./keccak.ts";
import { encodePoint } from "./point.ts";
import { scalar, vector } from "./scalar.ts";

/**
 * The specification of the kernel in plain BigInt arithmetic, for reading and for testing the kernel against.
 * Its times depend on its inputs: never use it on secrets that matter.
 */
export const reference: Backend = {
  name: "reference",
  keccak256,
  keccakAbsorb,
  hashToScalar: (data) => scalar.reduce32(keccak256(data)),
  scalar,
  vector,
  ...group,
  ...derivation,
  generators: (family, count) => concatBytes(...rangeProofGenerators(family, count).map(encodePoint)),
  verifyClsag,
  clsagChallengesVartime: clsagChallenges,
  verifyBulletproofsPlus,
};

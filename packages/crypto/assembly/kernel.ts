/** What the JavaScript side may call. Pointers are addresses in the module's memory; see `src/wasm/`. */
import { arenaWipe } from "./arena";
import { wipePoint } from "./point";
import { wipeScalar } from "./scalar";
import { wipeDigits } from "./digits";
import { wipeBase } from "./base";
import { wipeMult } from "./mult";
import { wipeScan } from "./scan";
import { wipeMultiexp } from "./multiexp";
import { wipeStraus } from "./straus";
import { wipePoints } from "./points";
import { wipeKeccak } from "./keccak";

export { alloc, arenaReset } from "./arena";
export { absorb, hashToScalar, keccak256 } from "./keccak";
export { scAdd, scInvert, scIsCanonical, scMul, scMulAdd, scMulSub, scReduce32, scReduce64, scSub } from "./scalar";
export * from "./scalar-vector";
export * from "./points";
export { commitAmounts } from "./commitments";
export { multiexp, multiexpVartime } from "./multiexp";
export { generatorEncodings } from "./generators";
export { clsagChallenges, verifyClsag } from "./clsag";
export { verifyBulletproofsPlus } from "./bulletproofs-plus";
export { deriveBatch, derivationScalars, matchForMany, outputSpendKeys, subaddressSpendKeys, viewTags } from "./scan";

/** Overwrites every place where a call may have left a secret. */
export function wipe(): void {
  arenaWipe();
  wipePoint();
  wipeScalar();
  wipeDigits();
  wipeBase();
  wipeMult();
  wipeScan();
  wipePoints();
  wipeMultiexp();
  wipeStraus();
  wipeKeccak();
}

/** The same for scalar arithmetic alone. */
export function wipeScalars(): void {
  arenaWipe();
  wipeScalar();
}

/** The same for hashing alone. */
export function wipeHash(): void {
  arenaWipe();
  wipeScalar();
  wipeKeccak();
}

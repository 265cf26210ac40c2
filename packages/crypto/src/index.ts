export type { DeriveBatchResult, PointBatchResult, TaggedOutputs, TagMatches } from "./backend.ts";
export { concatBytes, equalBytes, wipe } from "./bytes.ts";
export { chacha8, chacha20, chacha20InPieces } from "./chacha.ts";
export { type CnSlowHashOptions, cnSlowHash } from "./hash/cryptonight.ts";
export { type HashInPieces, keccak256, keccak256InPieces } from "./hash/keccak.ts";
export {
  checkKeyImageProofs,
  type KeyImageProof,
  type KeyImageStatement,
  proveKeyImages,
} from "./key-image-proof.ts";
export {
  derivationToScalar,
  derivePublicKey,
  deriveSecretKey,
  deriveSubaddressPublicKey,
  deriveViewTag,
  generateKeyDerivation,
  isKeyPair,
  keyImageOf,
  subaddressKeys,
  subaddressKeysOf,
  subaddressSecretKey,
  subaddressSpendPublicKey,
  subaddressSpendPublicKeys,
  type ViewKeys,
} from "./keys.ts";
export {
  areInMainSubgroup,
  G,
  H,
  hashToPoint,
  hashToScalar,
  IDENTITY,
  InvalidPoint,
  isInMainSubgroup,
  isPoint,
  mulBy8,
  pointAdd,
  pointSub,
  pointSum,
  publicKeyOf,
  scalarMult,
  scalarMultBase,
} from "./point.ts";
export { createRandomXCache, type RandomXCache, type RandomXCacheOptions } from "./randomx/cache.ts";
export { randomxCommitment } from "./randomx/commitment.ts";
export {
  createRandomXDataset,
  type RandomXDataset,
  type RandomXDatasetOptions,
} from "./randomx/dataset.ts";
export {
  loadNativeRandomX,
  type NativeRandomX,
  type NativeRandomXOptions,
  type NativeRandomXSource,
  type NativeRandomXVm,
} from "./randomx/native.ts";
export { forgetPages, giveBackMemory } from "./randomx/system-memory.ts";
export { splitTieringFlags, useSplitTiering } from "./randomx/tiering.ts";
export type { RandomXVersion } from "./randomx/versions.ts";
export { createRandomXVm, type RandomXVm, randomxHash } from "./randomx/vm.ts";
export {
  checkRingSignature,
  generateRingSignature,
  type RingSignatureStatement,
} from "./ring-signature.ts";
export {
  commitmentMask,
  decodeAmount,
  decodeMaskAndAmount,
  type EncryptedMaskAndAmount,
  encodeAmount,
  encodeMaskAndAmount,
} from "./ringct/amounts.ts";
export { type BorromeanProof, verifyBorromean } from "./ringct/borromean.ts";
export {
  type Bulletproof,
  type BulletproofCommitments,
  verifyBulletproofs,
} from "./ringct/bulletproofs.ts";
export {
  type BulletproofPlus,
  type ProvenCommitments,
  proveBulletproofPlus,
  verifyBulletproofsPlus,
} from "./ringct/bulletproofs-plus.ts";
export {
  type Clsag,
  type ClsagSigning,
  type ClsagVerification,
  type RingMember,
  signClsag,
  verifyClsag,
  verifyClsagRing,
} from "./ringct/clsag.ts";
export {
  addNonces,
  addResponses,
  type ClsagChallenge,
  type ClsagFrame,
  type ClsagShare,
  clsagChallenge,
  clsagResponse,
  commitmentImage,
  NONCES_PER_SIGNATURE,
  type NoncePoints,
} from "./ringct/clsag-multisig.ts";
export { type Mlsag, verifyMlsagFull, verifyMlsagSimple } from "./ringct/mlsag.ts";
export { commit, commitmentsBalance, commitmentsOpen, commitZeroMask } from "./ringct/pedersen.ts";
export {
  INVERSE_OF_EIGHT,
  type RandomSource,
  randomScalar,
  scAdd,
  scFromUint64,
  scInvert,
  scIsCanonical,
  scIsZero,
  scMul,
  scMulAdd,
  scMulSub,
  scReduce32,
  scReduce64,
  scSub,
} from "./scalar.ts";
export {
  derivationScalarBatch,
  deriveBatch,
  keyImageBatch,
  matchViewTags,
  mulBy8Batch,
  outputSpendKeyBatch,
  publicKeyBatch,
  viewTagBatch,
} from "./scan.ts";
export { checkSignature, checkSignatures, type KeySignature, signMessageHash } from "./signature.ts";
export {
  checkTxProof,
  checkTxProofs,
  generateTxProof,
  generateTxProofs,
  type SharedSecretProof,
  type TxProof,
  type TxProofClaim,
  type TxProofStatement,
} from "./tx-proof.ts";

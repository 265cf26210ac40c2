/**
 * The hot functions of curve25519, scalars and keccak: the one interface that the WebAssembly kernel and the BigInt
 * twin both implement, bytes in, bytes out.
 *
 * Conventions, binding on every implementation:
 * - scalars: 32 bytes, little-endian; results are canonical (< ℓ). An operand need not be canonical; it counts as the
 *   integer its 256 bits spell, taken mod ℓ in scalar arithmetic. Scalars that multiply a point count as
 *   integers (the point may have a small-order part) and must be < 2^255, else `RangeError`;
 * - points: 32 bytes, compressed. Decoding follows `ge_frombytes_vartime`: y ≥ p and "−0" are refused;
 * - vectors: n elements end to end in one `Uint8Array` of 32·n bytes. A wrong length throws `RangeError`;
 * - a point that does not decode makes the result `undefined` (or `valid[i] = 0` in the batch forms), never throws;
 * - `…Vartime` functions take public data only. The others run in time independent of scalar *values*.
 */
export type Backend = {
  readonly name: "fma" | "fallback" | "reference";

  /** Keccak-256 with the original 0x01 padding, of any number of bytes: 32 bytes. */
  keccak256(data: Uint8Array): Uint8Array;
  /** Absorbs whole blocks of 136 bytes into a Keccak state of 200 bytes, in place. */
  keccakAbsorb(state: Uint8Array, blocks: Uint8Array): void;
  /** Keccak-256 mod ℓ. */
  hashToScalar(data: Uint8Array): Uint8Array;

  readonly scalar: ScalarOps;
  readonly vector: ScalarVectorOps;

  /** Whether 32 bytes decode to a curve point (any order). */
  isPoint(point: Uint8Array): boolean;
  /** 1 where the point decodes and ℓ·P is the identity, else 0: n bytes for 32·n. */
  areInMainSubgroup(points: Uint8Array): Uint8Array;
  pointAdd(p: Uint8Array, q: Uint8Array): Uint8Array | undefined;
  pointSub(p: Uint8Array, q: Uint8Array): Uint8Array | undefined;
  pointNegate(p: Uint8Array): Uint8Array | undefined;
  /** 8·P. */
  mulBy8(p: Uint8Array): Uint8Array | undefined;
  /** Σ points of 32·n bytes; no point is the identity. */
  pointSum(points: Uint8Array): Uint8Array | undefined;
  /** s_i·P_i for n scalars and as many points, constant time in the scalars: 32·n bytes. */
  scalarMult(scalars: Uint8Array, points: Uint8Array): Uint8Array | undefined;
  /** Points that n points share with one secret, and the values for their proof; constant time in secret and nonces. */
  shareSecret(request: ShareRequest): SharedPoints | undefined;
  /** s_i·hashToPoint(data_i) for n scalars and as many inputs of 32 bytes, constant time in the scalars: 32·n bytes. */
  scalarMultHashed(scalars: Uint8Array, data: Uint8Array): Uint8Array;
  /** L_i = s_i·G and R_i = s_i·hashToPoint(data_i), constant time in the scalars: 32·n bytes each. */
  commitTwice(scalars: Uint8Array, data: Uint8Array): { L: Uint8Array; R: Uint8Array };
  /** s·G for each of n scalars, constant time in them. Source: Bernstein et al., "High-speed high-security signatures". */
  scalarMultBase(scalars: Uint8Array): Uint8Array;
  /** a_i·A_i + b_i·B_i for n quadruples of 32 bytes: 32·n bytes. */
  doubleScalarMultVartime(terms: DoubleScalarMultTerms): Uint8Array | undefined;
  /** a_i·A_2i + b_i·B_2i and a_i·A_2i+1 + b_i·B_2i+1 for n pairs of scalars and 2·n of points: 64·n bytes. */
  twinScalarMultVartime(terms: DoubleScalarMultTerms): Uint8Array | undefined;
  /** a·A_i + b·B_i for n pairs of points (32·n bytes each) and the same two scalars (32 bytes each): 32·n bytes. */
  foldVartime(terms: DoubleScalarMultTerms): Uint8Array | undefined;
  /** mask·G + a_i·H for n public amounts and a mask of 0 or 1: 32·n bytes. */
  commitVartime(amounts: BigUint64Array, mask: 0 | 1): Uint8Array;
  /** 8·elligator(keccak256(data_i)) for n inputs of 32 bytes: 32·n bytes. Source: crypto.cpp `hash_to_ec`. */
  hashToPoint(data: Uint8Array): Uint8Array;
  /** Σ s_i·P_i, plus Σ t_k·(k-th generator) if generators are requested. Source: Pippenger 1976; Straus 1964. */
  multiexpVartime(terms: MultiexpTerms): Uint8Array | undefined;
  /** As `multiexpVartime` but for secret scalars: neither time nor memory accesses depend on them (provers). */
  multiexp(terms: MultiexpTerms): Uint8Array | undefined;
  /** The first `count` (≤ 2048) generators of a range proof family: 32·count bytes; index 2i is H_i, 2i+1 is G_i. */
  generators(family: GeneratorFamily, count: number): Uint8Array;

  /**
   * D_i = 8·s·R_i for n keys with one secret. The key schedule depends on the secret's digits (as the order of field
   * operations of a wallet's own scan does), so it is for bulk scanning, not for answering a stranger.
   * An invalid R_i gives `valid[i] = 0` and 32 zero bytes, and leaves its neighbours untouched.
   */
  deriveBatch(secret: Uint8Array, publicKeys: Uint8Array): DeriveBatchResult;
  /**
   * The outputs whose tag is that of 8·s_j·R_i, for m secrets (32·m bytes), in order of the keys, outputs and secrets;
   * the identity stands for 8·s_j·R_i where R_i is no point. Neither time nor memory accesses depend on the secrets, but on
   * what matches.
   */
  matchViewTags(secrets: Uint8Array, outputs: TaggedOutputs): TagMatches;
  /** First byte of keccak256("view_tag" ‖ D_i ‖ varint(index_i)): n bytes. Source: crypto.cpp `derive_view_tag`. */
  viewTags(derivations: Uint8Array, outputIndices: Uint32Array): Uint8Array;
  /** keccak256(D_i ‖ varint(index_i)) mod ℓ: 32·n bytes. Source: crypto.cpp `derivation_to_scalar`. */
  derivationScalars(derivations: Uint8Array, outputIndices: Uint32Array): Uint8Array;
  /** K_i − Hs(D_i ‖ index_i)·G. Source: crypto.cpp `derive_subaddress_public_key`. */
  outputSpendKeys(
    outputKeys: Uint8Array,
    derivations: Uint8Array,
    outputIndices: Uint32Array,
  ): PointBatchResult;
  /** B + Hs("SubAddr\0" ‖ a ‖ major ‖ minor)·G for `count` minors from `fromMinor`; (0,0) is B itself. Source: device_default.cpp. */
  subaddressSpendKeys(request: SubaddressRequest): Uint8Array | undefined;

  /** Whole verification of one CLSAG. False on any malformed part. Source: rctSigs.cpp `verRctCLSAGSimple`. */
  verifyClsag(ring: ClsagRing, s: Uint8Array, c1: Uint8Array): boolean;
  /**
   * For `count` ring members from `first` on (cyclic): from the challenge of member `first`, computes the challenges of
   * members first+1 … first+count, 32·count bytes. The signer's loop over decoys; every input is public.
   */
  clsagChallengesVartime(ring: ClsagRing, walk: ClsagResponses): Uint8Array | undefined;

  /**
   * One weighted check of a batch of Bulletproofs+. Every malformed part gives false. An empty batch is true.
   * `weights`: one nonzero random scalar per proof. Source: https://eprint.iacr.org/2020/735; bulletproofs_plus.cc.
   */
  verifyBulletproofsPlus(proofs: readonly BulletproofPlusParts[], weights: Uint8Array): boolean;
};

/** Arithmetic mod ℓ = 2^252 + 27742317777372353535851937790883648493. */
export type ScalarOps = {
  /** 32 bytes, any value. */
  reduce32(bytes: Uint8Array): Uint8Array;
  /** 64 bytes, any value. */
  reduce64(bytes: Uint8Array): Uint8Array;
  add(a: Uint8Array, b: Uint8Array): Uint8Array;
  sub(a: Uint8Array, b: Uint8Array): Uint8Array;
  mul(a: Uint8Array, b: Uint8Array): Uint8Array;
  /** a·b + c. */
  mulAdd(a: Uint8Array, b: Uint8Array, c: Uint8Array): Uint8Array;
  /** c − a·b. */
  mulSub(a: Uint8Array, b: Uint8Array, c: Uint8Array): Uint8Array;
  /** a^(ℓ−2): 0 for 0. */
  invert(a: Uint8Array): Uint8Array;
  /** a < ℓ. */
  isCanonical(a: Uint8Array): boolean;
};

/** Element by element over n scalars (32·n bytes), one crossing per call. Both operands have the same length. */
export type ScalarVectorOps = {
  add(a: Uint8Array, b: Uint8Array): Uint8Array;
  sub(a: Uint8Array, b: Uint8Array): Uint8Array;
  mul(a: Uint8Array, b: Uint8Array): Uint8Array;
  /** a_i·x. */
  scale(a: Uint8Array, x: Uint8Array): Uint8Array;
  /** a_i·x + b_i. */
  scaleAdd(a: Uint8Array, x: Uint8Array, b: Uint8Array): Uint8Array;
  /** 1, x, x², … x^(n−1). */
  powers(x: Uint8Array, n: number): Uint8Array;
  /** Σ a_i·b_i: 32 bytes. */
  innerProduct(a: Uint8Array, b: Uint8Array): Uint8Array;
  /** a_i^−1, with one inversion for all; throws `RangeError` if one of them is 0 mod ℓ. */
  invert(a: Uint8Array): Uint8Array;
};

/** A secret of 32 bytes, n nonces and n points of 32 bytes each. */
export type ShareRequest = { secret: Uint8Array; nonces: Uint8Array; points: Uint8Array };

/** D_i = secret·P_i, the derivations 8·D_i, X_i = nonce_i·G and Y_i = nonce_i·P_i: 32·n bytes each. */
export type SharedPoints = { D: Uint8Array; derivations: Uint8Array; X: Uint8Array; Y: Uint8Array };

export type DoubleScalarMultTerms = {
  a: Uint8Array;
  A: Uint8Array;
  b: Uint8Array;
  B: Uint8Array;
};

/** Which hash family the range proof generators come from: "bulletproof" or "bulletproof_plus" as domain separator. */
export type GeneratorFamily = "bulletproof" | "bulletproof_plus";

export type MultiexpTerms = {
  /** 32·n bytes. */
  scalars: Uint8Array;
  /** 32·n bytes. */
  points: Uint8Array;
  /** `scalars[k]` (32·m bytes, m ≤ 2048) multiplies generator k: index 2i is H_i, 2i+1 is G_i. */
  generators?: { family: GeneratorFamily; scalars: Uint8Array };
};

export type DeriveBatchResult = { derivations: Uint8Array; valid: Uint8Array };

/** Outputs, each with the transaction key that it is tried with. */
export type TaggedOutputs = {
  /** Transaction keys, 32 bytes each. */
  readonly publicKeys: Uint8Array;
  /** For each key the number of its outputs, which follow one another in the lists below, in order of the keys. */
  readonly counts: Uint32Array;
  /** Index of each output in its transaction. */
  readonly indices: Uint32Array;
  /** View tag of each output, a byte; 256 for none. */
  readonly tags: Uint32Array;
};
/** Numbers of a secret and an output that belong together, and their derivations (32 bytes each). */
export type TagMatches = {
  readonly secrets: Uint32Array;
  readonly outputs: Uint32Array;
  readonly derivations: Uint8Array;
};

export type PointBatchResult = { points: Uint8Array; valid: Uint8Array };

export type SubaddressRequest = {
  viewSecret: Uint8Array;
  spendPublic: Uint8Array;
  major: number;
  fromMinor: number;
  count: number;
};

/** The statement of a CLSAG; n = ring size, 1 ≤ n ≤ 2048. */
export type ClsagRing = {
  /** 32 bytes: the transaction's pre-signature hash. */
  message: Uint8Array;
  /** One-time keys, 32·n bytes. */
  keys: Uint8Array;
  /** Amount commitments as on chain (pseudoOut not subtracted), 32·n bytes. */
  commitments: Uint8Array;
  pseudoOut: Uint8Array;
  keyImage: Uint8Array;
  /** The commitment's image as on the wire: divided by 8. */
  D: Uint8Array;
};

export type ClsagResponses = {
  /** Responses of all members, 32·n bytes; only those walked over are read. */
  s: Uint8Array;
  first: number;
  /** The challenge of member `first`, 32 bytes. */
  challenge: Uint8Array;
  count: number;
};

export type BulletproofPlusParts = {
  /** Output commitments as on chain (not divided by 8), 32·m bytes, 1 ≤ m ≤ 16. */
  commitments: Uint8Array;
  A: Uint8Array;
  A1: Uint8Array;
  B: Uint8Array;
  r1: Uint8Array;
  s1: Uint8Array;
  d1: Uint8Array;
  /** 32·(6 + ⌈log2 m⌉) bytes each. */
  L: Uint8Array;
  R: Uint8Array;
};

/**
 * Expensive checks that a rule returns instead of making them: plain data, structured-cloneable, in any order.
 * `discharge` checks them, here or in a worker. Every obligation of a transaction contains its id.
 */
export type Obligation =
  | PowHashObligation
  | OutputKeyObligation
  | KeyImageObligation
  | BalanceObligation
  | BorromeanObligation
  | BulletproofObligation
  | RangeProofObligation
  | ClsagObligation
  | MlsagObligation
  | FullMlsagObligation
  | RingSignatureObligation;

/** The proof-of-work hash of a block meets its difficulty. */
export interface PowHashObligation {
  kind: "powHash";
  /** Block hashing blob: header, tree hash, transaction count. */
  blob: Uint8Array;
  height: number;
  majorVersion: number;
  /** Id of the RandomX seed block (32 bytes); undefined before hard fork 12. */
  seedId: Uint8Array | undefined;
  difficulty: bigint;
}

/** Every key is a point of the curve. */
export interface OutputKeyObligation {
  kind: "outputKeys";
  transactionId: Uint8Array;
  /** One-time public keys (32 bytes each). */
  keys: Uint8Array[];
}

/** Every key image lies in the prime-order subgroup. */
export interface KeyImageObligation {
  kind: "keyImages";
  transactionId: Uint8Array;
  /** 32 bytes each. */
  keyImages: Uint8Array[];
}

/** Σ pseudoOuts = Σ outputCommitments + fee·H. */
export interface BalanceObligation {
  kind: "balance";
  transactionId: Uint8Array;
  /** 32 bytes each. */
  pseudoOuts: Uint8Array[];
  /** 32 bytes each. */
  outputCommitments: Uint8Array[];
  /** Atomic units. */
  fee: bigint;
}

/** A Borromean range proof holds for the commitment of one output (RingCT types 1 and 2). */
export interface BorromeanObligation {
  kind: "borromean";
  transactionId: Uint8Array;
  /** Index of the output in its transaction. */
  output: number;
  /** 32 bytes. */
  commitment: Uint8Array;
  proof: BitProof;
}

/** A Bulletproofs range proof holds for its commitments (RingCT types 3 to 5); many are checked together. */
export interface BulletproofObligation {
  kind: "bulletproof";
  transactionId: Uint8Array;
  proof: FirstRangeProof;
  /** Output commitments as on the wire (32 bytes each, not divided by 8). */
  commitments: Uint8Array[];
}

/** A Bulletproofs+ range proof holds for its commitments (RingCT type 6); many are checked together. */
export interface RangeProofObligation {
  kind: "rangeProof";
  transactionId: Uint8Array;
  proof: RangeProof;
  /** Output commitments as on the wire (32 bytes each, not divided by 8). */
  commitments: Uint8Array[];
}

/** A CLSAG holds for its ring. */
export interface ClsagObligation {
  kind: "clsag";
  transactionId: Uint8Array;
  /** Index of the input in its transaction. */
  input: number;
  /** `ringCtMessage` of the transaction (32 bytes). */
  message: Uint8Array;
  /** One-time keys of the ring, 32 bytes per member, joined; so are commitments and responses. */
  keys: Uint8Array;
  commitments: Uint8Array;
  pseudoOut: Uint8Array;
  keyImage: Uint8Array;
  s: Uint8Array;
  c1: Uint8Array;
  /** The commitment's image, divided by 8. */
  D: Uint8Array;
}

/** An MLSAG of one input holds for its ring (RingCT types 2 to 4). */
export interface MlsagObligation {
  kind: "mlsag";
  transactionId: Uint8Array;
  /** Index of the input in its transaction. */
  input: number;
  /** `ringCtMessage` of the transaction (32 bytes). */
  message: Uint8Array;
  ring: RingMember[];
  pseudoOut: Uint8Array;
  keyImage: Uint8Array;
  proof: MlsagProof;
}

/** The one MLSAG of all inputs holds for their rings, and proves that amounts balance (RingCT type 1). */
export interface FullMlsagObligation {
  kind: "fullMlsag";
  transactionId: Uint8Array;
  /** `ringCtMessage` of the transaction (32 bytes). */
  message: Uint8Array;
  /** By input; all of the same size. */
  rings: RingMember[][];
  /** 32 bytes each. */
  outputCommitments: Uint8Array[];
  /** Atomic units. */
  fee: bigint;
  /** By input, 32 bytes each. */
  keyImages: Uint8Array[];
  proof: MlsagProof;
}

/** A ring signature of a version 1 transaction holds. */
export interface RingSignatureObligation {
  kind: "ringSignature";
  transactionId: Uint8Array;
  input: number;
  /** Hash of the transaction prefix (32 bytes). */
  message: Uint8Array;
  /** One-time public keys (32 bytes each). */
  keys: Uint8Array[];
  keyImage: Uint8Array;
  /** One 64-byte signature per key. */
  signatures: Uint8Array[];
}

/** Key and commitment of one ring member (32 bytes each). */
export interface RingMember {
  key: Uint8Array;
  commitment: Uint8Array;
}

/** Shape of a Bulletproofs+ proof (32 bytes each value). */
export interface RangeProof {
  A: Uint8Array;
  A1: Uint8Array;
  B: Uint8Array;
  r1: Uint8Array;
  s1: Uint8Array;
  d1: Uint8Array;
  L: Uint8Array[];
  R: Uint8Array[];
}

/** Shape of an MLSAG: `ss[ring member][row]` and the first challenge, 32 bytes each. */
export interface MlsagProof {
  ss: Uint8Array[][];
  cc: Uint8Array;
}

/** Shape of a Borromean range proof: 64 joined values of 32 bytes each; `ee` is a single value. */
export interface BitProof {
  s0: Uint8Array;
  s1: Uint8Array;
  ee: Uint8Array;
  Ci: Uint8Array;
}

/** Shape of a Bulletproofs proof (32 bytes each value). */
export interface FirstRangeProof {
  A: Uint8Array;
  S: Uint8Array;
  T1: Uint8Array;
  T2: Uint8Array;
  taux: Uint8Array;
  mu: Uint8Array;
  L: Uint8Array[];
  R: Uint8Array[];
  a: Uint8Array;
  b: Uint8Array;
  t: Uint8Array;
}

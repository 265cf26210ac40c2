import { bytes, bytes32, type Codec, list, refine, struct, type TypeOf, varint } from "./codec/wire.ts";

/** The bytes of one output of a proof. Source: wallet2.h `reserve_proof_entry`. */
export const reserveProofEntry = struct()
  .field(
    "version",
    refine(varint, (version) => version === 0, "unknown version"),
  )
  .field("txHash", bytes32)
  .field("outputIndex", varint)
  .field("sharedSecret", bytes32)
  .field("keyImage", bytes32)
  .field("sharedSecretProof", bytes(64))
  .field("keyImageProof", bytes(64));

/** The bytes of one spend key of a proof, a pair in the original. */
export const reserveProofSpendKey = struct()
  .field(
    "pairSize",
    refine(varint, (size) => size === 2, "not a pair"),
  )
  .field("key", bytes32)
  .field("signature", bytes(64));

/** An output in a proof of funds: the shared secret shows whose it is, the key image what spends it. */
export type ReserveProofEntry = TypeOf<typeof reserveProofEntry>;

/** The spend key (32 bytes) of an address in a proof of funds, with its signature (64 bytes). */
export type ReserveProofSpendKey = TypeOf<typeof reserveProofSpendKey>;

/** The outputs of a proof of funds, and the spend keys of the addresses that received them. */
export type ReserveProofBody = {
  readonly entries: readonly ReserveProofEntry[];
  readonly spendKeys: readonly ReserveProofSpendKey[];
};

/** The bytes of a proof of funds behind its header. Source: wallet2.h `reserve_proof_entry`. */
export const reserveProofCodec: Codec<ReserveProofBody> = struct()
  .field("entries", list(reserveProofEntry))
  .field("spendKeys", list(reserveProofSpendKey));

import { bytes, bytes32, type Codec, list, refine, struct, type TypeOf, varint } from "./codec/wire.ts";

const entry = struct()
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

const spendKey = struct()
  .field(
    "pairSize",
    refine(varint, (size) => size === 2, "not a pair"),
  )
  .field("key", bytes32)
  .field("signature", bytes(64));

/** An output in a proof of funds: the shared secret shows whose it is, the key image what spends it. */
export type ReserveProofEntry = TypeOf<typeof entry>;

/** The spend key (32 bytes) of an address in a proof of funds, with its signature (64 bytes). */
export type ReserveProofSpendKey = TypeOf<typeof spendKey>;

/** The outputs of a proof of funds, and the spend keys of the addresses that received them. */
export type ReserveProofBody = {
  readonly entries: readonly ReserveProofEntry[];
  readonly spendKeys: readonly ReserveProofSpendKey[];
};

/** The bytes of a proof of funds behind its header. Source: wallet2.h `reserve_proof_entry`. */
export const reserveProofCodec: Codec<ReserveProofBody> = struct()
  .field("entries", list(entry))
  .field("spendKeys", list(spendKey));

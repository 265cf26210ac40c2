import { MINER_UNLOCK_BLOCKS, minerOutputAmounts, minerTransactionVersion } from "@anulo/consensus";
import {
  derivePublicKey,
  deriveViewTag,
  generateKeyDerivation,
  type RandomSource,
  randomScalar,
  scalarMultBase,
  wipe,
} from "@anulo/crypto";
import { type ExtraField, forkRules, type Transaction, type TxTarget, writeExtra } from "@anulo/protocol";

/** The public keys (32 bytes each) that are paid. */
export interface MinerKeys {
  readonly spendPublic: Uint8Array;
  readonly viewPublic: Uint8Array;
}

/** The parameters of a miner transaction. */
export interface MinerOrder {
  readonly keys: MinerKeys;
  readonly height: number;
  readonly hardForkVersion: number;
  /** Bytes for the miner's own use; if empty, the field is left out. */
  readonly extraNonce: Uint8Array;
  readonly random?: RandomSource | undefined;
}

/**
 * Returns the function that builds the miner transaction for a claim (atomic units), always with the same keys. Source:
 * cryptonote_tx_utils.cpp `construct_miner_tx`.
 */
export function minerTransactionBuilder(order: MinerOrder): (claim: bigint) => Transaction {
  const { keys, height, hardForkVersion, extraNonce, random } = order;
  const secret = randomScalar(random);
  try {
    const derivation = generateKeyDerivation(keys.viewPublic, secret);
    const extra = writeExtra(extraFields(scalarMultBase(secret), extraNonce));
    const version = minerTransactionVersion(hardForkVersion);
    return (claim) => ({
      prefix: {
        version,
        unlockTime: BigInt(height + MINER_UNLOCK_BLOCKS),
        inputs: [{ type: "generation", height }],
        outputs: minerOutputAmounts(claim, hardForkVersion).map((amount, output) => ({
          amount,
          target: payTo(order, derivation, output),
        })),
        extra,
      },
      signatures: version === 1 ? [[]] : [],
      ringct: version === 1 ? undefined : { type: 0 },
    });
  } finally {
    wipe(secret);
  }
}

function payTo({ keys, hardForkVersion }: MinerOrder, derivation: Uint8Array, output: number): TxTarget {
  const key = derivePublicKey(derivation, output, keys.spendPublic);
  if (forkRules(hardForkVersion).outputTypes === "plain") return { type: "key", key };
  return { type: "taggedKey", key, viewTag: deriveViewTag(derivation, output) };
}

function extraFields(key: Uint8Array, nonce: Uint8Array): ExtraField[] {
  const publicKey: ExtraField = { type: "publicKey", key };
  return nonce.length === 0 ? [publicKey] : [publicKey, { type: "nonce", nonce }];
}

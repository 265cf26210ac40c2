/**
 * The keys that a transaction publishes and the outputs derived from them. Source: device_default.cpp
 * `generate_output_ephemeral_keys`.
 */
import {
  derivationToScalar,
  derivePublicKey,
  deriveViewTag,
  generateKeyDerivation,
  keccak256,
  publicKeyOf,
  type RandomSource,
  randomScalar,
  scalarMult,
  wipe,
} from "@anulo/crypto";
import { equalBytes } from "@anulo/protocol";
import type { Receiver } from "./stages.ts";

/** Domain byte of payment id encryption. Source: cryptonote_config.h HASH_KEY_ENCRYPTED_PAYMENT_ID. */
const ENCRYPTED_PAYMENT_ID_DOMAIN = Uint8Array.of(0x8d);

/** The public keys of an address. */
export type AddressKeys = Pick<Receiver, "spendPublic" | "viewPublic">;
/** An output to be created. `amount` in atomic units; `isChange`: it returns to the sender (`change.ts`). */
export type OutputPlan = Receiver & { readonly amount: bigint; readonly isChange: boolean };

/** Whether both are the same address. */
export function isSameReceiver(a: AddressKeys, b: AddressKeys): boolean {
  return equalBytes(a.spendPublic, b.spendPublic) && equalBytes(a.viewPublic, b.viewPublic);
}

function distinct<T extends Receiver>(receivers: readonly T[]): T[] {
  return receivers.filter(
    (receiver, i) => receivers.findIndex((other) => isSameReceiver(receiver, other)) === i,
  );
}

/** Counts the different standard addresses and subaddresses that are paid. */
function classifyDestinations(receivers: readonly Receiver[]): {
  standard: number;
  subaddresses: number;
} {
  const different = distinct(receivers);
  const subaddresses = different.filter((receiver) => receiver.isSubaddress).length;
  return { standard: different.length - subaddresses, subaddresses };
}

/** Whether one transaction key can't serve all receivers: a subaddress is paid beside any other address. */
export function needsAdditionalKeys(receivers: readonly Receiver[]): boolean {
  const { standard, subaddresses } = classifyDestinations(receivers);
  return subaddresses > 0 && standard + subaddresses > 1;
}

/** Secret transaction keys: r, and one for each output if additional keys are needed. */
export type TxSecrets = { readonly main: Uint8Array; readonly additional: readonly Uint8Array[] };

export function createTxSecrets(outputs: readonly OutputPlan[], random?: RandomSource): TxSecrets {
  const needed = needsAdditionalKeys(outputs.filter((output) => !output.isChange));
  return { main: randomScalar(random), additional: needed ? outputs.map(() => randomScalar(random)) : [] };
}

/** Keys of an output: those in the chain and those for the signer; 32 bytes each. */
export type OutputKeys = {
  readonly oneTimeKey: Uint8Array;
  readonly viewTag: number;
  /** Encrypts amount and mask, so that only sender and receiver can read them. */
  readonly amountKey: Uint8Array;
};

export type TxPublicKeys = { readonly main: Uint8Array; readonly additional: readonly Uint8Array[] };

/** R, which is r·D if the only receiver is a subaddress with spend key D, otherwise r·G; and the additional keys. */
export function txPublicKeys(outputs: readonly OutputPlan[], secrets: TxSecrets): TxPublicKeys {
  const receivers = distinct(outputs.filter((output) => !output.isChange));
  const only = receivers.length === 1 && receivers[0]!.isSubaddress ? receivers[0] : undefined;
  return {
    main: only ? scalarMult(secrets.main, only.spendPublic) : publicKeyOf(secrets.main),
    additional: secrets.additional.map((secret, i) =>
      outputs[i]!.isSubaddress ? scalarMult(secret, outputs[i]!.spendPublic) : publicKeyOf(secret),
    ),
  };
}

export type OutputKeyContext = {
  readonly secrets: TxSecrets;
  readonly publicKeys: TxPublicKeys;
  /** The sender's own view secret, to derive the change. */
  readonly viewSecret: Uint8Array;
};

/** Keys of the output at `index`. Throws `InvalidPoint` for a receiver whose keys are not points. */
export function outputKeys(output: OutputPlan, index: number, context: OutputKeyContext): OutputKeys {
  const { secrets, publicKeys, viewSecret } = context;
  const secret = (output.isSubaddress && secrets.additional[index]) || secrets.main;
  const derivation = output.isChange
    ? generateKeyDerivation(publicKeys.main, viewSecret)
    : generateKeyDerivation(output.viewPublic, secret);
  try {
    return {
      oneTimeKey: derivePublicKey(derivation, index, output.spendPublic),
      viewTag: deriveViewTag(derivation, index),
      amountKey: derivationToScalar(derivation, index),
    };
  } finally {
    wipe(derivation);
  }
}

/**
 * The view key for which a payment id is encrypted: that of the only receiver, otherwise none. Source:
 * `get_destination_view_key_pub`.
 */
export function paymentIdReceiver(outputs: readonly OutputPlan[], change: Receiver): Uint8Array | undefined {
  const paid = distinct(outputs.filter((output) => !output.isChange && output.amount > 0n));
  if (paid.length > 1) return undefined;
  return (paid[0] ?? change).viewPublic;
}

/** Encrypts or decrypts 8 bytes between r and a view key (or R and its secret). Source: `encrypt_payment_id`. */
export function cryptPaymentId(
  paymentId: Uint8Array,
  viewPublic: Uint8Array,
  secret: Uint8Array,
): Uint8Array {
  const derivation = generateKeyDerivation(viewPublic, secret);
  const pad = keccak256(derivation, ENCRYPTED_PAYMENT_ID_DOMAIN);
  wipe(derivation);
  return paymentId.map((byte, i) => byte ^ pad[i]!);
}

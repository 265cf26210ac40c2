/**
 * Proof that a transaction paid an address: the shared secret of sender and receiver, and a proof that it is one. The
 * sender proves with the transaction's secret keys (Out), the receiver with the view key (In).
 * Source: wallet2.cpp `get_tx_proof`, `check_tx_proof`, `check_tx_key`.
 */
import {
  checkTxProof,
  generateKeyDerivation,
  generateTxProof,
  InvalidPoint,
  keccak256,
  mulBy8,
  publicKeyOf,
  type RandomSource,
  type SharedSecretProof,
  scalarMult,
  scIsCanonical,
} from "@anulo/crypto";
import {
  type Address,
  additionalPublicKeys,
  encodeBase58,
  parseExtra,
  type Transaction,
  txPublicKey,
} from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";
import type { Derivations } from "./received.ts";
import { receivedBy } from "./received.ts";
import { decodeProofText, KEY_LETTERS, proofRefusal, SIGNATURE_LETTERS } from "./text.ts";

type Paid = Pick<Transaction, "prefix" | "ringct">;

/** The claim of a proof. `txHash` 32 bytes; `message`: bytes that the proof depends on. */
export type PaymentClaim = {
  readonly txHash: Uint8Array;
  readonly transaction: Paid;
  readonly address: Address;
  readonly message: Uint8Array;
};

const HEADERS = ["OutProofV1", "OutProofV2", "InProofV1", "InProofV2"];

/** Main public key first, then the additional ones. Throws `WalletRefusal` if there is none. */
function publicKeysOf({ prefix }: Paid): Uint8Array[] {
  const fields = parseExtra(prefix.extra);
  const main = txPublicKey(fields);
  if (main === undefined) throw proofRefusal("Tx pubkey was not found");
  return [main, ...additionalPublicKeys(fields)];
}

/** The base of the sender's secret: for a subaddress its spend key, otherwise the curve's base point. */
function baseOf({ kind, spendPublic }: Address): Uint8Array | undefined {
  return kind === "subaddress" ? spendPublic : undefined;
}

function derivationsOf(sharedSecrets: readonly (Uint8Array | undefined)[]): Derivations {
  const [main, ...additional] = sharedSecrets.map((each) => each && mulBy8(each));
  return { main, additional };
}

type Part = Pick<SharedSecretProof, "D" | "proof">;

const prefixHashOf = ({ txHash, message }: PaymentClaim): Uint8Array => keccak256(txHash, message);

function asText(header: string, claim: PaymentClaim, parts: readonly SharedSecretProof[]): string {
  const { transaction, address } = claim;
  const [main, ...additional] = parts.map(({ derivation }) => derivation);
  const derivations = { main, additional };
  if (receivedBy(address.spendPublic, transaction, derivations) === 0n)
    throw proofRefusal("No funds received in this tx.");
  return header + parts.map((part) => encodeBase58(part.D) + encodeBase58(part.proof)).join("");
}

/** The sender's proof. `txKeys`: the transaction's secret keys, main first. Throws `WalletRefusal`. */
export function proveSent(claim: PaymentClaim, txKeys: readonly Uint8Array[], random?: RandomSource): string {
  const { viewPublic: A } = claim.address;
  const B = baseOf(claim.address);
  const prefixHash = prefixHashOf(claim);
  const parts = txKeys.map((secret) => {
    const R = B === undefined ? publicKeyOf(secret) : scalarMult(secret, B);
    return generateTxProof({ prefixHash, R, A, B, version: 2 }, secret, random);
  });
  return asText("OutProofV2", claim, parts);
}

/** The receiver's proof. Throws `WalletRefusal`. */
export function proveReceived(claim: PaymentClaim, viewSecret: Uint8Array, random?: RandomSource): string {
  const prefixHash = prefixHashOf(claim);
  const { viewPublic: R } = claim.address;
  const B = baseOf(claim.address);
  const parts = publicKeysOf(claim.transaction).map((A) => {
    try {
      return generateTxProof({ prefixHash, R, A, B, version: 2 }, viewSecret, random);
    } catch (error) {
      if (error instanceof InvalidPoint) throw proofRefusal("Failed to generate key derivation");
      throw error;
    }
  });
  return asText("InProofV2", claim, parts);
}

function parseProof(text: string): { header: string; parts: Part[] } {
  const header = text.slice(0, text.startsWith("Out") ? 10 : 9);
  const letters = KEY_LETTERS + SIGNATURE_LETTERS;
  const count = Math.floor((text.length - header.length) / letters);
  if (text.length !== header.length + count * letters) throw proofRefusal("Wrong signature size");
  const parts = Array.from({ length: count }, (_, i) => {
    const at = header.length + i * letters;
    return {
      D: decodeProofText(text.slice(at, at + KEY_LETTERS)),
      proof: decodeProofText(text.slice(at + KEY_LETTERS, at + letters)),
    };
  });
  return { header, parts };
}

/**
 * Atomic units that the proof shows the address to have received; undefined if it proves nothing. If there are several
 * transaction keys, one valid proof is enough. Throws `WalletRefusal` for text that is not a proof for this kind of
 * transaction.
 */
export function checkPaymentProof(claim: PaymentClaim, text: string): bigint | undefined {
  const { header, parts } = parseProof(text);
  const publicKeys = publicKeysOf(claim.transaction);
  if (publicKeys.length !== parts.length)
    throw proofRefusal("Signature size mismatch with additional tx pubkeys");
  if (!HEADERS.includes(header)) throw proofRefusal("Signature header check error");
  const version = header.endsWith("V1") ? 1 : 2;
  const prefixHash = prefixHashOf(claim);
  const { viewPublic } = claim.address;
  const proven = parts.map(({ D, proof }, i) => {
    const txKey = publicKeys[i]!;
    const roles = header.startsWith("Out") ? { R: txKey, A: viewPublic } : { R: viewPublic, A: txKey };
    const statement = { prefixHash, ...roles, B: baseOf(claim.address), D, version } as const;
    return checkTxProof(statement, proof) ? D : undefined;
  });
  if (proven.every((each) => each === undefined)) return undefined;
  return receivedBy(claim.address.spendPublic, claim.transaction, derivationsOf(proven));
}

/**
 * Atomic units that an address received, shown by the transaction's secret keys, main first. Throws `WalletRefusal`.
 */
export function checkTxKeys(transaction: Paid, address: Address, txKeys: readonly Uint8Array[]): bigint {
  if (!txKeys.every(scIsCanonical)) throw new WalletRefusal("WRONG_KEY", "Tx key has invalid format");
  const additional = txKeys.length - 1;
  if (additional > 0 && additional !== transaction.prefix.outputs.length)
    throw proofRefusal("The size of additional derivations is wrong");
  const [main, ...others] = txKeys.map((key) => generateKeyDerivation(address.viewPublic, key));
  return receivedBy(address.spendPublic, transaction, { main, additional: others });
}

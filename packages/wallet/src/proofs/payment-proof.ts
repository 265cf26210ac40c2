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
import { mapSliced } from "@anulo/limits";
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

async function derivationsOf(sharedSecrets: readonly (Uint8Array | undefined)[]): Promise<Derivations> {
  const [main, ...additional] = await mapSliced(sharedSecrets, (each) => each && mulBy8(each));
  return { main, additional };
}

type Part = Pick<SharedSecretProof, "D" | "proof">;

const prefixHashOf = ({ txHash, message }: PaymentClaim): Uint8Array => keccak256(txHash, message);

async function asText(
  header: string,
  claim: PaymentClaim,
  parts: readonly SharedSecretProof[],
): Promise<string> {
  const { transaction, address } = claim;
  const [main, ...additional] = parts.map(({ derivation }) => derivation);
  const derivations = { main, additional };
  if ((await receivedBy(address.spendPublic, transaction, derivations)) === 0n)
    throw proofRefusal("No funds received in this tx.");
  return header + parts.map((part) => encodeBase58(part.D) + encodeBase58(part.proof)).join("");
}

/**
 * The sender's proof, made in slices as all here: whoever made a transaction chose how many keys it has. `txKeys`: the
 * transaction's secret keys, main first. Throws `WalletRefusal`.
 */
export async function proveSent(
  claim: PaymentClaim,
  txKeys: readonly Uint8Array[],
  random?: RandomSource,
): Promise<string> {
  const { viewPublic: A } = claim.address;
  const B = baseOf(claim.address);
  const prefixHash = prefixHashOf(claim);
  const parts = await mapSliced(txKeys, (secret) => {
    const R = B === undefined ? publicKeyOf(secret) : scalarMult(secret, B);
    return generateTxProof({ prefixHash, R, A, B, version: 2 }, secret, random);
  });
  return await asText("OutProofV2", claim, parts);
}

/** The receiver's proof. Throws `WalletRefusal`. */
export async function proveReceived(
  claim: PaymentClaim,
  viewSecret: Uint8Array,
  random?: RandomSource,
): Promise<string> {
  const prefixHash = prefixHashOf(claim);
  const { viewPublic: R } = claim.address;
  const B = baseOf(claim.address);
  const parts = await mapSliced(publicKeysOf(claim.transaction), (A) => {
    try {
      return generateTxProof({ prefixHash, R, A, B, version: 2 }, viewSecret, random);
    } catch (error) {
      if (error instanceof InvalidPoint) throw proofRefusal("Failed to generate key derivation");
      throw error;
    }
  });
  return await asText("InProofV2", claim, parts);
}

/** The parts of a proof as text, each for one of the transaction's keys. */
function splitProof(text: string): { header: string; texts: string[] } {
  const header = text.slice(0, text.startsWith("Out") ? 10 : 9);
  const letters = KEY_LETTERS + SIGNATURE_LETTERS;
  const count = Math.floor((text.length - header.length) / letters);
  if (text.length !== header.length + count * letters) throw proofRefusal("Wrong signature size");
  const texts = Array.from({ length: count }, (_, i) => {
    const at = header.length + i * letters;
    return text.slice(at, at + letters);
  });
  return { header, texts };
}

const partOf = (text: string): Part => ({
  D: decodeProofText(text.slice(0, KEY_LETTERS)),
  proof: decodeProofText(text.slice(KEY_LETTERS)),
});

/**
 * Atomic units that the proof shows the address to have received; undefined if it proves nothing. If there are several
 * transaction keys, one valid proof is enough. Throws `WalletRefusal` for text that is not a proof for this kind of
 * transaction.
 */
export async function checkPaymentProof(claim: PaymentClaim, text: string): Promise<bigint | undefined> {
  const { header, texts } = splitProof(text);
  const publicKeys = publicKeysOf(claim.transaction);
  if (publicKeys.length !== texts.length)
    throw proofRefusal("Signature size mismatch with additional tx pubkeys");
  if (!HEADERS.includes(header)) throw proofRefusal("Signature header check error");
  const version = header.endsWith("V1") ? 1 : 2;
  const prefixHash = prefixHashOf(claim);
  const { viewPublic } = claim.address;
  const parts = await mapSliced(texts, partOf);
  const proven = await mapSliced(parts.entries(), ([i, { D, proof }]) => {
    const txKey = publicKeys[i]!;
    const roles = header.startsWith("Out") ? { R: txKey, A: viewPublic } : { R: viewPublic, A: txKey };
    const statement = { prefixHash, ...roles, B: baseOf(claim.address), D, version } as const;
    return checkTxProof(statement, proof) ? D : undefined;
  });
  if (proven.every((each) => each === undefined)) return undefined;
  return await receivedBy(claim.address.spendPublic, claim.transaction, await derivationsOf(proven));
}

/**
 * Atomic units that an address received, shown by the transaction's secret keys, main first. Throws `WalletRefusal`.
 */
export async function checkTxKeys(
  transaction: Paid,
  address: Address,
  txKeys: readonly Uint8Array[],
): Promise<bigint> {
  if (!txKeys.every(scIsCanonical)) throw new WalletRefusal("WRONG_KEY", "Tx key has invalid format");
  const additional = txKeys.length - 1;
  if (additional > 0 && additional !== transaction.prefix.outputs.length)
    throw proofRefusal("The size of additional derivations is wrong");
  const [main, ...others] = await mapSliced(txKeys, (key) => generateKeyDerivation(address.viewPublic, key));
  return await receivedBy(address.spendPublic, transaction, { main, additional: others });
}

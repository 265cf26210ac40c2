/**
 * Signatures and payment proofs, checked where they are read: by the WebAssembly of @anulo/crypto, on public data
 * alone. Source: wallet2.cpp `verify`, `check_tx_proof`, `check_tx_key_helper`.
 */
import {
  checkSignature,
  checkTxProof,
  derivePublicKey,
  deriveViewTag,
  InvalidPoint,
  keccak256,
  mulBy8,
} from "@anulo/crypto";
import {
  type Address,
  decodeBase58,
  encodeBase58,
  equalBytes,
  fromHex,
  parseAddress,
  type Transaction,
  Writer,
} from "@anulo/protocol";
import { amountOf, publicKeysOf, transactionOf } from "./transactions.ts";

/** Source: cryptonote_config.h HASH_KEY_MESSAGE_SIGNING, its closing zero included. */
const DOMAIN = new TextEncoder().encode("MoneroMessageSignature\0");
const keys = ["spend", "view"] as const;

/** What version 2 signs, bound to both keys of the address and to the one that signs. */
function messageHash(data: Uint8Array, { spendPublic, viewPublic }: Address, mode: number): Uint8Array {
  const size = new Writer(10);
  size.writeVarint(data.length);
  return keccak256(DOMAIN, spendPublic, viewPublic, Uint8Array.of(mode), size.finish(), data);
}

/** With which key of the address a text was signed; undefined where it was not. Throws for what is no address or base 58. */
export function signerOf(address: string, message: string, signature: string): "spend" | "view" | undefined {
  const version = /^SigV([12])/.exec(signature.trim())?.[1];
  if (version === undefined) return undefined;
  const owner = parseAddress(address.trim());
  const bytes = decodeBase58(signature.trim().slice(5));
  const data = new TextEncoder().encode(message);
  const isBy = (mode: number): boolean => {
    const hash = version === "1" ? keccak256(data) : messageHash(data, owner, mode);
    return checkSignature(hash, mode === 0 ? owner.spendPublic : owner.viewPublic, bytes);
  };
  return keys.find((_key, mode) => isBy(mode));
}

const KEY_LETTERS = encodeBase58(new Uint8Array(32)).length;
const SIGNATURE_LETTERS = encodeBase58(new Uint8Array(64)).length;

/** Shared secrets and what proves each. */
function partsOf(body: string): { readonly D: Uint8Array; readonly proof: Uint8Array }[] {
  const letters = KEY_LETTERS + SIGNATURE_LETTERS;
  if (body.length === 0 || body.length % letters !== 0)
    throw new Error("This is no payment proof: its length is wrong.");
  return Array.from({ length: body.length / letters }, (_, i) => {
    const text = body.slice(i * letters, (i + 1) * letters);
    return { D: decodeBase58(text.slice(0, KEY_LETTERS)), proof: decodeBase58(text.slice(KEY_LETTERS)) };
  });
}

function isPaid(tx: Transaction, index: number, derivation: Uint8Array, spendPublic: Uint8Array): boolean {
  const { target } = tx.prefix.outputs[index]!;
  if (target.type !== "key" && target.type !== "taggedKey") return false;
  if (target.type === "taggedKey" && deriveViewTag(derivation, index) !== target.viewTag) return false;
  try {
    return equalBytes(derivePublicKey(derivation, index, spendPublic), target.key);
  } catch (error) {
    if (error instanceof InvalidPoint) return false;
    throw error;
  }
}

/** A claim that a transaction paid an address. */
export type PaymentClaim = {
  /** 64 hex digits. */
  readonly txid: string;
  /** The whole transaction in hex, from anybody: its hash is computed here. */
  readonly transaction: string;
  readonly address: string;
  readonly message: string;
  readonly proof: string;
};

/** Atomic units that the proof shows the address to have received; undefined where it proves nothing. Throws for what is no proof. */
export function provenAmount(claim: PaymentClaim): bigint | undefined {
  const header = /^(Out|In)ProofV([12])/.exec(claim.proof.trim());
  if (header === null) throw new Error("This is no payment proof: those begin with OutProof or InProof.");
  const tx = transactionOf(claim.transaction, claim.txid);
  const address = parseAddress(claim.address.trim());
  const parts = partsOf(claim.proof.trim().slice(header[0].length));
  const publicKeys = publicKeysOf(tx);
  if (publicKeys.length !== parts.length)
    throw new Error("The proof is of a transaction with another number of keys.");
  const prefixHash = keccak256(fromHex(claim.txid.trim()), new TextEncoder().encode(claim.message));
  const B = address.kind === "subaddress" ? address.spendPublic : undefined;
  const version = header[2] === "1" ? 1 : 2;
  const derivations = parts.map(({ D, proof }, i) => {
    const txKey = publicKeys[i]!;
    const roles =
      header[1] === "Out" ? { R: txKey, A: address.viewPublic } : { R: address.viewPublic, A: txKey };
    return checkTxProof({ prefixHash, ...roles, B, D, version }, proof) ? mulBy8(D) : undefined;
  });
  if (derivations.every((each) => each === undefined)) return undefined;
  const [main, ...additional] = derivations;
  let received = 0n;
  for (const index of tx.prefix.outputs.keys()) {
    const fitting = [main, additional[index]].find(
      (each) => each !== undefined && isPaid(tx, index, each, address.spendPublic),
    );
    if (fitting !== undefined) received += amountOf(tx, index, fitting);
  }
  return received;
}

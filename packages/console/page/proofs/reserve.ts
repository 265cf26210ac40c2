/**
 * Proofs of funds, checked where they are read: that outputs were sent to the keys of an address, that these keys
 * signed, and which key images spend the outputs. The node returns the transactions, whose ids are computed here,
 * and for the key images; it is believed in whether a block has a transaction and what is spent by now.
 * Source: wallet2.cpp `check_reserve_proof`; wallet2.h `reserve_proof_entry`.
 */
import {
  areInMainSubgroup,
  checkKeyImageProofs,
  checkSignatures,
  checkTxProofs,
  keccak256,
  mulBy8,
  outputSpendKeyBatch,
} from "@anulo/crypto";
import {
  type Address,
  concatBytes,
  decode,
  decodeBase58,
  outputKey,
  parseAddress,
  type ReserveProofBody,
  type ReserveProofEntry,
  reserveProofCodec,
  type Transaction,
  toHex,
} from "@anulo/protocol";
import { askNode, CallFailed } from "../rpc.ts";
import {
  amountOf,
  askTransactions,
  pause,
  publicKeysOf,
  TRANSACTIONS_PER_CALL,
  transactionOf,
} from "./transactions.ts";

/** Of some 3,000 outputs: what a page checks in seconds. */
const MAX_LETTERS = 1_000_000;
/** Whole blocks of base 58. */
const LETTERS_AT_ONCE = 11 * 1024;
const SIGNATURES_AT_ONCE = 16;
const KEY_IMAGES_PER_CALL = 1000;

/** What every entry is checked against. */
type Terms = {
  readonly prefixHash: Uint8Array;
  readonly viewPublic: Uint8Array;
  readonly version: 1 | 2;
  /** In hex. */
  readonly spendKeys: ReadonlySet<string>;
};

/** A claim to own outputs that nobody has spent. */
export type ReserveClaim = { readonly address: string; readonly message: string; readonly proof: string };

/** Atomic units that the proof shows, and how much of them is spent by now. */
export type Reserve = { readonly total: bigint; readonly spent: bigint };

async function readProof(text: string): Promise<{ proof: ReserveProofBody; version: 1 | 2 }> {
  const header = /^ReserveProofV([12])/.exec(text);
  if (header === null) throw new Error("This is no proof of funds: those begin with ReserveProof.");
  if (text.length > MAX_LETTERS) throw new Error("The proof is too long for a page: ask a wallet service.");
  const parts: Uint8Array[] = [];
  for (let at = header[0].length; at < text.length; at += LETTERS_AT_ONCE) {
    parts.push(decodeBase58(text.slice(at, at + LETTERS_AT_ONCE)));
    await pause();
  }
  return { proof: decode(reserveProofCodec, concatBytes(...parts)), version: header[1] === "1" ? 1 : 2 };
}

/** Whether no output is in it twice, and each spend key signed the text and the key images. */
async function isSigned({ entries, spendKeys }: ReserveProofBody, prefixHash: Uint8Array): Promise<boolean> {
  if (new Set(entries.map(({ keyImage }) => toHex(keyImage))).size !== entries.length) return false;
  for (let at = 0; at < spendKeys.length; at += SIGNATURES_AT_ONCE) {
    const part = spendKeys.slice(at, at + SIGNATURES_AT_ONCE);
    const signatures = part.map(({ key, signature }) => ({ publicKey: key, signature }));
    if (checkSignatures(prefixHash, signatures).includes(false)) return false;
    await pause();
  }
  return true;
}

/** Whether the secret is that of the view key and one of the transaction's keys that may belong to the output. */
function isShared(
  entry: ReserveProofEntry,
  tx: Transaction,
  { prefixHash, viewPublic: R, version }: Terms,
): boolean {
  const [main, ...additional] = publicKeysOf(tx);
  const own = additional.length === tx.prefix.outputs.length ? additional[entry.outputIndex] : undefined;
  return [main, own].some((A) => {
    if (A === undefined) return false;
    const statement = { prefixHash, R, A, D: entry.sharedSecret, version };
    return checkTxProofs([{ statement, proof: entry.sharedSecretProof }])[0] === true;
  });
}

/** Atomic units of the entry's output; undefined where the entry proves nothing. */
function provenEntry(entry: ReserveProofEntry, tx: Transaction, terms: Terms): bigint | undefined {
  const output = tx.prefix.outputs[entry.outputIndex];
  const key = output && outputKey(output);
  if (key === undefined) return undefined;
  const { keyImage, keyImageProof: proof, outputIndex, sharedSecret } = entry;
  const image = { prefixHash: terms.prefixHash, publicKey: key, keyImage, proof };
  if (!isShared(entry, tx, terms) || checkKeyImageProofs([image])[0] !== true) return undefined;
  // Another image of the same key, in a small subgroup, would not be spent where this one is.
  if (areInMainSubgroup([keyImage])[0] !== true) return undefined;
  const derivation = mulBy8(sharedSecret);
  const { points, valid } = outputSpendKeyBatch({
    outputKeys: key,
    derivations: derivation,
    outputIndices: Uint32Array.of(outputIndex),
  });
  if (valid[0] === 0 || !terms.spendKeys.has(toHex(points))) return undefined;
  return amountOf(tx, outputIndex, derivation);
}

/** Atomic units of each entry; undefined where one proves nothing. */
async function provenEntries(
  entries: readonly ReserveProofEntry[],
  terms: Terms,
): Promise<bigint[] | undefined> {
  const amounts: bigint[] = [];
  for (let at = 0; at < entries.length; at += TRANSACTIONS_PER_CALL) {
    const part = entries.slice(at, at + TRANSACTIONS_PER_CALL);
    const ids = [...new Set(part.map(({ txHash }) => toHex(txHash)))];
    const answers = await askTransactions(ids);
    const byId = new Map(ids.map((id, i) => [id, answers[i]!]));
    for (const entry of part) {
      const id = toHex(entry.txHash);
      const { hex, inPool } = byId.get(id)!;
      if (inPool) throw new Error("The proof is about a payment that no block has yet.");
      const amount = provenEntry(entry, transactionOf(hex, id), terms);
      if (amount === undefined) return undefined;
      amounts.push(amount);
      await pause();
    }
  }
  return amounts;
}

/** Whether each key image is spent, in a block or in the pool, as the node reports. */
async function areSpent(entries: readonly ReserveProofEntry[]): Promise<boolean[]> {
  const spent: boolean[] = [];
  for (let at = 0; at < entries.length; at += KEY_IMAGES_PER_CALL) {
    const key_images = entries.slice(at, at + KEY_IMAGES_PER_CALL).map(({ keyImage }) => toHex(keyImage));
    const { spent_status } = await askNode("/is_key_image_spent", { key_images });
    if (spent_status.length !== key_images.length)
      throw new CallFailed("The node gave another number of key images.");
    spent.push(...spent_status.map((status) => Number(status) !== 0));
  }
  return spent;
}

function prefixHashOf(
  message: string,
  { spendPublic, viewPublic }: Address,
  entries: readonly ReserveProofEntry[],
): Uint8Array {
  const images = entries.map(({ keyImage }) => keyImage);
  return keccak256(concatBytes(new TextEncoder().encode(message), spendPublic, viewPublic, ...images));
}

/** What the proof shows; undefined where it proves nothing. Throws for what is no proof, or not of this address. */
export async function provenReserve(claim: ReserveClaim): Promise<Reserve | undefined> {
  const address = parseAddress(claim.address.trim());
  if (address.kind === "subaddress") throw new Error("A proof of funds is of a main address.");
  const { proof, version } = await readProof(claim.proof.trim());
  const spendKeys = new Set(proof.spendKeys.map(({ key }) => toHex(key)));
  if (!spendKeys.has(toHex(address.spendPublic))) throw new Error("The proof is of another address.");
  const prefixHash = prefixHashOf(claim.message, address, proof.entries);
  if (!(await isSigned(proof, prefixHash))) return undefined;
  const terms = { prefixHash, viewPublic: address.viewPublic, version, spendKeys };
  const amounts = await provenEntries(proof.entries, terms);
  if (amounts === undefined) return undefined;
  const areGone = await areSpent(proof.entries);
  const sum = (some: readonly bigint[]) => some.reduce((total, amount) => total + amount, 0n);
  return { total: sum(amounts), spent: sum(amounts.filter((_, i) => areGone[i])) };
}

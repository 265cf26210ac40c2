/**
 * Proofs of spending, checked where they are read: signatures over the rings of a transaction, under its key images,
 * which nobody makes but who could spend its inputs. The node returns the transaction and the keys of its rings. A
 * node that gives other keys makes a good proof bad, and no bad one good: a signature needs the secret of a key whose
 * image is the one in the transaction. Source: wallet2.cpp `check_spend_proof`.
 */
import { checkRingSignature, keccak256 } from "@anulo/crypto";
import {
  absoluteOffsets,
  decodeBase58,
  encodeBase58,
  fromHex,
  keyInputs,
  type Transaction,
} from "@anulo/protocol";
import { askNode, CallFailed } from "../rpc.ts";
import { askTransactions, type NodeTransaction, pause, transactionOf } from "./transactions.ts";

const HEADER = "SpendProofV1";
const SIGNATURE_LETTERS = encodeBase58(new Uint8Array(64)).length;
const OUTPUTS_PER_CALL = 1000;

/** A claim to have made a transaction. */
export type SpendClaim = { readonly txid: string; readonly message: string; readonly proof: string };

/** Keys of the ring members, 32 bytes each, of all inputs one after the other. */
async function ringKeys({ prefix }: Transaction): Promise<Uint8Array[]> {
  const outputs = keyInputs(prefix).flatMap(({ amount, keyOffsets }) =>
    absoluteOffsets(keyOffsets).map((index) => ({ amount, index })),
  );
  const keys: Uint8Array[] = [];
  for (let at = 0; at < outputs.length; at += OUTPUTS_PER_CALL) {
    const part = outputs.slice(at, at + OUTPUTS_PER_CALL);
    const { outs } = await askNode("/get_outs", { outputs: part, get_txid: false });
    if (outs.length !== part.length) throw new CallFailed("The node gave another number of outputs.");
    keys.push(...outs.map(({ key }) => fromHex(key)));
  }
  return keys;
}

/** The node's answer about the transaction if the proof is good, undefined if it is not. Throws for what is no proof. */
export async function provenSpend({
  txid,
  message,
  proof,
}: SpendClaim): Promise<NodeTransaction | undefined> {
  const text = proof.trim();
  if (!text.startsWith(HEADER)) throw new Error(`This is no proof of spending: those begin with ${HEADER}.`);
  const [answer] = await askTransactions([txid.trim()]);
  const tx = transactionOf(answer!.hex, txid);
  const inputs = keyInputs(tx.prefix);
  if (inputs.length === 0) throw new Error("The transaction spends nothing: it pays a miner.");
  const members = inputs.reduce((sum, { keyOffsets }) => sum + keyOffsets.length, 0);
  if (text.length !== HEADER.length + members * SIGNATURE_LETTERS)
    throw new Error("The proof is of a transaction with other rings: its length is wrong.");
  const signatures = Array.from({ length: members }, (_, i) => {
    const at = HEADER.length + i * SIGNATURE_LETTERS;
    return decodeBase58(text.slice(at, at + SIGNATURE_LETTERS));
  });
  const prefixHash = keccak256(fromHex(txid.trim()), new TextEncoder().encode(message));
  const keys = await ringKeys(tx);
  let at = 0;
  for (const { keyImage, keyOffsets } of inputs) {
    const end = at + keyOffsets.length;
    const statement = { prefixHash, keyImage, publicKeys: keys.slice(at, end) };
    if (!checkRingSignature(statement, signatures.slice(at, end))) return undefined;
    at = end;
    await pause();
  }
  return answer;
}

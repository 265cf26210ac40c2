/**
 * Checks a proof of funds against its transactions. Nothing here sends a request.
 * Source: wallet2.cpp `check_reserve_proof`.
 */
import {
  areInMainSubgroup,
  checkKeyImageProofs,
  checkTxProofs,
  commitmentsOpen,
  mulBy8Batch,
  outputSpendKeyBatch,
  type TxProof,
} from "@anulo/crypto";
import {
  additionalPublicKeys,
  concatBytes,
  outputKey,
  parseExtra,
  type ReserveProofEntry,
  type Transaction,
  toHex,
  txPublicKey,
} from "@anulo/protocol";
import { WalletRefusal } from "../refusal.ts";
import { amountOpening, type HiddenAmountOpening } from "./received.ts";
import { proofRefusal } from "./text.ts";
import { checkAnswer, type NodeAnswer } from "./transactions.ts";

/** The values that all entries of a proof are checked against. */
export type Checking = {
  readonly prefixHash: Uint8Array;
  readonly viewPublic: Uint8Array;
  readonly version: 1 | 2;
  /** In hex. */
  readonly spendKeys: ReadonlySet<string>;
};

/** An entry with the node's response about its transaction. */
export type EntryToCheck = { readonly entry: ReserveProofEntry; readonly answer: NodeAnswer };

/** The claim of an entry about an existing output. */
type Claim = {
  readonly entry: ReserveProofEntry;
  readonly transaction: Transaction;
  readonly key: Uint8Array;
  /** Transaction keys that may belong to the shared secret. */
  readonly txKeys: readonly Uint8Array[];
};

function claimOf(entry: ReserveProofEntry, transaction: Transaction): Claim {
  const { outputs, extra } = transaction.prefix;
  const output = outputs[entry.outputIndex];
  if (output === undefined) throw proofRefusal("index_in_tx is out of bound");
  const key = outputKey(output);
  if (key === undefined) throw proofRefusal("Output key wasn't found");
  const fields = parseExtra(extra);
  const main = txPublicKey(fields);
  if (main === undefined) throw proofRefusal("The tx public key isn't found");
  const additional = additionalPublicKeys(fields);
  const own = additional.length === outputs.length ? [additional[entry.outputIndex]!] : [];
  return { entry, transaction, key, txKeys: [main, ...own] };
}

/** The claims up to the first entry that does not refer to an output, and the error of that entry. */
function claimsOf(items: readonly EntryToCheck[]): { claims: Claim[]; refusal?: WalletRefusal } {
  const transactions = new Map<NodeAnswer, Transaction>();
  const claims: Claim[] = [];
  try {
    for (const { entry, answer } of items) {
      if (answer.in_pool) throw proofRefusal("Tx is unconfirmed");
      const transaction = transactions.get(answer) ?? checkAnswer(answer, entry.txHash).transaction;
      transactions.set(answer, transaction);
      claims.push(claimOf(entry, transaction));
    }
  } catch (refusal) {
    if (refusal instanceof WalletRefusal) return { claims, refusal };
    throw refusal;
  }
  return { claims };
}

/** Whether each shared secret is that of the view key and one of the transaction's keys. */
function areShared(claims: readonly Claim[], { prefixHash, viewPublic: R, version }: Checking): boolean[] {
  const proofOf = ({ entry }: Claim, A: Uint8Array): TxProof => ({
    statement: { prefixHash, R, A, D: entry.sharedSecret, version },
    proof: entry.sharedSecretProof,
  });
  const verdicts = checkTxProofs(claims.map((claim) => proofOf(claim, claim.txKeys[0]!)));
  return verdicts.map(
    (isShared, i) =>
      isShared || claims[i]!.txKeys.slice(1).some((txKey) => checkTxProofs([proofOf(claims[i]!, txKey)])[0]!),
  );
}

function areKeyImages(claims: readonly Claim[], { prefixHash }: Checking): boolean[] {
  const verdicts = checkKeyImageProofs(
    claims.map(({ entry, key: publicKey }) => {
      const { keyImage, keyImageProof: proof } = entry;
      return { prefixHash, publicKey, keyImage, proof };
    }),
  );
  const areWhole = areInMainSubgroup(claims.map(({ entry }) => entry.keyImage));
  return verdicts.map((isProven, i) => isProven && areWhole[i]!);
}

function doOpen(openings: readonly HiddenAmountOpening[]): boolean {
  return commitmentsOpen({
    masks: concatBytes(...openings.map(({ mask }) => mask)),
    amounts: openings.map(({ amount }) => amount),
    commitments: concatBytes(...openings.map(({ commitment }) => commitment)),
  });
}

/** Atomic units of each claim, 0 if an encrypted amount doesn't open its commitment. */
function amountsOf(claims: readonly Claim[], derivations: Uint8Array): bigint[] {
  const openings = claims.map(({ transaction, entry: { outputIndex } }, i) =>
    amountOpening(transaction, outputIndex, derivations.subarray(32 * i, 32 * i + 32)),
  );
  const hidden = openings.flatMap((opening) => (opening.commitment === undefined ? [] : [opening]));
  if (doOpen(hidden)) return openings.map(({ amount }) => amount);
  return openings.map((opening) =>
    opening.commitment === undefined || doOpen([opening]) ? opening.amount : 0n,
  );
}

/**
 * Atomic units that each entry proves, undefined if one proves nothing. Throws `WalletRefusal` for an entry that can't
 * be a proof; the first invalid entry decides.
 */
export function checkEntries(items: readonly EntryToCheck[], checking: Checking): bigint[] | undefined {
  const { claims, refusal } = claimsOf(items);
  const areTheirs = areShared(claims, checking);
  const areImages = areKeyImages(claims, checking);
  const { derivations } = mulBy8Batch(concatBytes(...claims.map(({ entry }) => entry.sharedSecret)));
  const { points: receivers, valid } = outputSpendKeyBatch({
    outputKeys: concatBytes(...claims.map(({ key }) => key)),
    derivations,
    outputIndices: Uint32Array.from(claims, ({ entry }) => entry.outputIndex),
  });
  for (let i = 0; i < claims.length; i++) {
    if (!areTheirs[i] || !areImages[i]) return undefined;
    const receiver = toHex(receivers.subarray(32 * i, 32 * i + 32));
    if (valid[i] === 0 || !checking.spendKeys.has(receiver))
      throw proofRefusal("The address doesn't seem to have received the fund");
  }
  if (refusal !== undefined) throw refusal;
  return amountsOf(claims, derivations);
}

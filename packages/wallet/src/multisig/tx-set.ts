/**
 * Sets of transactions that are sent from signer to signer until enough have signed. Source: wallet2.h
 * `multisig_tx_set`.
 */
import { bytes32, list, type Reader, readList, struct, type TypeOf } from "@anulo/protocol";
import { forSigner } from "../cold-signing/prepare-unsigned.ts";
import { magicOf, type Sealer } from "../cold-signing/sealed.ts";
import { type Kind, sealSet, unsealSet } from "../cold-signing/tx-sets.ts";
import { pendingTransaction } from "../transfer/metadata.ts";

const multisigSet = struct().field("transactions", list(pendingTransaction)).field("signers", list(bytes32));

export type MultisigSet = TypeOf<typeof multisigSet>;

function* multisigInSteps(reader: Reader): Generator<void, MultisigSet> {
  const transactions = yield* readList(reader, pendingTransaction);
  return { transactions, signers: yield* readList(reader, bytes32) };
}

/** The magic and the codec of a multisig set. */
export const multisigKind: Kind<MultisigSet> = {
  magic: magicOf("Monero multisig unsigned tx set", 1),
  codec: multisigSet,
  steps: multisigInSteps,
};

/** Encrypts the set for the next signer; payment ids are decrypted in it. */
export async function sealMultisigSet(set: MultisigSet, sealer: Sealer): Promise<Uint8Array> {
  const transactions = set.transactions.map((pending) => {
    const { constructionData, transaction } = pending;
    const current = { ...constructionData, extra: transaction.prefix.extra };
    return { ...pending, constructionData: forSigner({ ...pending, constructionData: current }) };
  });
  return sealSet(multisigKind, { ...set, transactions }, sealer);
}

/** Undefined for data that is not such a set of this wallet. */
export async function unsealMultisigSet(
  sealed: Uint8Array,
  sealer: Sealer,
): Promise<MultisigSet | undefined> {
  const set = await unsealSet(multisigKind, sealed, sealer);
  const isWhole = set?.transactions.every(({ transaction, selectedTransfers, constructionData }) => {
    const counts = [selectedTransfers, constructionData.selectedTransfers, constructionData.sources];
    return counts.every(({ length }) => length === transaction.prefix.inputs.length);
  });
  return isWhole === true ? set : undefined;
}

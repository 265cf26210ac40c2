/** The set that a view-only wallet exports for signing, and the import of the signed set. */

import { forSigner } from "../cold-signing/prepare-unsigned.ts";
import { sealSet, signedKind, unsealSet, unsignedKind } from "../cold-signing/tx-sets.ts";
import { WalletRefusal } from "../refusal.ts";
import type { PendingTransaction } from "../transfer/metadata.ts";
import type { Wallet } from "../wallet.ts";
import { outputsToExport } from "./cold-exchange.ts";

/** An encrypted set of transactions to be signed, with the outputs that the signer may not know yet. */
export function unsignedSetOf(wallet: Wallet, pending: readonly PendingTransaction[]): Promise<Uint8Array> {
  const set = {
    version: 2,
    transactions: pending.map(forSigner),
    newOutputs: outputsToExport(wallet),
  };
  return sealSet(unsignedKind, set, wallet);
}

/** Imports the key images of a signed set and returns its transactions. Throws `WalletRefusal`. */
export async function takeSigned(wallet: Wallet, sealed: Uint8Array): Promise<readonly PendingTransaction[]> {
  const set = await unsealSet(signedKind, sealed, wallet);
  if (set === undefined || set.keyImages.length > wallet.state.outputs.count)
    throw new WalletRefusal("BAD_SIGNED_TX_DATA", "Failed to parse signed tx data.");
  const { keyImages, ownOutputs, transactions } = set;
  if (wallet.isViewOnly) {
    const learnt = { offset: 0, keyImages, spent: [], transactions: [] };
    await wallet.learnKeyImages({ kind: "keyImages", ...learnt });
    const images = ownOutputs.map(({ oneTimeKey, keyImage }) => ({ oneTimeKey, keyImage }));
    await wallet.learnKeyImages({ kind: "coldKeyImages", images });
  }
  return transactions;
}

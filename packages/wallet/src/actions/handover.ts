/**
 * Sets that are handed from wallet to wallet to be signed: by the one with the spend key for a view-only wallet, or by
 * one of several signers for the next.
 */
import { keyImagesOf, toHex } from "@anulo/protocol";
import { piecesOfExport } from "../cold-signing/exported-outputs.ts";
import { forSigner } from "../cold-signing/prepare-unsigned.ts";
import { sealUnsigned, signedKind, unsealSet } from "../cold-signing/tx-sets.ts";
import { signerKeyOf } from "../multisig/account-keys.ts";
import { type MultisigSet, sealMultisigSet } from "../multisig/tx-set.ts";
import { retryWhenMoved } from "../outputs/walk.ts";
import { WalletRefusal } from "../refusal.ts";
import type { PendingTransaction } from "../transfer/metadata.ts";
import type { Wallet } from "../wallet.ts";
import { partToExport } from "./cold-exchange.ts";
import { learnSignedImages } from "./signed-images.ts";

/** An encrypted set of transactions, and who signs it next: the holder of the spend key, or another signer. */
export type HandedOut = { readonly to: "spendKey" | "cosigner"; readonly sealed: Uint8Array };

/** What others must sign before the transactions can be sent; undefined if they can be sent as they are. */
export async function handOut(
  wallet: Wallet,
  transactions: readonly PendingTransaction[],
): Promise<HandedOut | undefined> {
  const { signer } = wallet;
  if (signer.kind === "multisig") {
    const set = { transactions: [...transactions], signers: [signerKeyOf(signer.account)] };
    return { to: "cosigner", sealed: await passToNextSigner(wallet, set) };
  }
  if (signer.kind === "viewOnly")
    return { to: "spendKey", sealed: await unsignedSetOf(wallet, transactions) };
  return undefined;
}

/** An encrypted set of transactions to be signed, with the outputs that the signer may not know yet. */
function unsignedSetOf(wallet: Wallet, pending: readonly PendingTransaction[]): Promise<Uint8Array> {
  const transactions = pending.map(forSigner);
  return retryWhenMoved(() => {
    const newOutputs = piecesOfExport(wallet.state.outputs, partToExport(wallet));
    return sealUnsigned(transactions, newOutputs, wallet);
  });
}

/**
 * Encrypts the set for the next signer. Our exported nonces for the outputs it spends are deleted: they must not be
 * used again. Source: wallet2.cpp `save_multisig_tx`.
 */
export async function passToNextSigner(wallet: Wallet, set: MultisigSet): Promise<Uint8Array> {
  const spent = set.transactions.flatMap(({ transaction: { prefix } }) =>
    keyImagesOf(prefix).map((keyImage) => wallet.outputOf(keyImage)),
  );
  const keys = spent.flatMap((output) => (output === undefined ? [] : [toHex(output.oneTimeKey)]));
  const shownNonces = keys.filter((key) => wallet.state.multisigNonces.has(key));
  if (shownNonces.length > 0)
    await wallet.commit({ kind: "multisigNonces", nonces: shownNonces.map((key) => [key, []]) });
  return sealMultisigSet(set, wallet);
}

/** Imports the key images of a signed set and returns its transactions. Throws `WalletRefusal`. */
export async function takeSigned(wallet: Wallet, sealed: Uint8Array): Promise<readonly PendingTransaction[]> {
  const set = await unsealSet(signedKind, sealed, wallet);
  if (set === undefined || set.keyImages.length > wallet.state.outputs.count)
    throw new WalletRefusal("BAD_SIGNED_TX_DATA", "Failed to parse signed tx data.");
  const { keyImages, ownOutputs, transactions } = set;
  if (wallet.signer.asksForKeyImages) {
    await learnSignedImages(wallet, keyImages);
    const images = ownOutputs.map(({ oneTimeKey, keyImage }) => ({ oneTimeKey, keyImage }));
    await wallet.learnKeyImages({ kind: "coldKeyImages", images });
  }
  return transactions;
}

/** Signs a set a view-only wallet built. Source: wallet2.cpp `sign_tx`. */
import { InvalidPoint } from "@anulo/crypto";
import { toHex } from "@anulo/protocol";
import { ownOutputsOf, pendingFor, readConstruction, signingRefusal } from "../cold-signing/construction.ts";
import type { Finder } from "../cold-signing/exported-outputs.ts";
import type { SignedSet, UnsignedSet } from "../cold-signing/tx-sets.ts";
import { WalletRefusal } from "../refusal.ts";
import { chainOfSigner } from "../transfer/fee-limits.ts";
import type { SignedTransaction } from "../transfer/stages.ts";
import { mapPatiently } from "../turns.ts";
import type { Wallet } from "../wallet.ts";
import { importOutputs } from "./cold-exchange.ts";

/** Number of key images copied before yielding to the event loop. */
const IMAGES_AT_ONCE = 4096;

export type SigningResult = { readonly set: SignedSet; readonly signed: readonly SignedTransaction[] };

async function signAll(wallet: Wallet, set: UnsignedSet, finder: Finder): Promise<SigningResult> {
  // A wallet that scans knows its outputs better than the set does.
  if (set.newOutputs.outputs.length > 0 && !wallet.hasScanned) await importOutputs(wallet, set.newOutputs);
  const chain = chainOfSigner(wallet);
  const signed: SignedTransaction[] = [];
  for (const data of set.transactions) {
    const { ringed, change } = await readConstruction(data, finder, chain);
    if (ringed.inputs.some(({ keyImage }) => keyImage && wallet.outputOf(keyImage)?.frozen))
      throw signingRefusal("it spends a frozen output");
    const signing = { keys: finder.keys, change };
    const each = await wallet.runtime.threads.run("sign", { ringed, signing });
    await wallet.commit({ kind: "txKeys", txHash: toHex(each.txHash), txKeys: each.txKeys });
    signed.push(each);
  }
  return {
    signed,
    set: {
      version: 0,
      transactions: signed.map((each, i) => pendingFor(set.transactions[i]!, each)),
      keyImages: await mapPatiently(wallet.state.outputs, ({ keyImage }) => keyImage ?? new Uint8Array(32), {
        stepsAtOnce: IMAGES_AT_ONCE,
      }),
      ownOutputs: signed.flatMap(({ transaction }) => ownOutputsOf(transaction, finder)),
    },
  };
}

/** Imports the set's outputs, stores the transactions' keys, signs. Throws `WalletRefusal`. */
export async function signSet(wallet: Wallet, set: UnsignedSet): Promise<SigningResult> {
  await wallet.whenReady();
  const finder = {
    keys: wallet.signer.spendKeys("signSet"),
    indexOfSpendKey: (spendPublic: Uint8Array) => wallet.indexOfSpendKey(spendPublic),
  };
  try {
    return await signAll(wallet, set, finder);
  } catch (error) {
    if (error instanceof WalletRefusal && error.kind !== "SIGN_UNSIGNED") throw signingRefusal(error.message);
    if (error instanceof InvalidPoint) throw signingRefusal(error.message);
    throw error;
  }
}

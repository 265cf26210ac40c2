/** Offline signing. Declarations: @anulo/rpc wallet/cold-signing. */
import { mapSliced } from "@anulo/limits";
import { BadBytes, fromHex, toHex, transactionWeight } from "@anulo/protocol";
import { Drawn, wallet as declared, implementFor, writtenInParts } from "@anulo/rpc";
import {
  exportKeyImages,
  exportSealedOutputs,
  importKeyImages,
  importSealedOutputs,
} from "../actions/cold-exchange.ts";
import { takeSigned } from "../actions/handover.ts";
import { signSet } from "../actions/sign-set.ts";
import { idsOf, submitPending } from "../actions/transfers.ts";
import { describeSet } from "../cold-signing/describe-set.ts";
import { sealSet, signedKind, type UnsignedSet, unsealSet, unsignedKind } from "../cold-signing/tx-sets.ts";
import { askedBy } from "../intents/asked.ts";
import { payOnce } from "../intents/once.ts";
import { unsealMultisigSet } from "../multisig/tx-set.ts";
import { retryWhenMoved } from "../outputs/walk.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";
import type { Wallet } from "../wallet.ts";
import { parseHex, parseKeyImage } from "./parse-hex.ts";

function parseSignedKeyImage({ key_image, signature }: { key_image: string; signature: string }) {
  const keyImage = parseKeyImage(key_image);
  if (!/^[0-9a-f]{128}$/i.test(signature))
    throw new WalletRefusal("WRONG_SIGNATURE", "failed to parse signature");
  return { keyImage, signature: fromHex(signature) };
}

async function* hexOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  for await (const piece of pieces) yield toHex(piece);
}

async function openUnsigned(wallet: Wallet, hex: string): Promise<UnsignedSet> {
  const set = await unsealSet(unsignedKind, parseHex(hex), wallet);
  if (set === undefined) throw new WalletRefusal("BAD_UNSIGNED_TX_DATA", "cannot load unsigned_txset");
  return set;
}

async function describeMultisig(wallet: Wallet, hex: string) {
  const set = await unsealMultisigSet(parseHex(hex), wallet);
  const unreadable = () => new WalletRefusal("BAD_MULTISIG_TX_DATA", "cannot load multisig_txset");
  if (set === undefined) throw unreadable();
  try {
    const described = set.transactions.map(({ constructionData: data, transaction }) => {
      return { data, weight: transactionWeight(transaction) };
    });
    return describeSet(described, wallet.network);
  } catch (error) {
    if (error instanceof BadBytes) throw unreadable();
    throw error;
  }
}

const submissionRefused = ({ message, data }: WalletRefusal) =>
  new WalletRefusal("SIGNED_SUBMISSION", `Failed to submit signed tx: ${message}`, data);

export const coldSigningHandlers = implementFor<WalletContext>()(declared.coldSigning, {
  signTransfer: ({ unsigned_txset, export_raw, get_tx_keys }, { opened: { wallet } }) =>
    wallet.exclusively(async () => {
      wallet.signer.check("openSet");
      const unsigned = await openUnsigned(wallet, unsigned_txset);
      const { set, signed } = await signSet(wallet, unsigned);
      return {
        signed_txset: toHex(await sealSet(signedKind, set, wallet)),
        tx_hash_list: signed.map(({ txHash }) => toHex(txHash)),
        tx_key_list: get_tx_keys ? signed.map(({ txKeys }) => txKeys.map(toHex).join("")) : [],
        tx_raw_list: export_raw ? signed.map(({ blob }) => toHex(blob)) : [],
      };
    }),
  submitTransfer: (params, { opened: { wallet }, allowance }) =>
    payOnce({ wallet, allowance }, askedBy(declared.coldSigning.submitTransfer, params), {
      perform: async (_, intent) => {
        const sealed = parseHex(params.tx_data_hex);
        const signed = await takeSigned(wallet, sealed);
        const answer = { tx_hash_list: idsOf(signed) };
        await submitPending(
          wallet,
          signed,
          await intent.submission(answer, answer.tx_hash_list, submissionRefused),
        );
        return answer;
      },
    }),
  async describeTransfer({ unsigned_txset, multisig_txset }, { opened: { wallet } }) {
    wallet.signer.check("openSet");
    if (unsigned_txset === "" && multisig_txset === "")
      throw new WalletRefusal("UNKNOWN_ERROR", "no txset provided");
    if (unsigned_txset === "") return describeMultisig(wallet, multisig_txset);
    const { transactions } = await openUnsigned(wallet, unsigned_txset);
    return describeSet(
      transactions.map((data) => ({ data })),
      wallet.network,
    );
  },
  exportOutputs: (part, { opened: { wallet } }) =>
    retryWhenMoved(async () => {
      return { outputs_data_hex: await writtenInParts(hexOf(exportSealedOutputs(wallet, part))) };
    }),
  importOutputs: ({ outputs_data_hex }, { opened: { wallet } }) =>
    wallet.exclusively(async () => {
      const sealed = parseHex(outputs_data_hex);
      return { num_imported: await importSealedOutputs(wallet, sealed) };
    }),
  async exportKeyImages({ all }, { opened: { wallet } }) {
    const { offset, images } = await exportKeyImages(wallet, all);
    const signed_key_images = new Drawn(images.count, (index) => {
      const { keyImage, signature } = images.at(index);
      return { key_image: keyImage, signature };
    });
    return { offset, signed_key_images };
  },
  importKeyImages: ({ offset, signed_key_images }, { opened: { wallet } }) =>
    wallet.exclusively(async () => {
      const images = await mapSliced(signed_key_images, parseSignedKeyImage);
      return await importKeyImages(wallet, images, offset);
    }),
});

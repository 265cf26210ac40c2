/** Signing away from the network. Declarations: @anulo/rpc wallet/cold-signing. */
import { BadHex, fromHex, toHex } from "@anulo/protocol";
import { wallet as declared, implementFor } from "@anulo/rpc";
import {
  exportKeyImages,
  exportSealedOutputs,
  importKeyImages,
  importSealedOutputs,
} from "../cold-signing/exchange.ts";
import { WalletRefusal } from "../refusal.ts";
import type { WalletContext } from "../service.ts";

function parseHex(hex: string): Uint8Array {
  try {
    return fromHex(hex);
  } catch (error) {
    if (error instanceof BadHex) throw new WalletRefusal("BAD_HEX", "Failed to parse hex.");
    throw error;
  }
}

function parseSignedKeyImage({ key_image, signature }: { key_image: string; signature: string }) {
  if (!/^[0-9a-f]{64}$/i.test(key_image))
    throw new WalletRefusal("WRONG_KEY_IMAGE", "failed to parse key image");
  if (!/^[0-9a-f]{128}$/i.test(signature))
    throw new WalletRefusal("WRONG_SIGNATURE", "failed to parse signature");
  return { keyImage: fromHex(key_image), signature: fromHex(signature) };
}

export const coldSigningHandlers = implementFor<WalletContext>()(
  declared.coldSigning,
  {
    async exportOutputs({ all }, { opened: { wallet }, service }) {
      const { kdfRounds } = service.options;
      return { outputs_data_hex: toHex(await exportSealedOutputs(wallet, { all, kdfRounds })) };
    },
    importOutputs: ({ outputs_data_hex }, { opened: { wallet }, service }) =>
      wallet.exclusively(async () => {
        const sealed = parseHex(outputs_data_hex);
        return { num_imported: await importSealedOutputs(wallet, sealed, service.options.kdfRounds) };
      }),
    async exportKeyImages({ all }, { opened: { wallet } }) {
      const { offset, images } = await exportKeyImages(wallet, all);
      const signed_key_images = images.map(({ keyImage, signature }) => {
        return { key_image: toHex(keyImage), signature: toHex(signature) };
      });
      return { offset, signed_key_images };
    },
    importKeyImages: ({ offset, signed_key_images }, { opened: { wallet } }) =>
      wallet.exclusively(() => importKeyImages(wallet, signed_key_images.map(parseSignedKeyImage), offset)),
  },
  ["signTransfer", "submitTransfer", "describeTransfer"],
);

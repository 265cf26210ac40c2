/** Key images of outputs that were found without the spend secret. Runs in a thread. */
import { derivationScalarBatch, wipe } from "@anulo/crypto";
import { toHex } from "@anulo/protocol";
import type { ScannedOutput, ScannedTransaction } from "../state.ts";
import { makeKeyImages } from "./find-outputs.ts";
import { packedKeys } from "./packed-lists.ts";
import type { SecretPair } from "./scan-transaction.ts";
import { derive } from "./sift.ts";

/**
 * Adds the key images of the outputs that these transactions pay to the wallet; none if the secret does not match the
 * public key.
 */
export function withKeyImages(
  transactions: readonly ScannedTransaction[],
  keys: SecretPair,
): ScannedTransaction[] {
  const images = keyImagesOf(
    transactions.flatMap(({ received }) => received.filter(({ keyImage }) => keyImage === undefined)),
    keys,
  );
  return transactions.map((transaction) => ({
    ...transaction,
    received: transaction.received.map((output) => ({
      ...output,
      keyImage: output.keyImage ?? images.get(toHex(output.oneTimeKey)),
    })),
  }));
}

function keyImagesOf(outputs: readonly ScannedOutput[], keys: SecretPair): Map<string, Uint8Array> {
  const derivations = derive(keys.viewSecret, packedKeys(outputs.map(({ txPublicKey }) => txPublicKey)));
  const scalars = derivationScalarBatch(
    derivations,
    Uint32Array.from(outputs, ({ outputIndex }) => outputIndex),
  );
  const images = new Map<string, Uint8Array>();
  try {
    const fresh = outputs.map(({ oneTimeKey, subaddress }, i) => {
      const amountKey = scalars.subarray(32 * i, 32 * i + 32);
      return { name: toHex(oneTimeKey), oneTimeKey, subaddress, amountKey };
    });
    makeKeyImages(images, keys, fresh);
  } finally {
    wipe(scalars, derivations);
  }
  return images;
}

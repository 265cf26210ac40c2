/** Key images of outputs that were found without the spend secret. Runs in a thread. */
import { derivationScalarBatch, wipe } from "@anulo/crypto";
import type { ScannedOutput, ScannedTransaction } from "../state.ts";
import { makeKeyImages } from "./find-outputs.ts";
import { packedKeys } from "./packed-lists.ts";
import type { SecretPair } from "./scan-transaction.ts";
import { derive } from "./sift.ts";

/**
 * Adds the key images of the outputs that these transactions pay to the wallet, and leaves out those that are not the
 * wallet's: whoever has the password of a background wallet can write what it has found, also false key images, by
 * which spends would not be recognised.
 */
export function withKeyImages(
  transactions: readonly ScannedTransaction[],
  keys: SecretPair,
): ScannedTransaction[] {
  const images = keyImagesOf(
    transactions.flatMap(({ received }) => received),
    keys,
  );
  let place = 0;
  return transactions.map((transaction) => ({
    ...transaction,
    received: transaction.received.flatMap((output) => {
      const keyImage = images.get(`${place++}`);
      return keyImage === undefined ? [] : [{ ...output, keyImage }];
    }),
  }));
}

/** By place, of those whose secret matches the public key. */
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
      return { name: `${i}`, oneTimeKey, subaddress, amountKey };
    });
    makeKeyImages(images, keys, fresh);
  } finally {
    wipe(scalars, derivations);
  }
  return images;
}

/** The secret with which a wallet's journal is encrypted. */

import { hkdfSync } from "node:crypto";
import { wipe } from "@anulo/crypto";
import type { NetworkName, WalletKeys } from "../state.ts";
import type { StoreOptions } from "./store.ts";
import type { WalletPaths } from "./wallet-files.ts";

const PURPOSE = "anulo wallet store of a spend key";

/**
 * Opens or creates a journal. If there is a spend secret, the journal is encrypted with a key derived from it, so that
 * a holder of the view secret alone, such as a background wallet or a cosigner, cannot read it.
 */
export async function withStore<T>(
  { store: path }: WalletPaths,
  keys: Pick<WalletKeys, "viewSecret" | "spendSecret">,
  network: NetworkName,
  use: (options: StoreOptions) => Promise<T>,
): Promise<T> {
  const { viewSecret, spendSecret } = keys;
  if (spendSecret === undefined) return await use({ path, secret: viewSecret, network });
  const secret = new Uint8Array(hkdfSync("sha256", spendSecret, viewSecret, PURPOSE, 32));
  try {
    return await use({ path, secret, formerSecret: viewSecret, network });
  } finally {
    wipe(secret);
  }
}

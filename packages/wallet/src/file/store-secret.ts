/** Under which secret a wallet's journal is sealed. */
import { hkdfSync } from "node:crypto";
import type { NetworkName, WalletKeys } from "../state.ts";
import type { StoreOptions } from "./store.ts";
import type { WalletPaths } from "./wallet-files.ts";

const PURPOSE = "anulo wallet store of a spend key";

/**
 * Has a journal opened or made. Where there is a spend secret the journal is sealed under a secret made of it: whoever
 * has the view secret alone, as the holder of a background wallet or a cosigner does, reads nothing of it.
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
    secret.fill(0);
  }
}

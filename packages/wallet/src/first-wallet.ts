/** The wallet with which a service starts: a file, or the description of a wallet to create. */

import { WrongPassword } from "./file/keys-file.ts";
import { openUnlocked } from "./file/open-unlocked.ts";
import { createWallet, type OpenOptions, type OpenWallet } from "./file/open-wallet.ts";
import { unlockImage } from "./file/unlock-keys.ts";
import { pathsOfFile, readKeysImage, walletExists } from "./file/wallet-files.ts";
import { readWalletJson } from "./keys/wallet-json.ts";
import type { NewWallet } from "./keys/wallet-keys.ts";
import { WalletRefusal } from "./refusal.ts";

export type FirstWallet =
  | { readonly kind: "file"; readonly file: string; readonly password: string }
  /** Text that describes a wallet; see `readWalletJson`. */
  | { readonly kind: "json"; readonly text: string };

type Opening = () => Promise<OpenWallet>;

function refuse(message: string): never {
  throw new WalletRefusal("UNKNOWN_ERROR", message);
}

/**
 * Reads the keys and returns a function that opens the wallet; opening takes longer the more the wallet's ledger
 * contains.
 */
async function unlockFile(file: string, password: string, options: OpenOptions): Promise<Opening> {
  const paths = pathsOfFile(file);
  const keysImage = await readKeysImage(paths);
  if (keysImage === undefined) refuse(`file not found "${paths.keys}"`);
  try {
    const keys = await unlockImage({ paths, keysImage, password }, options);
    return () => openUnlocked(keys, options);
  } catch (error) {
    if (error instanceof WrongPassword) refuse("invalid password");
    throw error;
  }
}

async function makeFile(file: string, newWallet: NewWallet, options: OpenOptions): Promise<OpenWallet> {
  const paths = pathsOfFile(file);
  if (await walletExists(paths)) refuse(`failed to generate new wallet: file already exists "${paths.keys}"`);
  return await createWallet(paths, newWallet, options);
}

/**
 * Unlocks the first wallet, or creates it, and returns a function that opens it. Throws WalletRefusal.
 * Source: wallet2.cpp `make_from_file`, `generate_from_json`.
 */
export async function unlockFirst(first: FirstWallet, options: OpenOptions): Promise<Opening> {
  if (first.kind === "file") return await unlockFile(first.file, first.password, options);
  const { file, newWallet } = readWalletJson(first.text, options.network);
  const opened = await makeFile(file, newWallet, options);
  return async () => opened;
}

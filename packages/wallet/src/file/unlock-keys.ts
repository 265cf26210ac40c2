/** Opens keys files; throws the errors that callers know. */
import { failedToOpen, WalletRefusal } from "../refusal.ts";
import type { Runtime } from "../runtime.ts";
import type { NetworkName } from "../state.ts";
import {
  type KeysFile,
  type KeysFileOptions,
  networkNumbers,
  type ReadKeysFile,
  readKeysFile,
  WrongPassword,
} from "./keys-file.ts";
import { missingFile, readKeysImage, type WalletPaths } from "./wallet-files.ts";

type UnlockOptions = { readonly network: NetworkName; readonly runtime: Runtime };

export function keysOptions(password: string, { runtime }: Pick<UnlockOptions, "runtime">): KeysFileOptions {
  return { password, ...runtime };
}

export type UnlockedKeys = {
  readonly paths: WalletPaths;
  readonly file: ReadKeysFile;
  readonly keysImage: Uint8Array;
};

/** Reads the keys file; throws `WalletRefusal`, whatever is wrong. */
export async function unlockKeys(
  paths: WalletPaths,
  password: string,
  options: UnlockOptions,
): Promise<UnlockedKeys> {
  const keysImage = await readKeysImage(paths);
  if (keysImage === undefined) throw missingFile(paths);
  try {
    return await unlockImage({ paths, keysImage, password }, options);
  } catch (error) {
    if (error instanceof WrongPassword) throw failedToOpen("Invalid password.");
    throw error;
  }
}

/**
 * Opens an encrypted keys file. Throws WrongPassword, or `WalletRefusal` for a wallet that this service does not
 * support.
 */
export async function unlockImage(
  {
    paths,
    keysImage,
    password,
  }: { readonly paths: WalletPaths; readonly keysImage: Uint8Array; readonly password: string },
  options: UnlockOptions,
): Promise<UnlockedKeys> {
  const file = await readKeysFile(keysImage, keysOptions(password, options));
  checkSupported(file, options.network);
  return { paths, file, keysImage };
}

function checkSupported({ settings }: KeysFile, network: NetworkName): void {
  const refuse = (why: string) => {
    throw failedToOpen(why);
  };
  if ((settings.get("nettype") ?? networkNumbers[network]) !== networkNumbers[network]) {
    refuse(`it is not a wallet of ${network}`);
  }
  if ((settings.get("key_on_device") ?? 0) !== 0) refuse("its keys are on a device");
}

/** Throws `WalletRefusal` if the password is wrong. */
export async function readWith(
  opened: { readonly keysImage: Uint8Array },
  password: string,
  options: UnlockOptions,
  ifWrong = "Invalid original password.",
): Promise<ReadKeysFile> {
  try {
    return await readKeysFile(opened.keysImage, keysOptions(password, options));
  } catch (error) {
    if (error instanceof WrongPassword) throw new WalletRefusal("INVALID_PASSWORD", ifWrong);
    throw error;
  }
}

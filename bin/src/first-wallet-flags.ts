import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { FirstWallet } from "@anulo/wallet";
import { BadUsage, type FlagTable, type Values } from "./flags.ts";
import { readHidden } from "./read-hidden.ts";
import { readTextFile } from "./text-file.ts";

/**
 * Flags about the wallet that is opened at the start, with the original's names. Source: wallet_rpc_server.cpp
 * `t_daemon::run`.
 */
export const firstWalletFlags = {
  "wallet-dir": { kind: "text", value: "FOLDER", help: "where wallets are kept, opened and made by name" },
  "wallet-file": { kind: "text", value: "FILE", help: "open this wallet, in place of --wallet-dir" },
  "generate-from-json": { kind: "text", value: "FILE", help: "make the wallet described there, and open it" },
  password: { kind: "text", value: "PASSWORD", help: "password of --wallet-file" },
  "password-file": { kind: "text", value: "FILE", help: "where the password of --wallet-file stands" },
  "prompt-for-password": { kind: "switch", help: "ask for the password of --wallet-file" },
  "no-initial-sync": { kind: "switch", noEffect: "calls never wait for the first scan" },
} as const satisfies FlagTable;

type Flags = Values<typeof firstWalletFlags>;
type FolderFlags = Partial<Pick<Flags, "wallet-dir" | "wallet-file" | "generate-from-json">>;

/** Throws BadUsage for flags that exclude each other. */
function checkTogether(flags: Flags): void {
  const { "wallet-dir": folder, "wallet-file": file, "generate-from-json": json } = flags;
  if (file !== undefined && json !== undefined)
    throw new BadUsage("Can't specify more than one of --wallet-file and --generate-from-json");
  if (folder !== undefined && flags["password-file"] !== undefined)
    throw new BadUsage("--password-file is not allowed in combination with --wallet-dir");
  if (folder !== undefined && file !== undefined)
    throw new BadUsage("wallet-dir and wallet-file are incompatible, use only one of them");
  if (folder === undefined && file === undefined && json === undefined)
    throw new BadUsage("Must specify --wallet-file or --generate-from-json or --wallet-dir");
  if (flags.password !== undefined && flags["password-file"] !== undefined)
    throw new BadUsage("can't specify more than one of --password and --password-file");
}

async function passwordOf(flags: Flags): Promise<string> {
  const { password, "password-file": file } = flags;
  if (password !== undefined) return password;
  if (file !== undefined)
    return readTextFile("password-file", file, "the password file specified could not be read").replace(
      /[\r\n]+$/,
      "",
    );
  if (flags["prompt-for-password"]) return await readHidden("Wallet password: ");
  throw new BadUsage("no password specified; use --prompt-for-password to prompt for a password");
}

/** Creates the folder of wallets, accessible to its owner only, if it does not exist. Throws BadUsage. */
export function makeWalletFolder(folder: string | undefined): void {
  if (folder === undefined || existsSync(folder)) return;
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    throw new BadUsage(`Failed to create directory ${folder}: ${(error as Error).message}`);
  }
}

/** The folder of the wallets of a service: that of its one wallet if no folder is named. Throws BadUsage. */
export function walletFolderOf(flags: FolderFlags): string {
  const { "wallet-dir": folder, "wallet-file": file, "generate-from-json": json } = flags;
  if (folder !== undefined) return folder;
  if (file !== undefined) return dirname(file);
  const madeFile = json === undefined ? undefined : fileOfJson(readJson(json));
  return madeFile === undefined ? "." : dirname(madeFile);
}

/** Invalid JSON is refused when the wallet is made. */
function fileOfJson(text: string): string | undefined {
  try {
    const { filename } = JSON.parse(text) as { filename?: unknown };
    return typeof filename === "string" ? filename : undefined;
  } catch {
    return undefined;
  }
}

const readJson = (path: string): string =>
  readTextFile("generate-from-json", path, `Error creating wallet: Failed to load file ${path}`);

/** The wallet that is opened at the start, if any. Throws BadUsage. */
export async function firstWalletOf(flags: Flags): Promise<FirstWallet | undefined> {
  checkTogether(flags);
  const { "wallet-dir": folder, "wallet-file": file, "generate-from-json": json } = flags;
  if (file !== undefined) return { kind: "file", file, password: await passwordOf(flags) };
  // If a folder is set the description is ignored, as in the original.
  if (json === undefined || folder !== undefined) return undefined;
  return { kind: "json", text: readJson(json) };
}

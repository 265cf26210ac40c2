import { dirname, join, resolve } from "node:path";
import type { WalletServiceOptions } from "@anulo/wallet";
import { BadUsage, type FlagTable, type Values } from "./flags.ts";

/** Flags about the tokens of callers. */
export const accessFlags = {
  tokens: { kind: "switch", help: "take tokens, which create_token makes, beside the login" },
  "first-token-file": {
    kind: "text",
    value: "FILE",
    help: "where no token is left, make one that may do everything, and write it there",
  },
} as const satisfies FlagTable;

type Flags = Values<typeof accessFlags> & {
  readonly "wallet-dir"?: string | undefined;
  readonly "wallet-file"?: string | undefined;
};

/** Name of the folder, beside the wallets. */
const FOLDER = ".anulo-access";

/** Returns the options of the flags; undefined if no tokens are accepted. Throws BadUsage. */
export function accessOf(flags: Flags, hasLogin: boolean): WalletServiceOptions["access"] {
  const { tokens, "first-token-file": firstTokenFile } = flags;
  if (!tokens) {
    if (firstTokenFile !== undefined) throw new BadUsage("--first-token-file goes with --tokens");
    return undefined;
  }
  const { "wallet-dir": folder, "wallet-file": file } = flags;
  const beside = folder ?? (file === undefined ? "." : dirname(file));
  return {
    folder: join(resolve(beside), FOLDER),
    firstTokenFile: firstTokenFile === undefined ? undefined : resolve(firstTokenFile),
    isOnlyWay: !hasLogin,
  };
}

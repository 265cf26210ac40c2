import { dirname, join, resolve } from "node:path";
import type { WalletServiceOptions } from "@anulo/wallet";
import { BadUsage, type FlagTable, type Values } from "./flags.ts";

/** Flags about where the wallets' ledgers are stored. */
export const ledgerStoreFlags = {
  store: {
    kind: "text",
    value: "LOCATION",
    help: "keep what wallets know in a database: postgres://.. or an LMDB file",
  },
  "service-key-file": {
    kind: "text",
    value: "FILE",
    help: "key that opens all wallets in --store, and the log of --events; made where missing",
  },
  "accept-older-store": {
    kind: "switch",
    help: "go on with a --store, or the log of --events, that is an older copy than was written",
  },
} as const satisfies FlagTable;

type Flags = Values<typeof ledgerStoreFlags> & {
  readonly "wallet-dir"?: string | undefined;
  readonly "wallet-file"?: string | undefined;
  readonly events?: boolean | undefined;
};

/** The folder, beside the wallets, for data that must not be in the database. */
const SECRETS_FOLDER = ".anulo-store";

/** The folder for that data of the wallets in a folder. */
export const secretsBeside = (walletFolder: string): string => join(resolve(walletFolder), SECRETS_FOLDER);

/** Returns the options of the flags; undefined if ledgers are stored in journals. Throws BadUsage. */
export function ledgerStoreOf(flags: Flags): WalletServiceOptions["store"] {
  const { store: location, "service-key-file": serviceKeyFile, "accept-older-store": acceptsOlder } = flags;
  if (location === undefined) {
    if (!flags.events && (serviceKeyFile !== undefined || acceptsOlder))
      throw new BadUsage("--service-key-file and --accept-older-store go with --store or --events");
    return undefined;
  }
  if (location === "") throw new BadUsage("--store needs a location");
  const { "wallet-dir": folder, "wallet-file": file } = flags;
  const beside = folder ?? (file === undefined ? "." : dirname(file));
  return { location, folder: secretsBeside(beside), serviceKeyFile, acceptsOlder };
}

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { WalletServiceOptions } from "@anulo/wallet";
import { walletFolderOf } from "./first-wallet-flags.ts";
import { BadUsage, type FlagTable, type Values } from "./flags.ts";

/** Flags about where the wallets' ledgers are stored. */
export const ledgerStoreFlags = {
  store: {
    kind: "text",
    value: "LOCATION",
    help: "keep what wallets know there: postgres://.., an LMDB file, or a journal each (journal); .anulo-store beside them if left out",
  },
  "service-key-file": {
    kind: "text",
    value: "FILE",
    help: "key that opens all wallets in their store, and the log of --events; made where missing",
  },
  "accept-older-store": {
    kind: "switch",
    help: "go on with a store, or the log of --events, that is an older copy than was written, or is gone",
  },
} as const satisfies FlagTable;

type Flags = Values<typeof ledgerStoreFlags> & {
  readonly "wallet-dir"?: string | undefined;
  readonly "wallet-file"?: string | undefined;
  readonly "generate-from-json"?: string | undefined;
};

/** The folder, beside the wallets, for data that must not be in the database. */
const SECRETS_FOLDER = ".anulo-store";
/** Name in it of the folder's own store. */
const OWN_STORE = "wallets.mdb";
/** In place of a location. */
const JOURNALS = "journal";

/** The folder for that data of the wallets in a folder. */
export const secretsBeside = (walletFolder: string): string => join(resolve(walletFolder), SECRETS_FOLDER);

/** The location of the store of a folder of wallets that is used where no other is named. */
export const ownStoreOf = (walletFolder: string): string => join(secretsBeside(walletFolder), OWN_STORE);

/** The store that a command about a folder is for: the one that is named, or the folder's own, if it has one. */
export function storeFor(walletFolder: string, location: string | undefined): string | undefined {
  if (location !== undefined && location !== JOURNALS) return location;
  const own = ownStoreOf(walletFolder);
  return existsSync(own) ? own : undefined;
}

/** Returns the options of the flags. Throws BadUsage. */
export function ledgerStoreOf(flags: Flags): NonNullable<WalletServiceOptions["store"]> {
  const { "service-key-file": serviceKeyFile, "accept-older-store": acceptsOlder } = flags;
  const beside = walletFolderOf(flags);
  const own = ownStoreOf(beside);
  const { store: location = own } = flags;
  if (location === "") throw new BadUsage("--store needs a location");
  const common = { folder: secretsBeside(beside), serviceKeyFile, acceptsOlder };
  if (location === JOURNALS) return { ...common, location: own, role: "leave" };
  return resolve(location) === own ? { ...common, location: own, role: "folder" } : { ...common, location };
}

import { join, resolve } from "node:path";
import type { WalletServiceOptions } from "@anulo/wallet";

/** `journal`, or the address of a PostgreSQL database; the folder's own store if left out. */
const CHOICE = "ANULO_TEST_STORE";
const JOURNALS = "journal";

/** As the program names them. */
const FOLDER = ".anulo-store";
const FILE = "wallets.mdb";

const choice = (): string => process.env[CHOICE] ?? "";

/** Whether services under test keep ledgers in a store rather than in journals. */
export const hasTestStore = (): boolean => choice() !== JOURNALS;

/** Where a service under test keeps the ledgers of the wallets in a folder, as the program does unless the environment says otherwise. */
export function testStore(walletFolder: string): Pick<WalletServiceOptions, "store"> {
  if (!hasTestStore()) return {};
  const folder = resolve(walletFolder, FOLDER);
  if (choice() !== "") return { store: { location: choice(), folder } };
  return { store: { location: join(folder, FILE), folder, role: "folder" } };
}

/** The flags of the program for that. */
export const testStoreFlags = (): string[] => (choice() === "" ? [] : ["--store", choice()]);

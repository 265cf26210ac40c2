import { join, resolve } from "node:path";
import type { WalletServiceOptions } from "@anulo/wallet";

/** `lmdb`, for a file in each folder of wallets, or the address of a PostgreSQL database. */
const CHOICE = "ANULO_TEST_STORE";

/** As the program names it. */
const FOLDER = ".anulo-store";

/** Whether services under test keep ledgers in a store rather than in journals. */
export const hasTestStore = (): boolean => (process.env[CHOICE] ?? "") !== "";

/** Where a service under test keeps the ledgers of the wallets in a folder; in journals unless the environment says otherwise. */
export function testStore(walletFolder: string): Pick<WalletServiceOptions, "store"> {
  const choice = process.env[CHOICE];
  if (choice === undefined || !hasTestStore()) return {};
  const folder = resolve(walletFolder, FOLDER);
  if (choice === "lmdb") return { store: { location: join(folder, "wallets.mdb"), folder, role: "folder" } };
  return { store: { location: choice, folder } };
}

/** The files that name wallets of a store, in place of their journals. */
import { createHash, createHmac, randomBytes } from "node:crypto";
import { open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { toHex } from "@anulo/protocol";
import { type Engine, removeWalletRows, type WalletId } from "@anulo/store";
import { failedToOpen } from "../refusal.ts";
import type { WalletKeys } from "../state.ts";
import { syncDirectory } from "./journal.ts";
import type { WalletPaths } from "./wallet-files.ts";

const MAGIC = Buffer.from("ANULOID\x01", "latin1");
/** Bytes of a wallet's id. */
export const ID_BYTES = 16;

/** The name that counts once the wallet has other keys. */
export const nextNameOf = ({ store }: WalletPaths): string => `${store}.next`;

/** The id of the wallet in a file; undefined if there is none, or if the file has other content. */
export async function readName(path: string): Promise<WalletId | undefined> {
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const bytes = new Uint8Array(MAGIC.length + ID_BYTES + 1);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    const isName = bytesRead === MAGIC.length + ID_BYTES && MAGIC.equals(bytes.subarray(0, MAGIC.length));
    return isName ? bytes.slice(MAGIC.length, bytesRead) : undefined;
  } finally {
    await file.close();
  }
}

/** Writes the file with the id of a wallet in its store, in one step. */
export async function writeName(path: string, wallet: WalletId): Promise<void> {
  // No other process writes this file, even if it was suspended in the middle and continues.
  const next = `${path.replace(/\.anulo(?:\.next)?$/, `.${randomBytes(4).toString("hex")}$&`)}.new`;
  try {
    const file = await open(next, "w", 0o600);
    try {
      await file.writeFile(Buffer.concat([MAGIC, wallet]));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

const ownerFileOf = (folder: string, wallet: WalletId): string => join(folder, `${toHex(wallet)}.name`);

/** The name of the wallet that has these rows, as the folder beside the store noted it; undefined if it did not. */
export async function readOwner(folder: string, wallet: WalletId): Promise<string | undefined> {
  return await readFile(ownerFileOf(folder, wallet), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

/** Notes the name of the wallet that has these rows; a loss of power may undo that. */
export async function writeOwner(folder: string, wallet: WalletId, name: string): Promise<void> {
  await writeFile(ownerFileOf(folder, wallet), name, { mode: 0o600 });
}

const accountFileOf = (folder: string, wallet: WalletId): string => join(folder, `${toHex(wallet)}.account`);

/** Identifies the keys of a wallet without telling its address. */
function accountOf(wallet: WalletId, { spendPublic, viewSecret, spendSecret }: AccountKeys): string {
  const hash = createHmac("sha256", viewSecret).update(wallet).update(spendPublic);
  return (spendSecret === undefined ? hash : hash.update(spendSecret)).digest("hex");
}

type AccountKeys = Pick<WalletKeys, "spendPublic" | "viewSecret" | "spendSecret">;

/** What a file of that has: with a hash, since a loss of power may leave anything in the place of what was not synced. */
const withHash = (account: string): string =>
  `${account} ${createHash("sha256").update(account).digest("hex")}`;

/** The keys that belong to these rows; undefined where that is not noted, or the note is damaged. */
async function readAccount(folder: string, wallet: WalletId): Promise<string | undefined> {
  const text = await readFile(accountFileOf(folder, wallet), "latin1").catch(() => "");
  const [account = ""] = text.split(" ", 1);
  return text === withHash(account) ? account : undefined;
}

/** Notes whose keys belong to these rows, unless that is noted; a loss of power may undo that. */
export async function noteAccount(folder: string, wallet: WalletId, keys: AccountKeys): Promise<void> {
  if ((await readAccount(folder, wallet)) !== undefined) return;
  const text = withHash(accountOf(wallet, keys));
  await writeFile(accountFileOf(folder, wallet), text, { mode: 0o600 }).catch(() => undefined);
}

/** Whether these rows are known to belong to other keys; a view-only wallet may have got its spend secret since. */
export async function hasOtherKeys(folder: string, wallet: WalletId, keys: AccountKeys): Promise<boolean> {
  const noted = await readAccount(folder, wallet);
  if (noted === undefined) return false;
  return (
    noted !== accountOf(wallet, keys) && noted !== accountOf(wallet, { ...keys, spendSecret: undefined })
  );
}

/** Removes the rows of a wallet, and what is beside the store about it. Throws the errors of the engine. */
export async function removeStored(engine: Engine, wallet: WalletId, folder: string): Promise<void> {
  await removeWalletRows(engine, wallet, folder);
  for (const fileOf of [ownerFileOf, accountFileOf]) await rm(fileOf(folder, wallet), { force: true });
}

/** Throws `WalletRefusal` if a service without a store cannot open this wallet. */
export async function refuseStored(paths: WalletPaths): Promise<void> {
  for (const path of [paths.store, nextNameOf(paths)])
    if ((await readName(path)) !== undefined)
      throw failedToOpen("its history is in a store: start the service with the --store it was opened with");
}

/** Files and stores that can't be written. Apart from the other refusals, which threads need without a database. */
import { StoreUnavailable } from "@anulo/store";
import { UnwrittenStore, WalletRefusal } from "../refusal.ts";

/**
 * Turns the system's error for a file that cannot be written (full disk, quota, permissions) into `WalletRefusal`: it
 * is not a bug of this program.
 */
export function refuseUnwritten(error: unknown): never {
  if (error instanceof StoreUnavailable) throw new UnwrittenStore(whyUnwritten(error));
  const why = reasonOf(error);
  if (why === undefined) throw error;
  throw new WalletRefusal(
    "UNKNOWN_ERROR",
    `The wallet's files cannot be written: ${why}. Nothing more is kept until the wallet is opened again`,
  );
}

/** Why a store can't be written, in a few words. */
export function whyUnwritten({ cause }: StoreUnavailable): string {
  const why = reasonOf(cause) ?? databaseReasonOf(cause) ?? "it is out of reach, or full";
  // LMDB says so of a write that the disk had room for in part.
  return why === "EIO" ? "the disk is full, or fails" : why;
}

/** Whether the system may let a file that it refuses now be written later. */
export const mayBeWrittenLater = (error: unknown): boolean => reasonOf(error) !== undefined;

function reasonOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === undefined || !unwritable.has(code)) return undefined;
  return code === "ENOSPC" ? "no space is left on the disk" : code;
}

const unwritable: ReadonlySet<string> = new Set([
  "ENOSPC",
  "EDQUOT",
  "EFBIG",
  "EIO",
  "EROFS",
  "EACCES",
  "EPERM",
]);

function databaseReasonOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code === undefined ? undefined : databaseReasons.get(code);
}

/** By the codes of its errors. Source: PostgreSQL, appendix A. */
const databaseReasons: ReadonlyMap<string, string> = new Map([
  ["25006", "the database is read-only"],
  ["42501", "the database does not permit it"],
  ["53100", "no space is left on the database's disk"],
  ["53200", "the database has no memory left"],
  ["53300", "the database has no connection left"],
  ["57014", "the database did not answer in time"],
]);

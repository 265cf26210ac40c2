/** Stored bytes are not what was written: the file is damaged, and nothing in it can be trusted. */
export class DamagedDatabase extends Error {
  readonly detail: string;

  constructor(detail: string, path?: string) {
    const remedy = path === undefined ? "" : "; move it away and sync again, or put a copy in its place";
    super(`the database ${path === undefined ? "" : `${path} `}is damaged: ${detail}${remedy}`);
    this.name = "DamagedDatabase";
    this.detail = detail;
  }
}

/** A database file belongs to another network, program or version of the schema. */
export class WrongDatabase extends Error {
  constructor(detail: string) {
    super(detail);
    this.name = "WrongDatabase";
  }
}

/** A running node has the database open. */
export class DatabaseInUse extends Error {
  /** `processId` is undefined where it is not known. */
  constructor(path: string, processId: number | undefined) {
    const user = processId === undefined ? "another process" : `process ${processId}`;
    const place = processId === process.pid ? ", perhaps in another container" : "";
    super(`the database ${path} is in use by ${user}${place}`);
    this.name = "DatabaseInUse";
  }
}

/** The disk refused a write; nothing of that write is stored. */
export class WriteFailed extends Error {
  constructor(detail: string, cause: unknown) {
    super(detail, { cause });
    this.name = "WriteFailed";
  }
}

/** Plain descriptions of common POSIX errors. */
const wordsOf: { readonly [errno: number]: string } = {
  5: "the disk reports an input or output error",
  13: "the file may not be written",
  27: "the file may not grow any further",
  28: "the disk is full",
  30: "the disk is read-only",
  122: "the disk quota is used up",
};

/** LMDB numbers its own errors from here upwards. Source: lmdb.h `MDB_KEYEXIST`. */
const LMDB_ERRORS = { from: -30_800, to: -30_700 } as const;

/** The number of an error of LMDB or of the system; undefined for other errors. */
function errnoOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || error.name !== "Error") return undefined;
  const { code, errno } = error as { code?: unknown; errno?: unknown };
  if (typeof errno === "number") return Math.abs(errno);
  if (typeof code !== "number") return undefined;
  return code > 0 || (code >= LMDB_ERRORS.from && code <= LMDB_ERRORS.to) ? code : undefined;
}

/** Whether LMDB or the system caused this error, rather than our own code. */
export function isSystemFault(error: unknown): boolean {
  return errnoOf(error) !== undefined;
}

const [DISK_ERROR, DISK_FULL] = [5, 28];
/** Free bytes below which a disk has no room for what LMDB writes at once. */
const NO_ROOM_BYTES = 1024n * 1024n;

/**
 * LMDB takes it for an error of the disk when the disk takes only a part of what is written, as a full one does. Source:
 * mdb.c `mdb_page_flush`.
 */
function errnoOfWrite(error: unknown, freeBytes: (() => bigint) | undefined): number {
  const errno = errnoOf(error) ?? 0;
  return errno === DISK_ERROR && freeBytes !== undefined && freeBytes() < NO_ROOM_BYTES ? DISK_FULL : errno;
}

/** Describes a fault of the system while `doing` something; `freeBytes` of the disk it was done on. */
export function writeFailed(doing: string, error: unknown, freeBytes?: () => bigint): WriteFailed {
  const description = wordsOf[errnoOfWrite(error, freeBytes)];
  const detail = description ?? (error instanceof Error ? error.message : String(error));
  return new WriteFailed(`${doing}: ${detail}`, error);
}

/**
 * The files of an LMDB database before the binding opens them. Where an opening fails, the binding frees one object
 * twice and ends the process (3.5.6, `EnvWrap::openEnv`): what can make it fail is tried here first, and throws.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { checkOpens, syncFolder, syncFoldersAbove } from "@anulo/storage";

/** More than the lock file's list of readers needs; a larger file has more places for readers. */
const LOCK_BYTES = 16 * 1024;
/** More than a database without rows, and its lock file, need. */
const NEW_BYTES = 64 * 1024;

const lockOf = (path: string): string => `${path}-lock`;

/** Writes zeros to a new file, which then has its place on the disk. Throws the system's errors. */
function writeZeros(path: string, length: number): void {
  const file = openSync(path, "wx", 0o600);
  try {
    for (let at = 0; at < length; ) at += writeSync(file, new Uint8Array(length - at), 0, length - at, at);
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Gives a file its name, unless another process has given it to another file meanwhile. */
function nameUnlessThere(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Runs a step with the name of a file that is removed afterwards. */
function withDraft(path: string, step: (draft: string) => void): void {
  const draft = `${path}.${randomBytes(4).toString("hex")}.new`;
  try {
    step(draft);
  } finally {
    for (const file of [draft, lockOf(draft)]) rmSync(file, { force: true });
  }
}

/** LMDB writes its lock file through memory: on a full disk, where it has no place yet, that would end the process. */
function createLock(path: string): void {
  if (process.platform === "win32" || existsSync(lockOf(path))) return;
  withDraft(path, (draft) => {
    writeZeros(draft, LOCK_BYTES);
    nameUnlessThere(draft, lockOf(path));
  });
}

function checkWritable(path: string, check: (file: number) => void = () => {}): void {
  const file = openSync(path, "r+");
  try {
    check(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Creates the files of a database that is missing, whole or not at all, by `create`, which makes an empty one under
 * another name; checks those of one that is there. Throws the system's errors, WrongDatabase and DamagedDatabase.
 */
export function prepareFiles(path: string, create: (draft: string) => void): void {
  const created = mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  if (created !== undefined) syncFoldersAbove(dirname(path), created);
  if (!existsSync(path)) {
    withDraft(path, (probe) => writeZeros(probe, NEW_BYTES));
    withDraft(path, (draft) => {
      createLock(draft);
      create(draft);
      checkWritable(draft, fdatasyncSync);
      nameUnlessThere(draft, path);
    });
  }
  createLock(path);
  syncFolder(dirname(path));
  checkWritable(lockOf(path));
  checkWritable(path, checkOpens);
}

/** Whether the system lets this process have any number of addresses: without that no large file is mapped whole. */
export function hasManyAddresses(): boolean {
  if (process.platform !== "linux") return true;
  try {
    const limits = readFileSync("/proc/self/limits", "latin1");
    return !/^Max address space\s+\d/m.test(limits);
  } catch {
    return true;
  }
}

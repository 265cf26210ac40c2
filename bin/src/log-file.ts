import { closeSync, fstatSync, openSync, readdirSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export interface LogFileOptions {
  readonly path: string;
  /** Bytes after which a new file is started; 0 for no limit. */
  readonly maxFileSize: number;
  /** Number of old files that are kept; 0 for all. */
  readonly maxFiles: number;
}

/** A log file that is renamed, with the time appended to its name, when it is full. */
export interface LogFile {
  write(text: string): void;
}

/** Opens or continues a log file that only its owner can read; throws if it cannot be written. */
export function createLogFile({ path, maxFileSize, maxFiles }: LogFileOptions): LogFile {
  const open = () => openSync(path, "a", 0o600);
  let descriptor = open();
  let size = fstatSync(descriptor).size;
  const begin = () => {
    closeSync(descriptor);
    renameSync(path, asideName(path));
    if (maxFiles > 0) dropOldest(path, maxFiles);
    descriptor = open();
    size = 0;
  };
  return {
    write(text) {
      const bytes = Buffer.from(text);
      if (maxFileSize > 0 && size > 0 && size + bytes.length > maxFileSize) begin();
      // Written synchronously, so that the last lines are on disk if the program dies.
      writeSync(descriptor, bytes);
      size += bytes.length;
    },
  };
}

/** Source: mlog.cpp `generate_log_filename`; with milliseconds, so that two files of the same second differ. */
function asideName(path: string): string {
  return `${path}-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
}

function dropOldest(path: string, keep: number): void {
  const folder = dirname(path);
  const prefix = `${basename(path)}-`;
  const aside = readdirSync(folder).filter((name) => name.startsWith(prefix));
  // Their names end in the time, so sorting orders them by age.
  for (const name of aside.sort().slice(0, -keep)) rmSync(join(folder, name));
}

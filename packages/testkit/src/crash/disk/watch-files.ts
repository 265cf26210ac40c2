/** Tells of the file operations of this process, so that a disk that forgets knows of each sync. */
import fs from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

export interface FileWatch {
  /** Before a file or folder (its descriptor) is synced; the result is called once it is. */
  readonly beginSync: (file: number) => () => void;
  /** After every operation, and before each sync; with the descriptor where there is one. */
  readonly onOperation: (operation: "write" | "sync" | "rename" | "remove", file?: number) => void;
  /** The run of the operating system that programs see; undefined: the real one. */
  readonly bootId: () => string | undefined;
}

const BOOT_ID = "/proc/sys/kernel/random/boot_id";

function watchHandle(file: FileHandle, { beginSync, onOperation }: FileWatch): FileHandle {
  const { write, writeFile, truncate, sync, datasync } = file;
  const after = <A extends unknown[], R>(operation: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      const result = await operation.apply(file, args);
      onOperation("write", file.fd);
      return result;
    };
  };
  const synced = (operation: () => Promise<void>) => async () => {
    const done = beginSync(file.fd);
    onOperation("sync");
    await operation.call(file);
    done();
    onOperation("sync");
  };
  return Object.assign(file, {
    write: after(write as (...args: unknown[]) => Promise<unknown>),
    writeFile: after(writeFile as (...args: unknown[]) => Promise<void>),
    truncate: after(truncate),
    sync: synced(sync),
    datasync: synced(datasync),
  });
}

function watchPromises(watch: FileWatch): void {
  const { open, rename, rm } = fs.promises;
  Object.assign(fs.promises, {
    open: async (...args: Parameters<typeof open>) => watchHandle(await open(...args), watch),
    rename: async (from: string, to: string) => {
      await rename(from, to);
      watch.onOperation("rename");
    },
    rm: async (path: string, options: object) => {
      await rm(path, options);
      watch.onOperation("remove");
    },
  });
}

type Callback = (error: NodeJS.ErrnoException | null) => void;

function watchCallbacks({ beginSync, onOperation }: FileWatch): void {
  const { fdatasync, fsync, fdatasyncSync, fsyncSync, writeSync, renameSync } = fs;
  const later = (operation: typeof fdatasync) => (file: number, callback: Callback) => {
    const done = beginSync(file);
    onOperation("sync");
    operation(file, (error) => {
      if (error === null) done();
      onOperation("sync");
      callback(error);
    });
  };
  const atOnce = (operation: typeof fdatasyncSync) => (file: number) => {
    const done = beginSync(file);
    onOperation("sync");
    operation(file);
    done();
    onOperation("sync");
  };
  Object.assign(fs, {
    fdatasync: later(fdatasync),
    fsync: later(fsync),
    fdatasyncSync: atOnce(fdatasyncSync),
    fsyncSync: atOnce(fsyncSync),
    writeSync: (...args: Parameters<typeof writeSync>) => {
      const byteCount = writeSync(...args);
      onOperation("write", args[0]);
      return byteCount;
    },
    renameSync: (from: string, to: string) => {
      renameSync(from, to);
      onOperation("rename");
    },
  });
}

/** Watches this process from now on; modules that keep functions of `node:fs` must be loaded afterwards. */
export function watchFiles(watch: FileWatch): void {
  const { readFileSync } = fs;
  watchPromises(watch);
  watchCallbacks(watch);
  Object.assign(fs, {
    readFileSync: (...args: Parameters<typeof readFileSync>) => {
      const pretended = args[0] === BOOT_ID ? watch.bootId() : undefined;
      return pretended ?? readFileSync(...args);
    },
  });
  syncBuiltinESMExports();
}

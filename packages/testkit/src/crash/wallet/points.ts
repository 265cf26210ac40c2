/**
 * Places at which a process that keeps files kills itself. They are put around the system's own file operations, so
 * that the program under test knows nothing of them.
 */
import fs from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";

/** The `nth` operation of a kind (the first is 1) on a file whose name ends in `file`. */
export interface FilePoint {
  readonly operation: "write" | "sync" | "rename" | "remove";
  /** For a rename, the end of the new name. */
  readonly file: string;
  readonly nth: number;
  /** `half`: part of the bytes are written. */
  readonly when: "before" | "half" | "after";
}

type Operation = FilePoint["operation"];

/** What has to be watched of a store's engine. */
type StoreEngine = { apply(wallet: never, change: never): Promise<number> };
/** Where a store's changes count as written. */
const IN_STORE = "store.anulo";

let armed: { readonly point: FilePoint; count: number } | undefined;

/** New names of files that may still be open under the old one. */
const renamed = new Map<string, string>();

/** Counting begins now. */
export function arm(point: FilePoint): void {
  armed = { point, count: 0 };
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** When the process is to die around this operation, if it is. */
function fateOf(operation: Operation, path: string): FilePoint["when"] | undefined {
  const now = renamed.get(path) ?? path;
  const isMeant =
    armed?.point.operation === operation && [path, now].some((it) => it.endsWith(armed!.point.file));
  if (armed === undefined || !isMeant) return;
  armed.count++;
  return armed.count === armed.point.nth ? armed.point.when : undefined;
}

async function around<T>(operation: Operation, path: string, task: () => Promise<T>): Promise<T> {
  const fate = fateOf(operation, path);
  if (fate === "before") die();
  const done = await task();
  if (fate === "after") die();
  return done;
}

/** Puts the points around what an open file does. */
function watch(file: FileHandle, path: string): FileHandle {
  const write = file.write.bind(file) as (
    bytes: Uint8Array,
    ...at: number[]
  ) => ReturnType<FileHandle["write"]>;
  const writeFile = file.writeFile.bind(file);
  const tear = async (bytes: Uint8Array, offset: number, length: number, position?: number) => {
    await write(bytes, offset, Math.floor(length / 2), ...(position === undefined ? [] : [position]));
    die();
  };
  return Object.assign(file, {
    write: async (bytes: Uint8Array, offset: number, length: number, position: number) => {
      const fate = fateOf("write", path);
      if (fate === "before") die();
      if (fate === "half") await tear(bytes, offset, length, position);
      const result = await write(bytes, offset, length, position);
      if (fate === "after") die();
      return result;
    },
    writeFile: async (bytes: Uint8Array) => {
      const fate = fateOf("write", path);
      if (fate === "before") die();
      if (fate === "half") await tear(bytes, 0, bytes.length);
      await writeFile(bytes);
      if (fate === "after") die();
    },
    sync: () => around("sync", path, FILE.sync.bind(file)),
    datasync: () => around("sync", path, FILE.datasync.bind(file)),
  });
}

let FILE: Pick<FileHandle, "sync" | "datasync">;

/** Ends the process once a change has begun: with LMDB it is another thread of it that writes. */
function dieInside(): void {
  setImmediate(die);
}

/**
 * Puts the points of a journal around a store's changes: what is two writes to a journal (how long it is for certain, and
 * the record) and a sync is one change here, before, amid and after which the process can end.
 */
export function watchEngine<E extends StoreEngine>(engine: E): E {
  const apply = engine.apply.bind(engine);
  return Object.assign(engine, {
    apply: async (wallet: never, change: never) => {
      const mark = fateOf("write", IN_STORE);
      const record = fateOf("write", IN_STORE);
      const sync = fateOf("sync", IN_STORE);
      if (mark === "before") die();
      if (mark !== undefined || record !== undefined || sync === "before") dieInside();
      const sequence = await apply(wallet, change);
      if (sync === "after") die();
      return sequence;
    },
  });
}

/** From now on the files this process opens have points. */
export async function placePoints(): Promise<void> {
  const { open, rename, rm } = fs.promises;
  const probe = await open("/dev/null", "r");
  FILE = Object.getPrototypeOf(probe);
  await probe.close();
  Object.assign(fs.promises, {
    open: async (path: string, ...rest: [string, number?]) => watch(await open(path, ...rest), String(path)),
    rename: (from: string, to: string) => {
      renamed.set(String(from), String(to));
      return around("rename", String(to), () => rename(from, to));
    },
    rm: (path: string, options: object) => around("remove", String(path), () => rm(path, options)),
  });
  syncBuiltinESMExports();
}

/** What code does to files, in order: names that the disk has not kept are lost with the power. */
import fs from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { relative } from "node:path";
import { setImmediate } from "node:timers/promises";

type Method = (...args: unknown[]) => Promise<unknown>;
const watched = ["write", "writeFile", "appendFile", "truncate", "sync", "datasync", "close"] as const;

function watch(file: FileHandle, tell: (operation: string) => void): FileHandle {
  for (const name of watched) {
    const method = file[name] as Method;
    const told = async (...args: unknown[]) => {
      const result = await method.apply(file, args);
      // So that who does not wait for it is seen to go on before.
      if (name === "sync" || name === "datasync") for (let i = 0; i < 5; i++) await setImmediate();
      tell(name);
      return result;
    };
    Object.assign(file, { [name]: told });
  }
  return file;
}

/**
 * What `work` does to files below a folder until it is over, as "sync a.new" or "rename a.new a": each sync takes a
 * while. The folder itself is "the folder", random parts of names are left out, and what is done again at once is told
 * once.
 */
export async function fileOperations(folder: string, work: () => Promise<unknown>): Promise<string[]> {
  const operations: string[] = [];
  const tell = (operation: string) => {
    if (operations.at(-1) !== operation) operations.push(operation);
  };
  const nameOf = (path: unknown) =>
    (relative(folder, String(path)) || "the folder").replace(/\.[0-9a-f]{8}(?=\.)/, "");
  const { open, rename, link } = fs.promises;
  const moved = (name: string, method: Method) => async (from: unknown, to: unknown) => {
    await method(from, to);
    tell(`${name} ${nameOf(from)} ${nameOf(to)}`);
  };
  Object.assign(fs.promises, {
    open: async (...args: Parameters<typeof open>) => {
      const file = await open(...args);
      return watch(file, (operation) => tell(`${operation} ${nameOf(args[0])}`));
    },
    rename: moved("rename", rename as Method),
    link: moved("link", link as Method),
  });
  syncBuiltinESMExports();
  try {
    await work();
    return [...operations];
  } finally {
    Object.assign(fs.promises, { open, rename, link });
    syncBuiltinESMExports();
  }
}

// Copies of the tree for tests to run in, so that the working tree is never touched.
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../sources.mjs";

const excluded = new Set(["node_modules", ".git", "coverage"]);
const folders = new Set();

const removeAll = () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
};
process.on("exit", removeAll);
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(130));

/** Packages of others are those of the working tree; our own resolve within the copy. */
function linkModules(folder) {
  const [from, to] = [join(root, "node_modules"), join(folder, "node_modules")];
  mkdirSync(to);
  for (const name of readdirSync(from)) if (name !== "@anulo") symlinkSync(join(from, name), join(to, name));
  mkdirSync(join(to, "@anulo"));
  for (const name of readdirSync(join(from, "@anulo")))
    symlinkSync(join("../../packages", name), join(to, "@anulo", name));
}

/** Some tests read vectors in a folder beside the project, or one further up, if there is one. */
function linkShared(scratch) {
  const shared = ["..", "../.."].map((up) => join(root, up, "shared")).find((each) => existsSync(each));
  if (shared !== undefined) symlinkSync(shared, join(scratch, "shared"));
}

/** A copy of the built tree; gone when the process ends. */
export function copyTree() {
  const scratch = mkdtempSync(join(tmpdir(), "anulo-mutate-"));
  // A server that a test starts as another user has its folder in it.
  chmodSync(scratch, 0o755);
  folders.add(scratch);
  const folder = join(scratch, "tree");
  mkdirSync(folder);
  for (const name of readdirSync(root)) {
    if (!excluded.has(name))
      cpSync(join(root, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  }
  linkModules(folder);
  linkShared(scratch);
  const temporary = join(scratch, "tmp");
  const emptyTemporary = () => {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
    mkdirSync(temporary, { recursive: true });
  };
  emptyTemporary();
  return {
    folder,
    temporary,
    emptyTemporary,
    /** Text of a file as it was when the copy was made, unless it is changed just now. */
    read: (path) => readFileSync(join(folder, path), "utf8"),
    /** Runs `work` with other files in the place of some: `{ path: text }`. */
    async withFiles(files, work) {
      const before = Object.keys(files).map((path) => [path, readFileSync(join(folder, path))]);
      try {
        for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
        return await work();
      } finally {
        for (const [path, bytes] of before) writeFileSync(join(folder, path), bytes);
      }
    },
  };
}

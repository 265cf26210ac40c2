/**
 * Bundles what `tsc` compiled into `bin/dist/bundle/`: for each command, thread and child process a file with all it
 * needs and nothing else, and a file more for what it loads only sometimes. A service that reads a few files instead
 * of 480 starts in half the time and takes some 10 MiB less.
 *
 * Each is built on its own: built together, esbuild would give every thread whatever any of them takes from a package.
 * Threads, child processes and data files are found as `new URL("file", import.meta.url)`, which works unbundled as it
 * stands: here each such script becomes a bundle and each other file a copy, all in one folder.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { filesBelow, newestChange, root } from "./sources.mjs";

const output = join(root, "bin/dist/bundle");
const program = join(root, "bin/dist/src/main.js");
const manifests = filesBelow("packages", (name) => name === "package.json").concat("bin/package.json");

/**
 * The database's binding is bundled, without the encoder it loads for values that are no bytes, which ours never are:
 * that alone takes 8 MiB. Its native library stays where it was installed.
 */
const bundledPackage = {
  name: "lmdb",
  external: ["node-gyp-build-optional-packages"],
  alias: { msgpackr: "./scripts/no-encoder.mjs" },
};

/** What else npm installs for the programs stays outside: seldom used, or with a native library. */
function externalPackages() {
  const names = manifests.flatMap((file) => {
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
      readFileSync(join(root, file), "utf8"),
    );
    return Object.keys({ ...dependencies, ...optionalDependencies });
  });
  const outside = names.filter((name) => !name.startsWith("@anulo/") && name !== bundledPackage.name);
  return [...new Set([...outside, ...bundledPackage.external])];
}

/** Every compilation leaves a new one in its package, whatever it changed. */
const compilations = () =>
  manifests
    .map((file) => join(dirname(file), "dist/.tsbuildinfo"))
    .filter((file) => existsSync(join(root, file)));

const buildFiles = [
  "scripts/bundle.mjs",
  "scripts/no-encoder.mjs",
  "packages/console/dist/console-pages.json",
];

function isCurrent() {
  const built = statSync(join(output, "main.js"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return built > newestChange([...compilations(), ...buildFiles, "package-lock.json"]);
}

/** Source that V8 keeps in memory, as long as a program runs, is a quarter shorter; traces still name functions and lines. */
const compact = { minifyWhitespace: true, minifySyntax: true, lineLimit: 200 };

const installedPlace = `import.meta.resolve("${bundledPackage.name}")`;
/** Lines end after a point, a comma or a bracket. */
const cutPlace =
  /(?:new URL|createRequire)\(\n?(?:"[^"]+",)?\n?import\.\n?meta\.\n?url\n?\)|import\.\n?meta\.\n?resolve\(\n?"/g;
const reference = /new URL\("([^"]+)", ?import\.meta\.url\)/g;

/** Notes which module refers to which file, and has data files looked for in the bundle's folder. */
function noteReferences(references, { onLoad, onResolve }) {
  onLoad({ filter: /\/dist\/src\/.*\.js$/ }, ({ path }) => {
    const contents = readFileSync(path, "utf8").replace(reference, (whole, name) => {
      const file = resolve(dirname(path), name);
      references.push({ from: relative(root, path), file });
      return name.endsWith(".js") ? whole : `new URL("./${basename(file)}", import.meta.url)`;
    });
    return { contents, loader: "js" };
  });
  // A package finds what lies beside it where it was installed.
  onLoad({ filter: new RegExp(`/node_modules/${bundledPackage.name}/.*\\.js$`) }, ({ path }) => ({
    contents: readFileSync(path, "utf8").replaceAll("import.meta.url", installedPlace),
    loader: "js",
  }));
  onResolve({ filter: /^\.\// }, ({ kind, importer, path }) => {
    if (kind !== "dynamic-import" || importer !== program) return undefined;
    references.push({ from: relative(root, importer), file: resolve(dirname(importer), path) });
    return { path, external: true };
  });
}

/** What stays outside is seldom used: it must be loaded where it is used, not whenever a program starts. */
function checkLoadedLate(outputs) {
  const early = Object.values(outputs)
    .flatMap(({ imports }) => imports)
    .find(
      ({ path, kind, external }) =>
        external &&
        kind === "import-statement" &&
        !path.startsWith("node:") &&
        !bundledPackage.external.includes(path),
    );
  if (early !== undefined) throw new Error(`${early.path} is loaded at once: import it where it is used`);
}

/** The files of one bundle, and those it refers to. */
async function bundleOne(esbuild, entryPoint) {
  const references = [];
  const { metafile, outputFiles } = await esbuild.build({
    absWorkingDir: root,
    entryPoints: [entryPoint],
    entryNames: "[name]",
    chunkNames: "chunk-[hash]",
    outdir: output,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    sourcemap: "linked",
    sourcesContent: false,
    ...compact,
    external: externalPackages(),
    alias: bundledPackage.alias,
    plugins: [{ name: "references", setup: (build) => noteReferences(references, build) }],
    metafile: true,
    write: false,
    logLevel: "warning",
  });
  checkLoadedLate(metafile.outputs);
  const used = new Set(Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs)));
  return { outputFiles, files: references.filter(({ from }) => used.has(from)).map(({ file }) => file) };
}

const isScript = (file) => file.endsWith(".js");

/** The program's bundle, and those of all scripts that it and they refer to. */
async function bundleAll(esbuild) {
  const scripts = new Set([program]);
  const outputs = new Map();
  const data = new Set();
  // A set may grow while it is walked.
  for (const script of scripts) {
    const { outputFiles, files } = await bundleOne(esbuild, script);
    for (const file of outputFiles) outputs.set(file.path, file);
    for (const file of files) (isScript(file) ? scripts : data).add(file);
  }
  return { outputFiles: [...outputs.values()], data: [...data] };
}

/** What is found by its place must be in the folder; any other use of the place would be a mistake. */
function checkReferences(files, names) {
  // A name or an expression may have been cut in two where a line became too long.
  const text = files.replaceAll("\\\n", "").replaceAll(cutPlace, (cut) => cut.replaceAll("\n", ""));
  const missing = [...text.matchAll(reference)]
    .map(([, name]) => name)
    .find((name) => !names.has(name.slice(2)));
  if (missing !== undefined) throw new Error(`the bundle lacks ${missing}`);
  const exceptions = ["createRequire(import.meta.url)", installedPlace];
  const others = exceptions.reduce((rest, use) => rest.replaceAll(use, ""), text.replaceAll(reference, ""));
  const at = others.indexOf("import.meta");
  // Lines of joined strings are megabytes long, so that nothing may look for the line's beginning at each character.
  if (at !== -1)
    throw new Error(
      `a bundle lies elsewhere than its modules: ${others.slice(Math.max(0, at - 80), at + 80)}`,
    );
}

function write({ outputFiles, data }) {
  const next = `${output}.next`;
  const files = [...outputFiles.map(({ path }) => path), ...data].map((path) => basename(path));
  const names = new Set(files);
  if (names.size < files.length) throw new Error("two files of the bundle have the same name");
  rmSync(next, { recursive: true, force: true });
  mkdirSync(next, { recursive: true });
  for (const { path, text, contents } of outputFiles) {
    if (isScript(path)) checkReferences(text, names);
    writeFileSync(join(next, basename(path)), contents);
  }
  for (const file of data) cpSync(file, join(next, basename(file)));
  rmSync(output, { recursive: true, force: true });
  renameSync(next, output);
}

/** Undefined, with a word of why, where esbuild has no program for this platform or was left out of the installation. */
async function loadBundler() {
  try {
    const esbuild = await import("esbuild");
    await esbuild.transform("");
    return esbuild;
  } catch (error) {
    const reason = error.message.split("\n", 1)[0];
    process.stderr.write(
      `anulo: esbuild does not run here, so programs are not bundled and start later: ${reason}\n`,
    );
    return undefined;
  }
}

/** Makes the bundle anew unless it is current; without a bundler there is none. */
export async function bundle() {
  if (isCurrent()) return;
  const esbuild = await loadBundler();
  if (esbuild === undefined) rmSync(output, { recursive: true, force: true });
  else write(await bundleAll(esbuild));
}

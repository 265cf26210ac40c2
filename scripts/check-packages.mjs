// Packs every package that is published, installs them in an empty folder outside the repository, compiles there the
// examples of their READMEs, strictly and with the types of packages checked too, and runs these and the program.
// Without arguments nothing is downloaded: what the packages depend on is linked from the repository's own
// dependencies, and only what they declare. --install: npm installs the packages and their dependencies.
// --node PATH: examples and program run on that Node.js. --verbose: shows what they print.
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { examplesOf } from "./document-examples.mjs";
import { checkBundle, checkManifests, checkTarball, publishedPackages } from "./packages/manifests.mjs";
import { root } from "./sources.mjs";

const argument = (name) =>
  process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined;
const isInstalled = process.argv.includes("--install");
const isVerbose = process.argv.includes("--verbose");
const node = argument("--node") ?? process.execPath;
const lanes = 2;
/** Longest an example or the program may run, also on a machine with much else to do. */
const RUN_MS = 600_000;

const run = promisify(execFile);
const problems = [];

function npm(args, options) {
  const result = spawnSync("npm", args, {
    encoding: "utf8",
    maxBuffer: 2 ** 26,
    shell: process.platform === "win32",
    ...options,
  });
  if (result.status !== 0) throw new Error(`npm ${args[0]} failed: ${result.stderr}\n${result.stdout}`);
  return result.stdout;
}

/** A tarball for each package; npm's description of each. */
function pack(packages, folder) {
  const workspaces = packages.flatMap(({ manifest }) => ["--workspace", manifest.name]);
  const output = npm(["pack", "--json", "--silent", "--pack-destination", folder, ...workspaces], {
    cwd: root,
  });
  const packed = JSON.parse(output);
  return Array.isArray(packed) ? packed : Object.values(packed);
}

function unpack(tarball, target) {
  mkdirSync(target, { recursive: true });
  const { status, stderr } = spawnSync("tar", ["-xzf", tarball, "-C", target, "--strip-components=1"]);
  if (status !== 0) throw new Error(`${tarball}: ${stderr}`);
}

function link(target, path) {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path, "junction");
}

/** What the examples' author has beside the packages. */
const tools = ["typescript", "@types/node"];

/** Lays the packages out as npm does, with what they declare to depend on. */
function layOut(consumer, tarballs) {
  const modules = join(consumer, "node_modules");
  for (const { name, path } of tarballs) unpack(path, join(modules, name));
  const read = (name) => JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8"));
  const own = new Set(tarballs.map(({ name }) => name));
  const requirements = tarballs.flatMap(({ name }) => {
    const { dependencies, optionalDependencies } = read(name);
    return Object.keys({ ...dependencies, ...optionalDependencies });
  });
  for (const name of new Set([...requirements, ...tools]))
    if (!own.has(name)) link(join(root, "node_modules", name), join(modules, name));
  const { bin } = read("anulo");
  mkdirSync(join(modules, ".bin"));
  symlinkSync(join("..", "anulo", bin.anulo), join(modules, ".bin/anulo"));
}

function install(consumer, tarballs) {
  const { devDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const versions = tools.map((name) => `${name}@${devDependencies[name]}`);
  npm(
    [
      "install",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      ...tarballs.map(({ path }) => path),
      ...versions,
    ],
    { cwd: consumer },
  );
}

/** The examples of a README: its blocks of TypeScript. */
function readmeExamplesOf({ manifest, folder }) {
  const blocks = examplesOf(join(folder, "README.md"))
    .filter(({ runBy }) => runBy === "scripts/check-packages.mjs")
    .map(({ text }) => text);
  const file = manifest.name.replace("@anulo/", "");
  if (blocks.length === 0 && manifest.bin === undefined) problems.push(`${folder}/README.md: no example`);
  return blocks.map((text, i) => ({ name: blocks.length > 1 ? `${file}-${i + 1}` : file, text }));
}

/** As strict as a compiler gets, without skipping the types of packages. */
const compilerOptions = {
  module: "nodenext",
  target: "es2023",
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  outDir: "dist",
  rootDir: "src",
};

function compile(consumer, examples) {
  mkdirSync(join(consumer, "src"));
  for (const { name, text } of examples) writeFileSync(join(consumer, "src", `${name}.ts`), text);
  const config = {
    compilerOptions: { ...compilerOptions, lib: ["es2023"], types: ["node"] },
    include: ["src"],
  };
  writeFileSync(join(consumer, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(consumer, "node_modules/typescript/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc], { cwd: consumer, encoding: "utf8" });
  if (status !== 0) problems.push(`examples do not compile:\n${stdout}`);
  return status === 0;
}

/** With the Node.js that was asked for before any other. */
const env = { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) };

/** The client also has its types where there are none of Node.js, as in a web page. */
function compileForBrowser(consumer) {
  const folder = join(consumer, "page");
  mkdirSync(folder);
  const text = `import { createWalletClient } from "@anulo/client";
const wallet = createWalletClient(location.origin, { fetch });
export const balance: Promise<bigint> = wallet.getBalance().then(({ balance }) => balance);
`;
  writeFileSync(join(folder, "page.ts"), text);
  const options = {
    ...compilerOptions,
    module: "esnext",
    moduleResolution: "bundler",
    lib: ["es2023", "dom", "dom.iterable"],
    types: [],
    rootDir: ".",
  };
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, include: ["*.ts"] }),
  );
  const tsc = join(consumer, "node_modules/typescript/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [tsc, "--noEmit"], {
    cwd: folder,
    encoding: "utf8",
  });
  if (status !== 0) problems.push(`the client does not compile for browsers:\n${stdout}`);
}

async function runOne(consumer, { name, command = node, args }) {
  const began = Date.now();
  try {
    const { stdout, stderr } = await run(command, args, { cwd: consumer, env, timeout: RUN_MS });
    if (isVerbose) console.log(stdout);
    // What V8 says of flags that are set while the program runs.
    if (stderr.includes("unrecognized flag")) problems.push(`${name}: ${stderr}`);
    return { name, seconds: (Date.now() - began) / 1000 };
  } catch (error) {
    problems.push(`${name}: ${error.message}\n${error.stdout ?? ""}`);
    return undefined;
  }
}

async function runAll(consumer, programs) {
  const waiting = [...programs];
  const done = [];
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      done.push(await runOne(consumer, next));
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return done.filter((result) => result !== undefined);
}

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;

const packages = publishedPackages();
problems.push(...checkManifests(packages), ...checkBundle());
const scratch = mkdtempSync(join(tmpdir(), "anulo-packages-"));
try {
  const consumer = join(scratch, "consumer");
  mkdirSync(consumer);
  writeFileSync(join(consumer, "package.json"), '{ "private": true, "type": "module" }\n');
  const packed = pack(packages, scratch);
  problems.push(...packed.flatMap((it) => checkTarball(packages, it)));
  for (const { name, size, unpackedSize, files } of packed)
    console.log(`# ${name} ${kilobytes(size)}, unpacked ${kilobytes(unpackedSize)}, ${files.length} files`);
  const tarballs = packed.map(({ name, filename }) => ({ name, path: join(scratch, filename) }));
  (isInstalled ? install : layOut)(consumer, tarballs);
  const examples = [{ manifest: { name: "readme" }, folder: "." }, ...packages].flatMap(readmeExamplesOf);
  const isCompiled = compile(consumer, examples);
  compileForBrowser(consumer);
  const programs = ["devnet --once", "node --help", "wallet --help"].map((line) => ({
    name: `npx anulo ${line}`,
    command: "npx",
    args: ["--no", "anulo", ...line.split(" ")],
  }));
  const scripts = examples.map(({ name }) => ({
    name: `example ${name}`,
    args: [join("dist", `${name}.js`)],
  }));
  for (const { name, seconds } of await runAll(consumer, [...programs, ...(isCompiled ? scripts : [])]))
    console.log(`# ${name}: ${seconds.toFixed(1)} s`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
for (const problem of problems) console.error(problem);
console.log(`# packages: ${packages.length} packages, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

/**
 * Compiles the AssemblyScript kernels to `packages/crypto/dist/wasm/*.wasm`; does nothing when the sources are the
 * ones of the last build. Run: `node packages/crypto/assembly/build.mjs`.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const output = fileURLToPath(new URL("../dist/wasm/", import.meta.url));
const stampFile = join(output, "sources.sha256");

/** `replace` gives another text for an imported file: how one curve text is compiled over two fields. */
const fma = { features: ["simd", "relaxed-simd"], replace: {} };
const fallback = { features: ["simd"], replace: { "fe.ts": "fe-ext.ts" } };
/** Threads share the memory; any size up to 4 GiB will do. */
const shared = ["--importMemory", "--sharedMemory", "--maximumMemory", "65536"];
const modules = [
  { name: "cryptonight", entry: "cryptonight.ts", features: ["simd"], replace: {}, more: ["--importMemory"] },
  { name: "randomx", entry: "randomx.ts", features: ["simd", "threads"], replace: {}, more: shared },
  { name: "ed25519-fma", entry: "kernel.ts", ...fma },
  { name: "ed25519-fallback", entry: "kernel.ts", ...fallback },
  { name: "field-fma", entry: "field-probe.ts", ...fma },
  { name: "field-fallback", entry: "field-probe.ts", ...fallback },
];

const flags = ["--runtime", "stub", "-O3", "--noAssert", "--enable", "bulk-memory"];

function sourcesHash() {
  const hash = createHash("sha256");
  for (const name of readdirSync(here).sort())
    hash.update(`${name}\0`).update(readFileSync(join(here, name)));
  return hash.digest("hex");
}

/** A v128.const is rematerialised by V8 at every use: vector constants of hot code belong in memory. */
function checkNoVectorConstants(name, text) {
  const hot = text
    .split("\n (func ")
    .slice(1)
    .filter(
      (body) =>
        (body.match(/v128\.const i32x4 (?!0x00000000 0x00000000 0x00000000 0x00000000)/g) ?? []).length > 0,
    )
    .map((body) => body.split(/\s/, 1)[0]);
  if (hot.length > 0) throw new Error(`${name}: v128.const in ${hot.join(", ")}`);
}

async function compile(asc, { name, entry, features, replace, more = [] }) {
  const files = new Map();
  const readFile = (path) => {
    const file = join(here, replace[basename(path)] ?? basename(path));
    return path.includes("node_modules") || !existsSync(file) ? null : readFileSync(file, "utf8");
  };
  const argv = [
    entry,
    ...flags,
    ...more,
    ...features.flatMap((feature) => ["--enable", feature]),
    "--outFile",
    "out.wasm",
    "--textFile",
    "out.wat",
  ];
  const { error, stderr } = await asc.main(argv, {
    readFile,
    writeFile: (path, contents) => files.set(path, contents),
    listFiles: () => [],
  });
  if (error) throw new Error(`${name}: ${error.message}\n${stderr.toString()}`);
  checkNoVectorConstants(name, files.get("out.wat"));
  writeFileSync(join(output, `${name}.wasm`), files.get("out.wasm"));
}

const stamp = sourcesHash();
const isCurrent =
  existsSync(stampFile) &&
  readFileSync(stampFile, "utf8") === stamp &&
  modules.every(({ name }) => existsSync(join(output, `${name}.wasm`)));

if (!isCurrent) {
  mkdirSync(output, { recursive: true });
  const { default: asc } = await import("assemblyscript/asc");
  for (const module of modules) await compile(asc, module);
  writeFileSync(stampFile, stamp);
}

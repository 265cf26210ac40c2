// Compiles the WebAssembly kernels into dist/wasm; a module is skipped while its sources are unchanged.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = fileURLToPath(new URL("../dist/wasm", import.meta.url));
const FLAGS = ["--runtime", "stub", "-O3", "--noAssert", "--enable", "simd", "--enable", "relaxed-simd"];

/** Module name → entry file, beside this script. */
const modules = { cryptonight: "cryptonight.ts" };

const hash = createHash("sha256").update(readFileSync(fileURLToPath(import.meta.url)));
for (const file of readdirSync(here, { recursive: true }).sort()) {
  if (file.endsWith(".ts")) hash.update(file).update(readFileSync(join(here, file)));
}
const stamp = hash.digest("hex");
mkdirSync(out, { recursive: true });

for (const [name, entry] of Object.entries(modules)) {
  const wasm = join(out, `${name}.wasm`);
  const stampFile = join(out, `${name}.stamp`);
  if (existsSync(wasm) && existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) continue;
  const { error, stderr } = await asc.main([join(here, entry), "--outFile", wasm, ...FLAGS]);
  if (error) throw new Error(`${entry}: ${error.message}\n${stderr.toString()}`);
  writeFileSync(stampFile, stamp);
}

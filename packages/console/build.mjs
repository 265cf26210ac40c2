// Builds the console: Vite bundles page/, and every file it makes goes into one table, dist/console-pages.json.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { filesBelow, newestChange, root } from "../../scripts/sources.mjs";
import { define, forBrowser, withoutNode } from "./browser-build.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const output = join(here, "dist/console-pages.json");
/** What a browser loads of all files together, with the proofs. */
const MOST_GZIPPED_BYTES = 150_000;

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** Packages whose code is in the bundle, and whose licences go with it. */
const bundled = ["preact", "qrcode-generator", "uplot"];

/** Packages whose compiled modules are in the bundle. */
export const compiledPackages = ["client", "protocol", "crypto"];

function isCurrent() {
  const built = statSync(output, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = filesBelow("packages/console/page", () => true);
  const compiled = compiledPackages.map((name) => `packages/${name}/dist/.tsbuildinfo`);
  return (
    built >
    newestChange([
      ...sources,
      ...compiled,
      "packages/console/build.mjs",
      "packages/console/browser-build.mjs",
      "package-lock.json",
    ])
  );
}

/** The licence of a package: its file, or what its source says at the top where there is none. */
function licenceOf(folder) {
  const file = join(folder, "LICENSE");
  if (existsSync(file)) return readFileSync(file, "utf8");
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const source = readFileSync(join(folder, exports.import), "utf8");
  const lines = source.match(/^(?:\s*\/\/.*\n)+/)?.[0];
  if (!/licen[cs]e/i.test(lines ?? "")) throw new Error(`${folder} says nothing of its licence`);
  return lines.replace(/^\s*\/\/-* ?/gm, "");
}

function licences() {
  const texts = bundled.map((name) => {
    const text = licenceOf(join(root, "node_modules", name));
    return `${name}\n\n${text.trim()}\n`;
  });
  return texts.join("\n\n");
}

/** Browsers name the origin of a request that is marked `crossorigin`, which the service then takes for a foreign page's. */
const withoutCrossorigin = {
  name: "without-crossorigin",
  transformIndexHtml: { order: "post", handler: (html) => html.replaceAll(" crossorigin", "") },
};

async function bundlePage() {
  const { build } = await import("vite");
  const built = await build({
    configFile: false,
    root: join(here, "page"),
    base: "/console/",
    logLevel: "warn",
    publicDir: false,
    plugins: [withoutCrossorigin, withoutNode, forBrowser],
    worker: { format: "es", plugins: () => [withoutNode] },
    define,
    build: {
      write: false,
      target: "es2022",
      // Every byte of these is asked for by name: nothing is inlined, which the policy for images alone would allow.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });
  const texts = built.output.filter(({ type }) => type === "chunk").map(({ code }) => code);
  // Kernels that only left-out code refers to are no part of the page.
  const isUsed = ({ fileName }) =>
    !fileName.endsWith(".wasm") || texts.some((text) => text.includes(fileName));
  return built.output.filter(isUsed).map(({ type, fileName, code, source }) => ({
    name: fileName,
    bytes: Buffer.from(type === "chunk" ? code : source),
  }));
}

function entriesOf(files) {
  const entry = (path, name, bytes) => ({
    path,
    type: types[extname(name)],
    isLasting: name.startsWith("assets/"),
    base64: bytes.toString("base64"),
  });
  return files.flatMap(({ name, bytes }) => {
    if (types[extname(name)] === undefined)
      throw new Error(`the console has a file of no known type: ${name}`);
    if (name !== "index.html") return [entry(`/console/${name}`, name, bytes)];
    return ["/console", "/console/"].map((path) => entry(path, name, bytes));
  });
}

/** Makes the table anew unless it is current. */
export async function buildConsole() {
  if (isCurrent()) return;
  const files = [...(await bundlePage()), { name: "licences.txt", bytes: Buffer.from(licences()) }];
  const gzipped = files.reduce((sum, { bytes }) => sum + gzipSync(bytes).length, 0);
  if (gzipped > MOST_GZIPPED_BYTES)
    throw new Error(`the console has ${gzipped} bytes gzipped, at most ${MOST_GZIPPED_BYTES}`);
  process.stdout.write(`console: ${files.length} files, ${gzipped} bytes gzipped\n`);
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, JSON.stringify(entriesOf(files)));
}

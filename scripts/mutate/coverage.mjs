// Which parts of the compiled sources each test file runs. Kept in a cache, by the content of the files a test runs.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../sources.mjs";
import { runTest } from "./run-test.mjs";

const cache = join(root, "node_modules", ".cache", "mutate");
const BASELINE_TIMEOUT_MS = 900_000;

const hashOf = (bytes) => createHash("sha256").update(bytes).digest("hex").slice(0, 24);

function hashOfFile(tree, path) {
  const file = join(tree.folder, path);
  return existsSync(file) ? hashOf(readFileSync(file)) : "";
}

/** What ran of a script, as [from, to, from, to, ...]; inner ranges say more exactly what outer ones say. */
function segmentsOf(functions) {
  const ranges = functions.flatMap((each) => each.ranges);
  ranges.sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  const ran = new Uint8Array(Math.max(0, ...ranges.map(({ endOffset }) => endOffset)));
  for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return ran;
}

function toSegments(ran) {
  const segments = [];
  for (let at = 0; at < ran.length; at++) {
    if (ran[at] !== (ran[at - 1] ?? 0)) segments.push(at);
  }
  if (segments.length % 2 === 1) segments.push(ran.length);
  return segments;
}

/** What a process wrote of itself; nothing where it could not write all of it, killed or on a full disk. */
function parseReport(text) {
  try {
    return JSON.parse(text);
  } catch {
    return { result: [] };
  }
}

/** Of all processes and threads of a run, by path of the compiled file. */
function readCoverage(folder, tree) {
  const merged = new Map();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const { result } = parseReport(readFileSync(join(folder, name), "utf8"));
    for (const { url, functions } of result) {
      if (!url.startsWith("file:")) continue;
      const path = fileURLToPath(url.replace(/[?#].*$/, ""));
      if (!path.startsWith(`${tree.folder}/`)) continue;
      const file = path.slice(tree.folder.length + 1);
      const ran = segmentsOf(functions);
      const before = merged.get(file);
      merged.set(file, before === undefined ? ran : ran.map((each, i) => each | (before[i] ?? 0)));
    }
  }
  return merged;
}

function readCached(test, tree) {
  const file = join(cache, `${hashOf(test)}.json`);
  if (!existsSync(file)) return undefined;
  const entry = JSON.parse(readFileSync(file, "utf8"));
  const isTrue = Object.entries(entry.files).every(([path, { hash }]) => hash === hashOfFile(tree, path));
  return isTrue && entry.files[test] !== undefined ? entry : undefined;
}

/** Runs a test file once as it is: whether it passes, how long it takes, and what it runs. */
export async function coverageOf(test, tree) {
  const cached = readCached(test, tree);
  if (cached !== undefined) return cached;
  const folder = join(tree.temporary, "..", "coverage");
  const begin = performance.now();
  const verdict = await runTest(tree, test, {
    timeoutMs: BASELINE_TIMEOUT_MS,
    isHasty: false,
    env: { NODE_V8_COVERAGE: folder },
  });
  const ms = Math.round(performance.now() - begin);
  const files = {};
  for (const [path, ran] of readCoverage(folder, tree)) {
    const isOurs = path === test || /^(packages\/[^/]+|bin)\/dist\//.test(path);
    if (isOurs)
      files[path] = { hash: hashOfFile(tree, path), segments: /\/src\//.test(path) ? toSegments(ran) : [] };
  }
  rmSync(folder, { recursive: true, force: true });
  const entry = { test, verdict, ms, files };
  mkdirSync(cache, { recursive: true });
  if (verdict === "passed") writeFileSync(join(cache, `${hashOf(test)}.json`), JSON.stringify(entry));
  return entry;
}

/** Whether a test ran what is at this offset of a compiled file. */
export function runs({ files }, path, offset) {
  const segments = files[path]?.segments ?? [];
  for (let i = 0; i < segments.length; i += 2) {
    if (segments[i] <= offset && offset < segments[i + 1]) return true;
  }
  return false;
}

/** How much of a compiled file a test runs, in characters. */
export function extentIn({ files }, path) {
  const segments = files[path]?.segments ?? [];
  let sum = 0;
  for (let i = 0; i < segments.length; i += 2) sum += segments[i + 1] - segments[i];
  return sum;
}

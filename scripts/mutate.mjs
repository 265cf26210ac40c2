// Changes one place of the sources at a time and sees whether a test notices: `npm run mutate`.
// --seed N, --count N (200), --package X and --path TEXT (several times), --jobs N (2); --known tries the committed list of changes
// that were once not noticed; --at FILE:LINE tries all changes of a line; --suites also runs tests that `npm test` leaves
// to CI and that need no other programs; --own runs only tests of the changed packages; --report FILE writes the results
// as JSON.
// WebAssembly kernels (packages/crypto/assembly) are not changed; the TypeScript they are compared with is.
import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { chooseByChance, knownHoles, packageOf, reasonWhyEquivalent, sitesAt } from "./mutate/choose.mjs";
import { compile, compiledPath, offsetsOf } from "./mutate/compile.mjs";
import { coverageOf, extentIn, runs } from "./mutate/coverage.mjs";
import { runTest } from "./mutate/run-test.mjs";
import { testFiles } from "./mutate/tests.mjs";
import { copyTree } from "./mutate/tree.mjs";
import { filesBelow, root } from "./sources.mjs";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    count: { type: "string", default: "200" },
    package: { type: "string", multiple: true, default: [] },
    path: { type: "string", multiple: true, default: [] },
    jobs: { type: "string", default: "2" },
    known: { type: "boolean", default: false },
    at: { type: "string", multiple: true },
    suites: { type: "boolean", default: false },
    own: { type: "boolean", default: false },
    report: { type: "string" },
  },
});
const seed = values.seed === undefined ? randomInt(2 ** 32) : Number(values.seed);

/** Least share of changes that must be noticed, by package. */
const thresholds = { consensus: 0.95, storage: 0.95, crypto: 0.95, protocol: 0.95 };
const OTHER_THRESHOLD = 0.9;
/** A changed program may never end; one on a busy machine may be slow. */
const timeoutMs = (baselineMs) => 20_000 + 5 * baselineMs;
/** After so much of running tests that pass, a change counts as not noticed. */
const PATIENCE_MS = 300_000;

/** One worker for each tree; `work(item, tree)` for every item. */
async function onTrees(trees, items, work) {
  const waiting = [...items.entries()];
  const results = [];
  const next = async (tree) => {
    for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift())
      results[entry[0]] = await work(entry[1], tree);
  };
  await Promise.all(trees.map(next));
  return results;
}

/** Which packages a change in `name` can reach, by their manifests. */
function packagesAbove(name) {
  const above = new Set([name]);
  for (let size = 0; size !== above.size; ) {
    size = above.size;
    for (const file of filesBelow("packages", (each) => each === "package.json")) {
      const { dependencies = {} } = JSON.parse(readFileSync(join(root, file), "utf8"));
      if (Object.keys(dependencies).some((each) => above.has(each.replace("@anulo/", ""))))
        above.add(packageOf(file));
    }
  }
  return above;
}

/** Tests that run the changed place: the package's own before those above it, those first that run most of it in little time. */
function testsFor(site, coverage, tree) {
  const compiled = compiledPath(site.file);
  const offset = offsetsOf(tree, site.file)(site.start);
  const own = `packages/${packageOf(site.file)}/`;
  const value = (entry) =>
    extentIn(entry, compiled) / (entry.ms + 200) + (entry.test.startsWith(own) ? 1e9 : 0);
  return coverage
    .filter((entry) => entry.verdict === "passed" && runs(entry, compiled, offset))
    .sort((a, b) => value(b) - value(a));
}

const run = promisify(execFile);

/** Runs a test with a change; one that is late has a second try, since a busy machine makes tests late, too. */
async function judge(tree, test, options) {
  const verdict = await runTest(tree, test, options);
  return verdict === "late" ? await runTest(tree, test, options) : verdict;
}

/** Whether a script that is part of `npm run check` refuses the change. */
async function isRefusedBy(args, tree) {
  return await run(process.execPath, args, { cwd: tree.folder }).then(
    () => false,
    () => true,
  );
}

async function isRefusedByTypes(tree, site) {
  const project = join("packages", packageOf(site.file), "tsconfig.json");
  const tsc = join(root, "node_modules/typescript-7/bin/tsc");
  return await isRefusedBy(
    [tsc, "--noEmit", "--incremental", "false", "--composite", "false", "-p", project],
    tree,
  );
}

const isRefusedAsPromise = async (tree, { kind, file }) =>
  kind === "no await" && (await isRefusedBy(["scripts/check-promises.mjs", file], tree));

async function tryChange(site, coverage, tree) {
  const text = tree.read(site.file);
  const changed = text.slice(0, site.start) + site.replacement + text.slice(site.end);
  const files = { [site.file]: changed, [compiledPath(site.file)]: compile(site.file, changed) };
  const tests = testsFor(site, coverage, tree);
  return await tree.withFiles(files, async () => {
    if (await isRefusedAsPromise(tree, site)) return { site, verdict: "types", by: "check-promises" };
    let spentMs = 0;
    for (const { test, ms } of tests) {
      if (spentMs > PATIENCE_MS) break;
      const begin = performance.now();
      const verdict = await judge(tree, test, { timeoutMs: timeoutMs(ms) });
      spentMs += performance.now() - begin;
      if (verdict !== "passed") return { site, verdict, by: test };
    }
    const isRefused = await isRefusedByTypes(tree, site);
    return { site, verdict: isRefused ? "types" : tests.length === 0 ? "never run" : "survived", by: "" };
  });
}

const isNoticed = ({ verdict }) => ["failed", "late", "types"].includes(verdict);
const label = (site) =>
  `${site.file}:${site.line}${site.in ? ` (${site.in})` : ""}: ${site.before}  =>  ${site.after}`;

function chooseSites() {
  if (values.known) return knownHoles();
  if (values.at) return values.at.flatMap((each) => sitesAt(each));
  console.log(`mutate: seed ${seed}`);
  return chooseByChance({ seed, count: Number(values.count), packages: values.package, paths: values.path });
}

async function collectCoverage(trees, sites) {
  const changed = new Set(sites.map(({ file }) => packageOf(file)));
  const reached = values.own ? changed : new Set([...changed].flatMap((name) => [...packagesAbove(name)]));
  const isOf = (test) => (test.startsWith("packages/") ? reached.has(packageOf(test)) : !values.own);
  const coverage = await onTrees(trees, testFiles(values).filter(isOf), (test, tree) =>
    coverageOf(test, tree),
  );
  for (const { test, verdict } of coverage)
    if (verdict !== "passed") console.log(`mutate: left out, since it fails by itself: ${test}`);
  return coverage;
}

/** The share of each package; true when all are high enough. */
function summarize(results) {
  const byPackage = new Map();
  for (const result of results) {
    const name = packageOf(result.site.file);
    byPackage.set(name, [...(byPackage.get(name) ?? []), result]);
  }
  let isEnough = true;
  for (const [name, all] of [...byPackage].sort()) {
    const noticed = all.filter(isNoticed).length;
    const late = all.filter(({ verdict }) => verdict === "late").length;
    const share = noticed / all.length;
    const needed = values.known ? 1 : (thresholds[name] ?? OTHER_THRESHOLD);
    if (share < needed) isEnough = false;
    const percent = (100 * share).toFixed(1);
    console.log(
      `  ${name.padEnd(10)} ${noticed} of ${all.length} noticed, ${percent} % (needs ${100 * needed} %), ${late} by time`,
    );
  }
  return isEnough;
}

async function main() {
  const selection = chooseSites();
  const sites = selection.filter((site) => reasonWhyEquivalent(site) === undefined);
  if (sites.some(({ file }) => !existsSync(join(root, compiledPath(file)))))
    throw new Error("not built, run npm run build");
  const trees = Array.from({ length: Number(values.jobs) }, copyTree);
  const coverage = await collectCoverage(trees, sites);
  console.log(
    `mutate: ${sites.length} changes, ${selection.length - sites.length} more are known to change nothing`,
  );
  let done = 0;
  const results = await onTrees(trees, sites, async (site, tree) => {
    const result = await tryChange(site, coverage, tree);
    console.log(
      `${++done}/${sites.length} ${result.verdict.padEnd(9)} ${label(site)}${result.by && `  [${result.by}]`}`,
    );
    return result;
  });
  const survivors = results.filter((result) => !isNoticed(result));
  console.log(`\nmutate: ${survivors.length} not noticed`);
  for (const { site, verdict } of survivors)
    console.log(`  ${verdict === "never run" ? "never run: " : ""}${label(site)}`);
  const isEnough = summarize(results);
  if (values.report) writeFileSync(values.report, JSON.stringify({ seed, results }, undefined, 1));
  return isEnough;
}

process.exit((await main()) ? 0 : 1);

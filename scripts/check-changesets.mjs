// Checks the folder of changesets (.changeset, or the one named): that all packages keep one version, and that each
// file names packages of ours, how much each changes, and what their users see. Needs no package, so that it runs on
// every supported Node; @changesets/cli itself needs Node 22.11.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.mjs";

const BUMPS = ["patch", "minor", "major"];
/** A line of the front matter: a package in quotes, and its bump. */
const RELEASE = /^(["'])([^"']+)\1: *(\S+)$/;
const MAX_BYTES = 10_000;

const folder = join(root, process.argv[2] ?? ".changeset");
const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

function packages() {
  const folders = [...readdirSync(join(root, "packages")).map((name) => `packages/${name}`), "bin"];
  return new Map(folders.map((it) => readJson(join(root, it, "package.json"))).map((it) => [it.name, it]));
}

function configProblems({ fixed, access, baseBranch, privatePackages }, names) {
  const pattern = ([first, ...rest]) => first?.join() === "anulo,@anulo/*" && rest.length === 0;
  const strange = [...names].filter((name) => name !== "anulo" && !name.startsWith("@anulo/"));
  return [
    ...(Array.isArray(fixed) && pattern(fixed) ? [] : ['fixed is not [["anulo", "@anulo/*"]]']),
    ...strange.map((name) => `${name} is not among the fixed packages`),
    ...(access === "public" ? [] : ["access is not public"]),
    ...(baseBranch === "main" ? [] : ["baseBranch is not main"]),
    ...(privatePackages?.version === true ? [] : ["private packages do not follow the version"]),
  ];
}

function changesetProblems(text, published) {
  if (text.length > MAX_BYTES) return [`more than ${MAX_BYTES} characters`];
  const [, head, body] = /^---\n([\s\S]*?)^---\n([\s\S]*)$/m.exec(text) ?? [];
  if (head === undefined) return ["no front matter between lines of ---"];
  const lines = head.split("\n").filter((line) => line.trim() !== "");
  const problems = lines.flatMap((line) => {
    const [, , name, bump] = RELEASE.exec(line) ?? [];
    if (name === undefined) return [`not "PACKAGE": BUMP: ${line}`];
    if (!published.has(name)) return [`${name} is no package of ours that is published`];
    return BUMPS.includes(bump) ? [] : [`${bump} is none of ${BUMPS.join(", ")}`];
  });
  if (lines.length === 0) problems.push("names no package");
  if (body.trim() === "") problems.push("does not say what changes");
  return problems;
}

const all = packages();
const published = new Set([...all].filter(([, it]) => it.private !== true).map(([name]) => name));
const problems = configProblems(readJson(join(folder, "config.json")), all.keys()).map(
  (problem) => `config.json: ${problem}`,
);
const files = readdirSync(folder).filter((name) => name.endsWith(".md") && name !== "README.md");
for (const file of files) {
  const text = readFileSync(join(folder, file), "utf8");
  for (const problem of changesetProblems(text, published)) problems.push(`${file}: ${problem}`);
}
for (const problem of problems) console.log(problem);
console.log(`changesets: ${files.length} files, ${problems.length} problems`);
if (problems.length > 0) process.exitCode = 1;

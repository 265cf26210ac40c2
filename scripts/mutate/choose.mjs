// Which changes are tried: by chance from a seed, more often where more depends on it.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow, root } from "../sources.mjs";
import { describe, sitesOf } from "./sites.mjs";

/** How often a line is chosen, by what it guards; the first that matches counts, else 1. */
const weights = [
  { path: /^packages\/testkit\//, weight: 0, reason: "machinery of tests" },
  { path: /\/mnemonic\/words\//, weight: 0, reason: "word lists" },
  { path: /^packages\/consensus\//, weight: 5, reason: "what splits the chain" },
  { path: /^packages\/storage\//, weight: 5, reason: "what is lost" },
  { path: /^packages\/node\/src\/(chain|pool)\//, weight: 4, reason: "what is in the chain and the pool" },
  { path: /^packages\/wallet\/src\/(file|transfer|multisig)\//, weight: 3, reason: "money" },
  { path: /^packages\/(crypto|protocol|limits)\//, weight: 2, reason: "what all rests on" },
  { path: /^packages\/(rpc\/src\/server|p2p)\//, weight: 2, reason: "strangers" },
];

const weightOf = (file) => weights.find(({ path }) => path.test(file))?.weight ?? 1;

/** Numbers below 1 that depend on the seed alone. */
function randomFrom(seed) {
  let counter = 0;
  return () => createHash("sha256").update(`${seed} ${counter++}`).digest().readUInt32LE() / 2 ** 32;
}

export const packageOf = (file) => file.split("/")[1];

/** Lines of the packages named, or of files whose path has one of the texts in it; of all where nothing is named. */
function lines({ packages, paths }) {
  const files = filesBelow("packages", (name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .filter((file) => /^packages\/[^/]+\/src\//.test(file))
    .filter((file) => packages.length === 0 || packages.includes(packageOf(file)))
    .filter((file) => paths.length === 0 || paths.some((part) => file.includes(part)));
  const changes = [];
  for (const file of files) {
    const weight = weightOf(file);
    if (weight === 0) continue;
    for (const sites of groupByLine(sitesOfFile(file)).values()) changes.push({ weight, sites });
  }
  return changes;
}

function groupByLine(sites) {
  const groups = new Map();
  for (const site of sites) groups.set(site.line, [...(groups.get(site.line) ?? []), site]);
  return groups;
}

function sitesOfFile(file) {
  const text = readFileSync(join(root, file), "utf8");
  return sitesOf(file, text).map((site) => ({ ...site, ...describe(text, site) }));
}

/** Index of an entry, each as likely as its weight says. */
function pickIndex(entries, chance) {
  const total = entries.reduce((sum, { weight }) => sum + weight, 0);
  let remaining = chance * total;
  for (const [index, { weight }] of entries.entries()) {
    remaining -= weight;
    if (remaining < 0) return index;
  }
  return entries.length - 1;
}

/** `count` changes at different lines. */
export function chooseByChance({ seed, count, ...filter }) {
  const random = randomFrom(seed);
  const remaining = lines(filter);
  const selection = [];
  while (selection.length < count && remaining.length > 0) {
    const [{ sites }] = remaining.splice(pickIndex(remaining, random()), 1);
    selection.push(sites[Math.floor(random() * sites.length)]);
  }
  return selection;
}

/** All changes of one line, given as `packages/x/src/a.ts:12`. */
export function sitesAt(place) {
  const [file, line] = place.split(":");
  return sitesOfFile(file).filter((site) => site.line === Number(line));
}

function readList(name) {
  return JSON.parse(readFileSync(new URL(`./${name}.json`, import.meta.url), "utf8"));
}

/** The committed list of changes that tests once did not notice. Throws where a source no longer has the text. */
export function knownHoles() {
  return readList("known-holes").map(({ file, before, after }) => {
    const text = readFileSync(join(root, file), "utf8");
    const start = text.indexOf(before);
    if (start === -1 || text.indexOf(before, start + 1) !== -1)
      throw new Error(`${file} has not once: ${before}; scripts/mutate/known-holes.json must follow it`);
    const line = text.slice(0, start).split("\n").length;
    const site = { file, kind: "known", line, in: "", start, end: start + before.length, replacement: after };
    return { ...site, before: before.trim(), after: after.trim() };
  });
}

const equivalents = readList("equivalents");

/** Why a change makes no difference; undefined for one that should. An entry names one change, or all of a kind in a line. */
export function reasonWhyEquivalent(site) {
  const isIt = ({ file, before, after, kind }) =>
    file === site.file &&
    before === site.before &&
    (after === site.after || (after === undefined && kind === site.kind));
  return equivalents.find((each) => isIt(each) && (each.in === undefined || each.in === site.in))?.reason;
}

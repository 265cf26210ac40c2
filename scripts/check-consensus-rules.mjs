// docs/consensus.md is the list of the rules: every function, source and test it names is there, every violation is in it,
// and its table of the forks is that of packages/protocol/src/fork-rules.ts. --write writes that table.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { allForkRules } from "@anulo/protocol";
import { root } from "./sources.mjs";

const document = "docs/consensus.md";
const problems = [];
const read = (file) => readFileSync(join(root, file), "utf8");

/** `protocol/reward.ts` is in packages/protocol, `node/pool/pool.ts` in packages/node, all else in packages/consensus. */
function locate(path, folder) {
  const [, owner = "consensus", name] = /^(?:(protocol|node)\/)?(.*)$/.exec(path);
  return `packages/${owner}/${folder}/${name}`;
}

const tableBegin =
  "<!-- written by scripts/check-consensus-rules.mjs --write, from packages/protocol/src/fork-rules.ts -->\n";
const tableEnd = "<!-- end of the table -->\n";

const yes = (isSo) => (isSo ? "yes" : "no");
const bytes = (count) => count.toLocaleString("en");

function rangeOf({ least, most, also }) {
  const sizes = least === most ? `${least}` : `${least} or more`;
  return also > 0 ? `${also} or ${sizes}` : sizes;
}

/** Columns of the table of the forks: a heading, and the cell of a fork. */
const columns = [
  ["Fork", ({ fork }) => fork],
  [
    "Transaction versions",
    ({ transactionVersions: { least, most } }) => (least === most ? least : `${least}, ${most}`),
  ],
  ["Ring size", ({ ringSize }) => (ringSize.least === 0 ? "any" : rangeOf(ringSize))],
  ["RingCT types", ({ ringCtTypes }) => ringCtTypes.join(", ")],
  ["Outputs", ({ outputTypes }) => outputTypes],
  ["Fewest outputs", ({ fewestOutputs }) => fewestOutputs],
  ["Amounts", ({ amounts }) => amounts],
  ["Members once", ({ hasDistinctMembers }) => yes(hasDistinctMembers)],
  ["Sorted inputs", ({ hasSortedInputs }) => yes(hasSortedInputs)],
  ["Equal rings", ({ hasEqualRings }) => yes(hasEqualRings)],
  ["Members' age", ({ ringMemberAge }) => ringMemberAge],
  ["Fee", ({ fee }) => fee],
  ["Heaviest transaction", ({ heaviestTransaction }) => bytes(heaviestTransaction)],
  ["Block without penalty", ({ freeWeight }) => bytes(freeWeight)],
  ["Medians", ({ weight, penalty }) => `${weight}, penalty ${penalty}`],
  ["Seconds", ({ secondsPerBlock }) => secondsPerBlock],
  ["Hash", ({ powVariant }) => (powVariant === "randomx" ? "RandomX" : `CryptoNight ${powVariant}`)],
  ["Locked until", ({ unlockTime }) => unlockTime],
  ["Miner's version", ({ minerVersion }) => (minerVersion === 1 ? "any" : minerVersion)],
  ["Miner's claim", ({ claim }) => claim],
];

function forkTable() {
  const line = (cells) => `| ${cells.join(" | ")} |\n`;
  const heads = columns.map(([head]) => head);
  const rows = allForkRules.map((rules) => line(columns.map(([, cell]) => cell(rules))));
  return `${tableBegin}\n${line(heads)}${line(heads.map(() => "---"))}${rows.join("")}\n${tableEnd}`;
}

/** Compares the table of the forks with the declarations, or writes it. */
function checkForkTable() {
  const text = read(document);
  const [begin, end] = [text.indexOf(tableBegin), text.indexOf(tableEnd)];
  if (begin === -1 || end < begin) return problems.push(`${document}: no place for the table of the forks`);
  const before = text.slice(begin, end + tableEnd.length);
  if (before === forkTable()) return;
  if (process.argv.includes("--write")) writeFileSync(join(root, document), text.replace(before, forkTable));
  else problems.push(`${document}: the table of the forks is not that of the code: run this with --write`);
}

function textOf(file, line) {
  if (existsSync(join(root, file))) return read(file);
  problems.push(`${document}:${line}: there is no ${file}`);
  return undefined;
}

/** Rows of the tables: six cells, headings and rules apart. */
function rows() {
  return read(document)
    .split("\n")
    .map((text, index) => ({ line: index + 1, cells: text.split(" | ").map(trimCell) }))
    .filter(({ cells }) => cells.length === 6 && cells[0] !== "Rule" && !cells[0].startsWith("---"));
}

function trimCell(cell) {
  return cell.replace(/^\| |\s*\|$/g, "").trim();
}

function checkForks(cell, line) {
  const [first, last = first] = cell.split("–").map(Number);
  const isRange = first >= 1 && first <= last && last <= 16;
  if (cell !== "all" && !isRange) problems.push(`${document}:${line}: forks ${cell}`);
}

function checkFunction(cell, line) {
  const [, path, name] = /^`([^`]+\.ts)` `(\w+)`$/.exec(cell) ?? [];
  if (path === undefined) return problems.push(`${document}:${line}: not a function: ${cell}`);
  const text = textOf(locate(path, "src"), line);
  const declaration = new RegExp(`function ${name}\\b|^  ${name}: \\(`, "m");
  if (text !== undefined && !declaration.test(text))
    problems.push(`${document}:${line}: no ${name} in ${path}`);
  return text;
}

/** The function's file cites the source that the table gives. */
function checkSource(cell, code, line) {
  if (cell === "–" || code === undefined) return;
  const [, file, symbol] = /^([\w.-]+)(?: `(\w+)`)?$/.exec(cell) ?? [];
  if (file === undefined) return problems.push(`${document}:${line}: not a source: ${cell}`);
  for (const word of symbol === undefined ? [file] : [file, `\`${symbol}\``]) {
    if (!code.includes(word)) problems.push(`${document}:${line}: ${word} is cited nowhere in that file`);
  }
}

function checkTests(cell, line) {
  for (const test of cell.split("<br>")) {
    const [, path, name] = /^`([^`]+)` (.+)$/.exec(test) ?? [];
    if (path === undefined) problems.push(`${document}:${line}: not a test: ${test}`);
    else {
      const text = textOf(locate(`${path}.test.ts`, "test"), line);
      const isThere = text?.includes(`test(${JSON.stringify(name)}`) ?? true;
      if (!isThere) problems.push(`${document}:${line}: no test "${name}" in ${path}`);
    }
  }
}

checkForkTable();
const union = /export type Violation =([\s\S]*?);\n\n/.exec(read("packages/consensus/src/violations.ts"))[1];
const codes = [...union.matchAll(/code: "(\w+)"/g)].map(([, code]) => code);
const listed = new Set();
const all = rows();
for (const { line, cells } of all) {
  const [, forks, violation, functionName, source, tests] = cells;
  checkForks(forks, line);
  const code = /^`(\w+)`$/.exec(violation)?.[1];
  if (code !== undefined) listed.add(code);
  if (violation !== "–" && !codes.includes(code))
    problems.push(`${document}:${line}: no violation ${violation}`);
  checkSource(source, checkFunction(functionName, line), line);
  checkTests(tests, line);
}
for (const code of codes) if (!listed.has(code)) problems.push(`${document}: no rule for ${code}`);

console.log(`rules: ${all.length} in ${document}, ${codes.length} violations`);
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}

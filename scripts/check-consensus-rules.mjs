// docs/consensus.md is the list of the rules: every function, source and test it names is there, and every violation is in it.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.mjs";

const document = "docs/consensus.md";
const problems = [];
const read = (file) => readFileSync(join(root, file), "utf8");

/** `protocol/reward.ts` is in packages/protocol, `node/pool/pool.ts` in packages/node, all else in packages/consensus. */
function locate(path, folder) {
  const [, owner = "consensus", name] = /^(?:(protocol|node)\/)?(.*)$/.exec(path);
  return `packages/${owner}/${folder}/${name}`;
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

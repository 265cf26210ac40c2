// Checks the shape of the code: sizes of files and functions, names of folders, no `any`, no barrels, no open ends.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import ts from "typescript";
import { filesBelow, root } from "./sources.mjs";

const maxFileLines = 500;
const maxFunctionLines = 60;
/** Packages with less: shorter files, and functions whose inner ones count. */
const shorter = [{ path: /^packages\/wallet\//, fileLines: 400 }];
const badFolders = /(^|\/)(utils?|helpers?|common|misc|shared)\//;
/** Words of an open end, looked for in comments only. */
const openEnds = new RegExp(
  ["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"].map((word) => `\\b${word}\\b`).join("|"),
);
/** Not in kernels: their decorators are no TypeScript. */
const silencers = /@ts-(ignore|nocheck|expect-error)/;

const isKernel = (file) => file.startsWith("packages/crypto/assembly/");

/** Files whose length is their nature: data, tables, kernels. Each with its reason. */
const longByNature = [
  { path: /^packages\/crypto\/assembly\//, reason: "kernels, unrolled because calls cost there" },
  { path: /^packages\/protocol\/src\/mnemonic\/words\//, reason: "word lists" },
];

const problems = [];
const fileLengths = [];
const functionLengths = [];
const complain = (file, text) => problems.push(`${file}: ${text}`);

/** The callback of `describe` is a heading, not a function: it may be as long as its tests are many. */
function isHeading(node) {
  const call = node.parent;
  return ts.isCallExpression(call) && /^(describe|suite)\b/.test(call.expression.getText());
}

function nameOf(node) {
  return (node.name ?? node.parent?.name)?.getText?.() ?? "a function";
}

/**
 * A function that builds a living object, or a suite of tests, is the frame of those inside it, as a class is; not so
 * the former in packages of shorter functions.
 */
function isFrame(file, node) {
  if (/(^|\/)test\//.test(file)) return true;
  return !shorter.some(({ path }) => path.test(file)) && /^(create|open)[A-Z]/.test(nameOf(node));
}

/** Lines of the functions directly inside `node`. */
function nestedLines(source, node) {
  let sum = 0;
  const visit = (child) => {
    if (ts.isFunctionLike(child) && child.body) sum += lineCount(source, child) - 1;
    else ts.forEachChild(child, visit);
  };
  ts.forEachChild(node, visit);
  return sum;
}

function lineCount(source, node) {
  const line = (position) => source.getLineAndCharacterOfPosition(position).line;
  return line(node.end) - line(node.getStart()) + 1;
}

function checkFunction(file, source, node) {
  if (!node.body || isHeading(node)) return;
  const length = lineCount(source, node) - (isFrame(file, node) ? nestedLines(source, node) : 0);
  functionLengths.push(length);
  if (length <= maxFunctionLines) return;
  const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
  complain(`${file}:${line}`, `${nameOf(node)} has ${length} lines, at most ${maxFunctionLines}`);
}

function checkComments(file, source) {
  const text = source.text;
  const positions = new Set();
  const visit = (node) => {
    for (const range of [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.end) ?? []),
    ]) {
      if (positions.has(range.pos)) continue;
      positions.add(range.pos);
      const comment = text.slice(range.pos, range.end);
      const match = openEnds.exec(comment) ?? (isKernel(file) ? null : silencers.exec(comment));
      if (match)
        complain(
          `${file}:${source.getLineAndCharacterOfPosition(range.pos).line + 1}`,
          `comment says ${match[0]}`,
        );
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

/** A file that only passes on what others export. */
function isBarrel(source) {
  const statements = source.statements;
  return statements.length > 1 && statements.every((it) => ts.isExportDeclaration(it) && it.moduleSpecifier);
}

function checkFile(file) {
  const text = readFileSync(join(root, file), "utf8");
  const kind = /\.tsx$/.test(file)
    ? ts.ScriptKind.TSX
    : file.endsWith(".ts")
      ? ts.ScriptKind.TS
      : ts.ScriptKind.JS;
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true, kind);
  const long = longByNature.some(({ path }) => path.test(file));
  const lines = text.split("\n").length - 1;
  if (!long) fileLengths.push(lines);
  const most = shorter.find(({ path }) => path.test(file))?.fileLines ?? maxFileLines;
  if (!long && lines > most) complain(file, `${lines} lines, at most ${most}`);
  if (badFolders.test(file)) complain(file, "the folder's name says nothing about what is in it");
  if (isBarrel(source) && !isKernel(file) && !/(^|\/)src\/index\.ts$/.test(file))
    complain(file, "a barrel: import from the files themselves");
  const visit = (node) => {
    if (node.kind === ts.SyntaxKind.AnyKeyword) complain(file, `\`any\` at ${node.getStart()}`);
    if (!long && ts.isFunctionLike(node)) checkFunction(file, source, node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  checkComments(file, source);
}

function quantiles(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return `median ${at(0.5)}, p90 ${at(0.9)}, max ${at(1)}`;
}

const files = ["packages", "bin", "test", "scripts", "bench", "fuzz"].flatMap((folder) =>
  filesBelow(folder, (name) => /\.(tsx?|mjs|js)$/.test(name) && !basename(name).endsWith(".d.ts")),
);
for (const file of files) checkFile(file);
for (const problem of problems) console.error(problem);
console.log(`structure: ${files.length} files (lines: ${quantiles(fileLengths)})`);
console.log(`structure: ${functionLengths.length} functions (lines: ${quantiles(functionLengths)})`);
console.log(`structure: ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

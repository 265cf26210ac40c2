/**
 * Writes what each published package exports into docs/api, without comments, so that a review shows where a public type
 * changes. Types that are not exported are in no report.
 */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { publishedPackages } from "./packages/manifests.mjs";
import { root } from "./sources.mjs";

const folder = join(root, "docs/api");
const stamp = join(root, "dist/.api-reports");
const printer = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed });

/** The file of compiled types that a module of them names. */
const typesOf = (file, name) => join(dirname(file), name.replace(/\.(?:ts|js)$/, ".d.ts"));

function parse(file) {
  return ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest, true);
}

/** Names that a statement declares. */
function namesIn(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  return statement.name === undefined ? [] : [statement.name.getText()];
}

/** Types of tables of calls are longer than anybody reads: the calls' own are in the report of @anulo/client. */
const MAX_CHARACTERS = 20_000;

const limited = (text, name) =>
  text.length <= MAX_CHARACTERS ? text : `// ${name}: its type is too long to be shown`;

/** Members and alternatives by their text: the compiler writes inferred ones in an order that depends on the build. */
const sortTypes = (source) => (context) => {
  const { factory } = context;
  const print = (node) => printer.printNode(ts.EmitHint.Unspecified, node, source);
  const sorted = (nodes) => [...nodes].sort((a, b) => (print(a) < print(b) ? -1 : 1));
  const visit = (node) => {
    const inner = ts.visitEachChild(node, visit, context);
    if (ts.isTypeLiteralNode(inner)) return factory.updateTypeLiteralNode(inner, sorted(inner.members));
    return ts.isUnionTypeNode(inner) ? factory.updateUnionTypeNode(inner, sorted(inner.types)) : inner;
  };
  return visit;
};

function textOf(statement, source) {
  const { transformed } = ts.transform(statement, [sortTypes(source)]);
  return printer.printNode(ts.EmitHint.Unspecified, transformed[0], source);
}

/** Text of the declarations of a name in a file, or in the file that it is exported from there. */
function declared(file, name) {
  const source = parse(file);
  const own = source.statements.filter((statement) => namesIn(statement).includes(name));
  if (own.length > 0) return own.map((statement) => limited(textOf(statement, source), name));
  for (const statement of source.statements.filter(ts.isExportDeclaration)) {
    const element = statement.exportClause?.elements?.find((it) => it.name.text === name);
    if (element === undefined) continue;
    return exported(file, statement, element);
  }
  throw new Error(`${file} does not declare ${name}`);
}

/** An element of `export { a, b as c } from "..."`. */
function exported(file, { moduleSpecifier }, { name, propertyName }) {
  const original = (propertyName ?? name).text;
  const from = moduleSpecifier?.text;
  if (from === undefined) return declared(file, original);
  if (!from.startsWith(".")) return [`export { ${original} } from "${from}";`];
  const texts = declared(typesOf(file, from), original);
  return original === name.text ? texts : [`export { ${original} as ${name.text} };`, ...texts];
}

/** Everything a package exports, by name. */
function exportsOf(file) {
  const exports = new Map();
  const source = parse(file);
  for (const statement of source.statements) {
    if (!ts.isExportDeclaration(statement)) {
      for (const name of namesIn(statement)) exports.set(name, declared(file, name));
    } else if (statement.exportClause?.elements !== undefined) {
      for (const element of statement.exportClause.elements)
        exports.set(element.name.text, exported(file, statement, element));
    } else {
      const text = printer.printNode(ts.EmitHint.Unspecified, statement, source);
      exports.set(text, [text]);
    }
  }
  return [...exports].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, texts]) => texts);
}

/** Where a package's compiled types begin; undefined for a program. */
function entryOf({ folder: place, manifest }) {
  const types = manifest.exports["."]?.types;
  return types === undefined ? undefined : join(root, place, types);
}

/** Writes the reports that are not current; the names of their packages. */
export function writeReports() {
  const files = [];
  mkdirSync(folder, { recursive: true });
  for (const it of publishedPackages()) {
    const entry = entryOf(it);
    if (entry === undefined) continue;
    const { name } = it.manifest;
    const path = join(folder, `${name.replace("@anulo/", "")}.api.md`);
    const text = `# ${name}\n\nWhat it exports; written by \`scripts/make-api-reports.mjs\`.\n\n\`\`\`ts\n${exportsOf(entry).join("\n")}\n\`\`\`\n`;
    if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
    writeFileSync(path, text);
    files.push(name);
  }
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, "");
  return files;
}

/** Whether nothing was compiled since the reports were written. */
export function areReportsCurrent() {
  const changedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const compiled = publishedPackages().map(({ folder: place }) => join(root, place, "dist/.tsbuildinfo"));
  return compiled.every((path) => changedAt(path) < changedAt(stamp));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = writeReports();
  if (files.length > 0) console.log(`docs/api was not current for ${files.join(", ")}, and is now`);
  process.exit(files.length > 0 && process.argv.includes("--check") ? 1 : 0);
}

// Checks that declared names are made of the glossary's terms or of plain technical English (scripts/words), and of no
// word that the glossary replaces by another, and that no name in the sources is a participle that names nothing by itself.
// --frequent N: lists instead the N words that names use most, with their meaning; --write: into docs/names.md.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { filesBelow, root } from "./sources.mjs";

const read = (file) => readFileSync(join(root, file), "utf8");

/** Cells of the tables below a heading of the glossary. */
function rowsOf(section) {
  return section
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (term|word) \|/.test(line))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** Lower-case words of a name, without digits. */
function wordsOf(name) {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(/[^A-Za-z]+/)
    .filter((word) => word.length > 1)
    .map((word) => word.toLowerCase());
}

const [used, replaced] = read("docs/glossary.md").split("## Not used");
/** Meaning by word: its own, else that of a longer term it is part of. */
const meanings = new Map();
const entries = rowsOf(used).map(([term, meaning]) => {
  const others = [...meaning.matchAll(/\*([^*]+)\*/g)].map(([, word]) => word);
  return { terms: [...term.split(", "), ...others], text: `${term}: ${meaning}` };
});
for (const isWhole of [true, false])
  for (const { terms, text } of entries)
    for (const words of terms.map(wordsOf))
      for (const word of words)
        if (!meanings.has(word) && (words.length === 1) === isWhole) meanings.set(word, { text, isWhole });
const refused = new Map(
  rowsOf(replaced).flatMap(([words, instead]) => wordsOf(words).map((word) => [word, instead])),
);
const listed = (file) =>
  read(file)
    .split(/\s+/)
    .filter((word) => word !== "");
/** Ordinary words, and abbreviations and names of programming, that names may be made of: add to them with care. */
const plain = new Set(["english", "technical"].flatMap((name) => listed(`scripts/words/${name}.txt`)));

/** Participles that say what was done with a thing and not what it is: no name by themselves, as `found` or `asked`. */
const bareParticiples = new Set(listed("scripts/words/participles.txt"));
/** Names of these are what files hold, or are still to be changed. */
const mayBeBare = (file, name) =>
  !/^(packages\/[a-z0-9]+\/(src|page|assembly)|bin\/src|scripts)\//.test(file) ||
  /^packages\/(devnet|events|store|wallet\/src\/file)\//.test(file) ||
  (file.startsWith("packages/wallet/") && name === "asked");

const singular = (word) => word.replace(/ies$/, "y").replace(/(?<=[^s])s$/, "");
const isTerm = (word) => meanings.has(word) || meanings.has(singular(word));
const isKnown = (word) => isTerm(word) || plain.has(word);

function meaningOf(word) {
  const [own, ofSingular] = [meanings.get(word), meanings.get(singular(word))];
  if (own?.isWhole) return own.text;
  if (ofSingular?.isWhole) return ofSingular.text;
  return plain.has(word) ? "plain English" : (own ?? ofSingular)?.text;
}

/** Names that a file declares, each with its line, and whether it is chosen there: members of values follow their type. */
function* namesIn(file) {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
  const names = [];
  const visit = (node) => {
    const { name } = node;
    const isDeclared =
      name !== undefined && !ts.isPropertyAccessExpression(node) && !ts.isImportSpecifier(node);
    if (isDeclared && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)))
      names.push({
        name: name.text,
        line: source.getLineAndCharacterOfPosition(name.getStart()).line + 1,
        isChosen: !ts.isObjectLiteralElement(node) && !ts.isExportSpecifier(node),
      });
    ts.forEachChild(node, visit);
  };
  visit(source);
  yield* names;
}

const files = ["packages", "bin", "test", "bench", "fuzz", "scripts"].flatMap((folder) =>
  filesBelow(folder, (name) => /\.(ts|tsx|mjs)$/.test(name)),
);
const counts = new Map();
const problems = [];
let names = 0;
for (const file of files) {
  for (const { name, line, isChosen } of namesIn(file)) {
    names += 1;
    const bare = name.replace("#", "");
    if (isChosen && bareParticiples.has(bare) && !mayBeBare(file, bare))
      problems.push(`${file}:${line}: ${name}: say what it is, ${bare} alone names nothing`);
    for (const word of wordsOf(name)) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
      if (refused.has(word)) problems.push(`${file}:${line}: ${name}: say ${refused.get(word)}, not ${word}`);
      else if (!isKnown(word))
        problems.push(
          `${file}:${line}: ${name}: ${word} is no term of docs/glossary.md and no word of scripts/words`,
        );
    }
  }
}

/** Writes the table of the words into its page, between two lines that say so. */
function writeTable(words) {
  const file = "docs/names.md";
  const [begin, end] = ["<!-- words: written by scripts/check-words.mjs -->\n", "<!-- end of words -->"];
  const [[before], [, after]] = [begin, end].map((line) => read(file).split(line));
  const rows = words.map((word) => `| ${word} | ${meaningOf(word)} |`);
  const table = ["| word | entry |", "|---|---|", ...rows].join("\n");
  writeFileSync(join(root, file), `${before}${begin}\n${table}\n\n${end}${after}`);
}

const at = process.argv.indexOf("--frequent");
if (at > 0) {
  const most = [...counts].sort(([, a], [, b]) => b - a).slice(0, Number(process.argv[at + 1]));
  for (const [word, count] of most) console.log(`${word} (${count}): ${meaningOf(word)}`);
  if (process.argv.includes("--write")) writeTable(most.map(([word]) => word));
} else {
  for (const problem of problems) console.log(problem);
  console.log(`words: ${names} names of ${counts.size} words, ${problems.length} problems`);
  if (problems.length > 0) process.exitCode = 1;
}

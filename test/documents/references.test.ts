import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";

const root = new URL("../../../", import.meta.url);
const filesIn = (folder: string) => readdirSync(new URL(folder, root)).map((name) => folder + name);
const documents = ["./", "docs/", ...filesIn("packages/").map((folder) => `${folder}/`)]
  .flatMap(filesIn)
  .filter((file) => file.endsWith(".md"));

const textOf = (document: URL) => readFileSync(document, "utf8");

/** Paths from the root, or from the package, that a document names in backticks. */
function namedPaths(text: string): string[] {
  return [...text.matchAll(/`((?:packages|bin|scripts|test|docs|bench|fuzz|src)\/[\w./-]+)`/g)].map(
    ([, path]) => path!,
  );
}

/** Files of code that a document names in backticks without their folder. */
function namedFiles(text: string): string[] {
  return [...text.matchAll(/`([\w.-]+\.(?:ts|mjs))`/g)].map(([, name]) => name!);
}

/** Names of all files of code. */
function codeFiles(): Set<string> {
  const folders = filesIn("packages/")
    .flatMap((folder) => [`${folder}/src/`, `${folder}/test/`])
    .filter((folder) => existsSync(new URL(folder, root)));
  const names = [...folders, "bin/", "scripts/", "bench/", "fuzz/", "test/"].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: "utf8" }),
  );
  return new Set(names.map((name) => basename(name)));
}

/** Where a document's links within this repository lead, with their `#` parts. */
function links(text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:)([^)]+)/g)].map(([, target]) => target!);
}

/** The `#` parts of a document's headings, as they are made on display. */
function anchors(text: string): string[] {
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!);
  return headings.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
}

function leadsSomewhere(target: URL): boolean {
  const file = new URL(target.pathname, target);
  if (!existsSync(file)) return false;
  return target.hash === "" || anchors(textOf(file)).includes(target.hash.slice(1));
}

const code = codeFiles();

test("there are documents to check", () => {
  assert.ok(documents.includes("./README.md"));
});

for (const document of documents) {
  const url = new URL(document, root);

  test(`every path that ${document} names exists`, () => {
    const below = new URL(".", url);
    const isThere = (path: string) => existsSync(new URL(path, root)) || existsSync(new URL(path, below));
    const text = textOf(url);
    const absent = namedPaths(text).filter((path) => !isThere(path));
    assert.deepEqual([...absent, ...namedFiles(text).filter((name) => !code.has(name))], []);
  });

  test(`every link of ${document} leads somewhere`, () => {
    assert.deepEqual(
      links(textOf(url)).filter((target) => !leadsSomewhere(new URL(target, url))),
      [],
    );
  });
}

/** Rows of the table under this heading, as the text of their cells. */
function tableUnder(heading: string, text: string): string[][] {
  const [, below = ""] = text.split(`${heading}\n`);
  const lines = below.split(/\n#/)[0]!.split("\n");
  const rows = lines.filter((line) => line.startsWith("|")).slice(2);
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
}

test('each answer of ARCHITECTURE\'s "Where is ..." is declared in the file that it names', () => {
  const rows = tableUnder("### Where is ...", textOf(new URL("ARCHITECTURE.md", root)));
  const declared = (file: string, symbol: string) => {
    const text = textOf(new URL(file, root));
    if (file.endsWith(".md")) return text.includes(`\n## ${symbol}\n`);
    return new RegExp(`^(export )?(const|function|class|interface|type) ${symbol}\\b`, "m").test(text);
  };
  assert.deepEqual(
    rows.filter(([, file, symbol]) => !declared(file!, symbol!)),
    [],
  );
  const questions = rows.map(([question]) => question).join("\n");
  for (const subject of [
    "ring size",
    "change",
    "handshake",
    "method of the wallet service",
    "reorganisation",
  ])
    assert.ok(questions.includes(subject), subject);
});

test("the commands that the documents name are there", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
  const text = documents.map((document) => textOf(new URL(document, root))).join();
  const named = new Set([...text.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!));
  assert.deepEqual(
    [...named].filter((name) => !(name in scripts)),
    [],
  );
});

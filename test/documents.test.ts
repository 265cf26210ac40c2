import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";

const root = new URL("../../", import.meta.url);
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

test("the commands that the documents name are there", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
  const text = documents.map((document) => textOf(new URL(document, root))).join();
  const named = new Set([...text.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!));
  assert.deepEqual(
    [...named].filter((name) => !(name in scripts)),
    [],
  );
});

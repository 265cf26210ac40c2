import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

const root = new URL("../../", import.meta.url);
const documents = [
  "README.md",
  "ARCHITECTURE.md",
  "DIFFERENCES.md",
  "DEPENDENCIES.md",
  "CONTRIBUTING.md",
  "docs/plan.md",
  "docs/randomx.md",
];

/** Paths of this repository that a document names: `packages/..` in backticks, and link targets. */
function namedPaths(text: string): string[] {
  const quoted = [...text.matchAll(/`((?:packages|bin|scripts|test|docs|bench)\/[\w./-]+)`/g)].map(
    ([, path]) => path!,
  );
  const linked = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path]) => path!);
  return [...quoted, ...linked];
}

for (const document of documents) {
  test(`every path that ${document} names exists`, () => {
    const text = readFileSync(new URL(document, root), "utf8");
    const missing = namedPaths(text).filter((path) => !existsSync(new URL(path, new URL(document, root))));
    const absent = missing.filter((path) => !existsSync(new URL(path, root)));
    assert.deepEqual(absent, []);
  });
}

test("the commands that the documents name are there", () => {
  const { scripts } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));
  const text = documents.map((document) => readFileSync(new URL(document, root), "utf8")).join();
  const named = new Set([...text.matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!));
  assert.deepEqual(
    [...named].filter((name) => !(name in scripts)),
    [],
  );
});

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const root = new URL("../../../", import.meta.url);
const textOf = (file: string) => readFileSync(new URL(file, root), "utf8");
const names = textOf("docs/names.md");

/** Rows of the tables in a part of a page, as the text of their cells. */
const rowsOf = (text: string) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll("`", "")),
    );

test("each of the 100 most frequent words has the entry that the glossary has today, or is plain English", () => {
  const [, ...words] = rowsOf(names.split("<!-- words:")[1]!);
  assert.equal(words.length, 100);
  const entries = new Set(rowsOf(textOf("docs/glossary.md")).map(([term, meaning]) => `${term}: ${meaning}`));
  const plain = new Set(
    ["english", "technical"].flatMap((name) => textOf(`scripts/words/${name}.txt`).split(/\s+/)),
  );
  const stale = words.filter(([word, entry]) =>
    entry === "plain English" ? !plain.has(word!) : !entries.has(entry!),
  );
  assert.deepEqual(stale, []);
});

test("of each example, the name after is declared and the name before is not", () => {
  const [, ...examples] = rowsOf(names.split("## The 100")[0]!);
  assert.equal(examples.length, 10);
  const sources = readdirSync(new URL("packages/", root)).flatMap((name) =>
    readdirSync(new URL(`packages/${name}/src/`, root), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts"))
      .map((file) => textOf(`packages/${name}/src/${file}`)),
  );
  const isDeclared = (name: string) => {
    const declaration = new RegExp(
      `^(?:export )?(?:type|interface|class|(?:async )?function|const) ${name}\\b`,
      "m",
    );
    return sources.some((text) => declaration.test(text));
  };
  for (const [before, after] of examples)
    assert.deepEqual([isDeclared(before!), isDeclared(after!)], [false, true], after);
});

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { documents, type Example, examplesOf } from "./examples.ts";

const root = new URL("../../../", import.meta.url);
const pathOf = (file: string) => fileURLToPath(new URL(file, root));
const examples = documents().flatMap(examplesOf);
const whereOf = ({ document, line }: Example) => `${document}:${line}`;

/** Why nothing runs an example; undefined where the file that is to run it reads it. */
function problemOf(example: Example): string | undefined {
  const { document, heading, language, runBy } = example;
  if (language === "") return "a block needs a language: text for what nobody can run";
  if (runBy === undefined) return "nothing runs it: <!-- run by FILE --> goes on the line before";
  if (!existsSync(pathOf(runBy))) return `${runBy} does not exist`;
  const runner = readFileSync(pathOf(runBy), "utf8");
  if (!/\bimport \{[^}]*\b(?:shellExamples|examplesOf)\b/.test(runner)) return `${runBy} reads no examples`;
  if (runBy.startsWith("scripts/")) return undefined;
  const isNamed = [document, heading].every((text) => runner.includes(`"${text}"`));
  return isNamed ? undefined : `${runBy} does not read what stands under ${heading}`;
}

test("every example of the documents is run by a file that reads it", () => {
  const problems = examples.flatMap((example) => {
    const problem = problemOf(example);
    return problem === undefined ? [] : [`${whereOf(example)}: ${problem}`];
  });
  assert.deepEqual(problems, []);
  assert.ok(examples.length > 30, `${examples.length} examples`);
});

test("an example that nothing runs is found", () => {
  const example = { document: "README.md", heading: "Nowhere", line: 1, language: "sh", text: "true\n" };
  assert.match(problemOf({ ...example, runBy: undefined })!, /nothing runs it/);
  assert.match(problemOf({ ...example, runBy: "test/none.test.ts" })!, /does not exist/);
  assert.match(problemOf({ ...example, runBy: "test/documents/references.test.ts" })!, /reads no examples/);
  assert.match(problemOf({ ...example, runBy: "test/documents/commands.test.ts" })!, /under Nowhere/);
  assert.match(problemOf({ ...example, language: "", runBy: undefined })!, /needs a language/);
});

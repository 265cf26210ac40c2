// The examples of the documents: each fenced block of commands or code, and which file runs it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.mjs";

/** What a block of one of these languages says cannot be run. */
const notRun = new Set(["text", "mermaid"]);

/** Runs every block of TypeScript in the READMEs of the repository and its packages. */
const runsTypeScript = "scripts/check-packages.mjs";

/** The documents, but for docs/api, which `make-api-reports.mjs` writes. */
export function documents() {
  const packages = readdirSync(join(root, "packages")).map((name) => `packages/${name}/README.md`);
  const markdownIn = (folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(folder, name));
  return [...[".", "docs", "bin"].flatMap(markdownIn), ...packages].filter((file) =>
    existsSync(join(root, file)),
  );
}

/**
 * The examples of a document in order: heading they stand under, line, language, text, and the file that runs each,
 * which `<!-- run by FILE -->` on the line before says; undefined where nothing does.
 */
export function examplesOf(document) {
  const lines = readFileSync(join(root, document), "utf8").split("\n");
  const examples = [];
  let heading = "";
  let open;
  for (const [i, line] of lines.entries()) {
    const fence = /^\s*(?:```|~~~)(.*)$/.exec(line);
    if (open === undefined) {
      heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading;
      if (fence !== null) open = { line: i + 1, language: fence[1].trim(), lineBefore: lines[i - 1] ?? "" };
    } else if (fence !== null) {
      const { lineBefore, ...example } = open;
      const text = `${lines.slice(open.line, i).join("\n")}\n`;
      const isPackageExample = example.language === "ts" && document.endsWith("README.md");
      const runBy =
        /^<!-- run by (\S+) -->$/.exec(lineBefore)?.[1] ?? (isPackageExample ? runsTypeScript : undefined);
      if (!notRun.has(example.language)) examples.push({ document, heading, ...example, text, runBy });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`${document}:${open.line}: the block has no end`);
  return examples;
}

/** The examples of the documents, as `scripts/document-examples.mjs` reads them. */
import assert from "node:assert/strict";

export type Example = {
  readonly document: string;
  readonly heading: string;
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly runBy: string | undefined;
};

const script = new URL("../../../scripts/document-examples.mjs", import.meta.url);
export const { documents, examplesOf } = (await import(script.href)) as {
  documents: () => string[];
  examplesOf: (document: string) => Example[];
};

/** The shell examples that stand under a heading of a document. */
export function shellExamples(document: string, heading: string): string[] {
  const found = examplesOf(document).filter(
    (example) => example.heading === heading && example.language === "sh",
  );
  assert.notEqual(found.length, 0, `${document}: no shell example under ${heading}`);
  return found.map(({ text }) => text);
}

/** A text with parts replaced by what stands for them in a test. Throws for a part that is not there. */
export function withReplaced(text: string, parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts).reduce((done, [part, ours]) => {
    assert.ok(done.includes(part), `the example has no ${part} any more`);
    return done.replaceAll(part, ours);
  }, text);
}

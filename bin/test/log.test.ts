import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { formatJson, formatText } from "../src/log.ts";
import { createLogFile } from "../src/log-file.ts";

const time = new Date(0);
const line = {
  severity: "INFO",
  category: "blockchain",
  event: "block added",
  fields: { height: 7, work: 2n ** 70n, id: "a b", nothing: undefined },
} as const;

test("a line for people shows fields as name=value", () => {
  assert.equal(
    formatText(line, time),
    '1970-01-01T00:00:00.000Z INFO blockchain block added height=7 work="1180591620717411303424" id="a b" nothing=null',
  );
});

test("a line for programs is one JSON object", () => {
  assert.deepEqual(JSON.parse(formatJson(line, time)), {
    time: "1970-01-01T00:00:00.000Z",
    severity: "INFO",
    category: "blockchain",
    event: "block added",
    height: 7,
    work: "1180591620717411303424",
    id: "a b",
    nothing: null,
  });
});

test("a full log file is put aside, and only the newest of those are kept", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "node.log");
  const file = createLogFile({ path, maxFileSize: 10, maxFiles: 2 });
  for (const digit of "01234") {
    file.write(`${digit.repeat(8)}\n`);
    // Names of files differ by milliseconds.
    const before = Date.now();
    while (Date.now() === before);
  }
  assert.equal(readFileSync(path, "utf8"), "44444444\n");
  const aside = readdirSync(folder).filter((name) => name !== "node.log");
  assert.deepEqual(
    aside.sort().map((name) => readFileSync(join(folder, name), "utf8")),
    ["22222222\n", "33333333\n"],
  );
});

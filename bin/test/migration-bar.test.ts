import assert from "node:assert/strict";
import { test } from "node:test";
import { createMigrationBar } from "../src/migration-bar.ts";

/** What is written for a migration of 1,000 blocks in steps of 250, six seconds each. */
function shown(isTTY: boolean): string {
  let now = 0;
  let text = "";
  const write = (part: string) => {
    text += part;
    return true;
  };
  const show = createMigrationBar({ isTTY, write }, () => now);
  for (let done = 250; done <= 1000; done += 250) {
    now += 6000;
    show({ from: 2, to: 3, done, of: 1000 });
  }
  return text;
}

test("a terminal shows a bar while the database is migrated, between a line before and one after", () => {
  const text = shown(true);
  assert.match(text, /^the database is migrated in place, from schema 2 to 3; .*\n\r\[/);
  assert.match(text, /\[#{15} {15}\] migrated 500 blocks, 50\.0 %, 12 s left/);
  assert.match(text, /\nthe database has schema 3 now\n$/);
});

test("a log gets lines", () => {
  const lines = shown(false).trimEnd().split("\n");
  assert.deepEqual(lines.slice(1), [
    "migrated 500 blocks, 50.0 %, 12 s left",
    "migrated 750 blocks, 75.0 %, 6 s left",
    "migrated 1000 blocks, 100.0 %, 0 s left",
    "the database has schema 3 now",
  ]);
});

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { needsRealPrograms } from "../actors.ts";
import { shellExamples, withReplaced } from "./examples.ts";
import { root, shellFor } from "./shell.ts";

const skip = process.platform === "win32" && "needs a shell";
const textOf = (file: string) => readFileSync(join(root, file), "utf8");
const commands = shellExamples("CONTRIBUTING.md", "Contributing")
  .join("")
  .trimEnd()
  .split("\n")
  .map((line) => line.replace(/\s+#.*$/, ""));

/** Commands that CI runs as they are; `npm test` runs all tests there. */
const ofCi = new Map([
  ["npm run build", "npm run build"],
  ["npm test -- --all", "export CI=true"],
  ["npm run check", "npm run check"],
  ["scripts/todays-programs.sh FOLDER", 'scripts/todays-programs.sh "$ANULO_TODAY_PROGRAMS"'],
]);

/** Commands that take hours, or minutes at their smallest: their scripts have to be there, and know their flags. */
const tooLong = new Map([
  ["node bench/many-wallets.mjs --wallets 10_000", "bench/many-wallets.mjs"],
  ["npm run mutate -- --seed 1 --count 50 --package consensus", "scripts/mutate.mjs"],
]);

/** Smaller forms of the others, and what they print. */
const smaller = new Map<string, { parts: Record<string, string>; shows: RegExp }>([
  [
    "node scripts/test.mjs packages/protocol",
    { parts: { "packages/protocol": "packages/limits" }, shows: /^# fail 0$/m },
  ],
  [
    "npm run golden -- node_read --show",
    { parts: { node_read: "node_login" }, shows: /agreeing.* 0 differing/ },
  ],
  [
    "node bench/fleet-reads.mjs",
    {
      parts: { "fleet-reads.mjs": "fleet-reads.mjs --wallets 6 --seconds 0.2" },
      shows: /3 processes, each for all wallets/,
    },
  ],
  ["npm run sync -- --blocks 20_000", { parts: { "20_000": "100" }, shows: /blocks\/s/ }],
]);

const originalsCommand = "ANULO_TODAY_PROGRAMS=FOLDER npm run interop";

test("each command of CONTRIBUTING is run in one of these ways", () => {
  const all = [...ofCi.keys(), ...tooLong.keys(), ...smaller.keys(), originalsCommand];
  assert.deepEqual(commands.toSorted(), all.toSorted());
});

test("CI runs what takes the whole repository", () => {
  const script = textOf(".ci/run");
  const missing = [...ofCi.values(), "npm test"].filter((text) => !script.includes(text));
  assert.deepEqual(missing, []);
});

test("what takes too long for a test has a script that knows its flags", () => {
  for (const [command, file] of tooLong) {
    assert.ok(existsSync(join(root, file)), file);
    const script = textOf(file);
    const flags = [...command.matchAll(/ --([a-z]+) /g)].map(([, flag]) => flag!);
    assert.notEqual(flags.length, 0);
    for (const flag of flags) assert.match(script, new RegExp(`\\b${flag}\\b`), `${file} --${flag}`);
  }
});

for (const [command, { shows, parts }] of smaller)
  test(`${command}, in a smaller form`, { skip }, async (t) => {
    assert.ok(commands.includes(command));
    assert.match(await shellFor(t, { folder: root }).run(withReplaced(command, parts)), shows);
  });

test("npm run interop, one file of it", needsRealPrograms, async (t) => {
  const { scripts } = JSON.parse(textOf("package.json"));
  const one = withReplaced(scripts.interop, { "test/interop/": "test/interop/same-hashes" });
  assert.match(await shellFor(t, { folder: root }).run(one), /^# fail 0$/m);
});

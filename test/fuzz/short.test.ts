import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../../fuzz/main.mjs", import.meta.url));
/** Seconds for each target; `npm run fuzz` takes a minute. */
const SECONDS = "2";

test("made-up input breaks no decoder and no call", { timeout: 600_000 }, async (t) => {
  const child = spawn(process.execPath, [program, "--seconds", SECONDS], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const printed: Buffer[] = [];
  child.stdout.on("data", (bytes: Buffer) => printed.push(bytes));
  child.stderr.on("data", (bytes: Buffer) => printed.push(bytes));
  const code = await new Promise((resolve) => child.once("close", resolve));
  const output = Buffer.concat(printed).toString();
  t.diagnostic(output.split("\n")[0] ?? "");
  assert.equal(code, 0, output);
  assert.ok((output.match(/^ok /gm) ?? []).length >= 20, output);
});

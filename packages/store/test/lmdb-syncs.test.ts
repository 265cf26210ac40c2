/** What a commit asks of the system, as strace sees it: what a loss of power may leave follows from its order. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const CHANGES = 20;
const ROOT_PAGES_END = 2 * 4096;

/** Writes changes of some sizes, and says on its error output when each begins, and when it is told to be on disk. */
const program = `
import { openLmdbEngine } from ${JSON.stringify(new URL("../src/index.js", import.meta.url))};
const engine = openLmdbEngine(process.argv[1]);
const wallet = Buffer.alloc(16, 7);
const { epoch } = await engine.fence(wallet);
for (let i = 0; i < ${CHANGES}; i++) {
  const puts = [{ table: 1, key: Uint8Array.of(i % 7), value: new Uint8Array(100 + 900 * i) }];
  process.stderr.write("begins");
  await engine.apply(wallet, { epoch, puts, deletes: [{ table: 1, key: Uint8Array.of(i % 3) }] });
  process.stderr.write("on disk");
}
await engine.close();
`;

const canWatch = (): boolean =>
  process.platform === "linux" && spawnSync("strace", ["-qq", "true"]).status === 0;

/**
 * The calls of a trace, in the order in which they were over, one space before each result: strace fills the line up
 * to a column, also after the short rest of a call that another thread interrupted.
 */
function callsOf(text: string): string[] {
  const begun = new Map<string, string>();
  const calls: string[] = [];
  for (const line of text.split("\n")) {
    const [, thread = "", call = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const rest = /^<\.\.\. \w+ resumed>(.*)$/.exec(call)?.[1];
    if (call.endsWith("<unfinished ...>")) {
      begun.set(thread, call.replace(/ *<unfinished \.\.\.>$/, ""));
    } else {
      const whole = rest === undefined ? call : `${begun.get(thread) ?? ""}${rest}`;
      calls.push(whole.replace(/\) += /, ") = "));
    }
  }
  return calls;
}

test("a commit writes its pages, syncs them, then writes its root, which is on disk when that is over", (t) => {
  if (!canWatch()) return t.skip("needs strace");
  const folder = mkdtempSync(join(tmpdir(), "anulo-syncs-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [path, output] = [join(folder, "rows.mdb"), join(folder, "calls")];
  const names = "trace=openat,write,writev,pwrite64,pwritev,pwritev2,fdatasync,fsync";
  const run = [process.execPath, "--input-type=module", "-e", program, path];
  const { status, stderr } = spawnSync("strace", [
    "-f",
    "-qq",
    "-y",
    "-s",
    "8",
    "-e",
    names,
    "-o",
    output,
    ...run,
  ]);
  assert.equal(status, 0, stderr.toString());
  let isSynced = true;
  let syncedAtOnce = "none";
  let rootCount = 0;
  let [begun, told] = [0, 0];
  for (const call of callsOf(readFileSync(output, "utf8"))) {
    if (call.includes('"begins"')) [begun, rootCount] = [begun + 1, 0];
    if (call.includes('"on disk"')) {
      told += 1;
      assert.deepEqual(
        { isSynced, rootCount },
        { isSynced: true, rootCount: 1 },
        "told before it is on disk",
      );
    }
    const opened = /^openat\(.*rows\.mdb", .*O_DSYNC.* = (\d+)</.exec(call)?.[1];
    if (opened !== undefined) syncedAtOnce = opened;
    const [, kind, file] = /^(\w+)\((\d+)<[^>]*rows\.mdb>/.exec(call) ?? [];
    if (kind === undefined) continue;
    if (kind === "fdatasync" || kind === "fsync") isSynced = true;
    else if (file === syncedAtOnce) {
      assert.ok(isSynced, "a root before its pages are synced");
      assert.match(call, /, 128, (?:40|4136)\) = 128$/, "a root is written whole, within a sector");
      rootCount += 1;
    } else {
      isSynced = false;
      const offset = /^pwrite64\(.*, (\d+)\) = /.exec(call)?.[1];
      assert.ok(offset === undefined || Number(offset) >= ROOT_PAGES_END, "a root is written without a sync");
    }
  }
  assert.deepEqual([begun, told], [CHANGES, CHANGES]);
});

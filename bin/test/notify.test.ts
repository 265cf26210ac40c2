import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silent } from "@anulo/rpc";
import { createNotifier, createRateNotifier } from "../src/notify.ts";

/**
 * A program that appends its arguments to a file as a line, and a function that waits until the file has a number of
 * lines.
 */
function recorder() {
  const folder = mkdtempSync(join(tmpdir(), "anulo-"));
  const [program, out] = [join(folder, "program"), join(folder, "out")];
  writeFileSync(out, "");
  writeFileSync(program, `#!/bin/sh\necho "$@" >> ${out}\n`, { mode: 0o755 });
  const read = () => readFileSync(out, "utf8").split("\n").slice(0, -1).sort();
  const linesOnce = async (count: number) => {
    const watcher = watch(out);
    while (read().length < count) await once(watcher, "change");
    watcher.close();
    return read();
  };
  return { folder, program, linesOnce };
}

const context = { log: silent, blockId: (height: number) => new Uint8Array(32).fill(height) };

test("programs are run for blocks and for reorganisations, with what happened in their arguments", async (t) => {
  const { folder, program, linesOnce } = recorder();
  t.after(() => rmSync(folder, { recursive: true }));
  const tell = createNotifier({
    "block-notify": [`${program} block  %s`],
    "reorg-notify": [`${program} reorg %s %h %n %d %x`],
  });
  tell({ type: "blockAdded", height: 9, id: new Uint8Array(32).fill(9) }, context);
  tell({ type: "reorganised", forkHeight: 5, removed: 1, added: 2 }, context);
  tell({ type: "blocksPopped", height: 5, removed: 1 }, context);
  const block = (height: number) => `block ${`0${height}`.repeat(32)}`;
  assert.deepEqual(await linesOnce(4), [block(6), block(7), block(9), "reorg 6 8 2 1 %x"]);
});

test("a program is run when blocks come at an odd rate", async (t) => {
  const { folder, program, linesOnce } = recorder();
  t.after(() => rmSync(folder, { recursive: true }));
  const tell = createRateNotifier({ "block-rate-notify": [`${program} %t %b %e`] }, silent);
  tell({ minutes: 90, blocks: 7, expected: 45 });
  assert.deepEqual(await linesOnce(1), ["90 7 45"]);
});

test("a program that is not there is refused at the start", () => {
  const settings = { "block-notify": ["/nowhere %s"], "reorg-notify": [] };
  assert.throws(() => createNotifier(settings), { message: "--block-notify: not a program: /nowhere" });
});

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { createLog } from "@anulo/rpc";
import { chainFlags, chainPlaceOf } from "../src/chain-flags.ts";
import { parseFlags } from "../src/flags.ts";
import { nameFoundChain } from "../src/found-chain.ts";
import { createProgressBar } from "../src/progress.ts";

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "anulo test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The command logged at the start of a node with these flags. */
function toldAt(...args: readonly string[]): unknown {
  const told: unknown[] = [];
  const log = createLog({ write: ({ fields }) => void told.push(fields.toImportIt), categories: undefined });
  const flags = parseFlags(chainFlags, args);
  nameFoundChain(chainPlaceOf(flags), flags, log);
  assert.ok(told.length <= 1);
  return told[0];
}

test("a chain of monerod in our data folder is named with the command that imports it", (t) => {
  const folder = folderOf(t);
  const put = (path: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), "");
  };
  assert.equal(toldAt("--testnet", "--data-dir", folder), undefined);
  put("testnet/lmdb/data.mdb");
  const command = `anulo import --testnet --data-dir '${folder}' --from '${folder}'`;
  assert.equal(toldAt("--testnet", "--data-dir", folder), command);
  assert.equal(toldAt("--regtest", "--data-dir", folder), undefined);
  put("lmdb/data.mdb");
  assert.equal(toldAt("--data-dir", folder), `anulo import --data-dir '${folder}' --from '${folder}'`);
  put("testnet/chain.mdb");
  assert.equal(toldAt("--testnet", "--data-dir", folder), undefined);
});

test("progress is a bar on a terminal, elsewhere a line now and then", () => {
  const show = (isTTY: boolean) => {
    let [shown, now] = ["", 0];
    const write = (text: string) => {
      shown += text;
      return true;
    };
    const bar = createProgressBar("imported", { isTTY, write }, () => now);
    for (let height = 0; height <= 100; height += 10) {
      now = height * 100;
      bar.show({ height, done: height / 100 });
    }
    bar.end();
    return shown;
  };
  assert.equal(show(false), "imported 50 blocks, 50.0 %, 5 s left\nimported 100 blocks, 100.0 %, 0 s left\n");
  assert.match(show(true), /\r\[#{15} {15}\] imported 50 blocks, 50\.0 %, 5 s left\S*\r.*\n$/s);
});

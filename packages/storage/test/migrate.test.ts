import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { DamagedDatabase, WrongDatabase } from "../src/damage.ts";
import { openEnvironment, type Tables } from "../src/environment.ts";
import { createFlusher } from "../src/flusher.ts";
import type { MigrationProgress } from "../src/migrate.ts";
import { openStore, type StoreOptions } from "../src/open-store.ts";
import { defaultSyncMode } from "../src/sync-mode.ts";

/** A regtest chain of 450 blocks in schema 2, made by the node of commit d98b8ac, the last with that schema. */
const fixture = new URL("../../test/fixtures/schema-2.mdb.br", import.meta.url);
const BLOCKS = 450;
const TOP_ID = "6cdd98bec18dcc3a9fa07ac34f31d49f0762f8a9b07cb3ac6f456aa8ad1059ed";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "anulo-migrate-"));
  path = join(folder, "chain.mdb");
  writeFileSync(path, brotliDecompressSync(readFileSync(fixture)));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (options: Partial<StoreOptions> = {}) => openStore({ path, network: "regtest", ...options });

/** Opens the file and compares what the migration added with the rows it was made of. */
async function checkMigrated(): Promise<MigrationProgress[]> {
  const progress: MigrationProgress[] = [];
  const store = await open({ onMigration: (step) => progress.push(step), checkAll: true });
  const { read } = store;
  assert.equal(read.height(), BLOCKS);
  assert.equal(Buffer.from(read.blockInfo(BLOCKS - 1)!.hash).toString("hex"), TOP_ID);
  const weights = [...read.blockInfoColumn("longTermWeight", 0, BLOCKS)];
  const rows = Array.from({ length: BLOCKS }, (_, height) => read.blockInfo(height)!.longTermWeight);
  assert.deepEqual(weights, rows);
  store.write((writer) => writer.popBlock(() => ({ keyImages: [], outputAmounts: [0n] })));
  assert.equal([...read.blockInfoColumn("longTermWeight", 0, BLOCKS)].length, BLOCKS - 1);
  await store.close();
  return progress;
}

/** Changes rows as another program would, on disk: what was never flushed is given up in a later boot of the system. */
async function changeRows(change: (tables: Tables) => void): Promise<void> {
  const environment = openEnvironment(path);
  const { root, tables } = environment;
  const flusher = createFlusher({ environment, path, mode: defaultSyncMode, onFault: assert.ifError });
  await flusher.flush();
  root.transactionSync(() => change(tables));
  flusher.written({ blocks: 0, bytes: 0 });
  await flusher.close();
  await root.close();
}

async function writeSchema(schema: string): Promise<void> {
  await changeRows(({ properties }) => properties.put("schema", Buffer.from(schema)));
}

async function readSchema(): Promise<string> {
  const { root, tables } = openEnvironment(path, { readOnly: true });
  const schema = Buffer.from(tables.properties.get("schema")!).toString();
  await root.close();
  return schema;
}

test("a database of schema 2 is migrated when it is opened, tells how far it is, and is of schema 3 then", async () => {
  const progress = await checkMigrated();
  assert.deepEqual(
    progress.map(({ from, to, done, of }) => [from, to, done, of]),
    [
      [2, 3, 200, BLOCKS],
      [2, 3, 400, BLOCKS],
      [2, 3, BLOCKS, BLOCKS],
    ],
  );
  assert.equal(await readSchema(), "3");
  const again: MigrationProgress[] = [];
  await (await open({ onMigration: (step) => again.push(step) })).close();
  assert.deepEqual(again, []);
});

test("killed after any of its commits, a migration goes on from there at the next opening", async () => {
  const program = fileURLToPath(new URL("./migrate-and-die.js", import.meta.url));
  const original = `${path}.original`;
  copyFileSync(path, original);
  for (const commits of [0, 1, 2]) {
    copyFileSync(original, path);
    const { signal, stderr } = spawnSync(process.execPath, [program, path, `${commits}`]);
    assert.equal(signal, "SIGKILL", String(stderr));
    assert.equal(await readSchema(), "2>3");
    const progress = await checkMigrated();
    const done = Math.min(BLOCKS, (commits + 1) * 200);
    assert.equal(progress[0]!.done, Math.min(BLOCKS, done + 200), `killed after ${done} blocks`);
    assert.equal(await readSchema(), "3");
  }
});

test("a migration that is told to end ends after a commit, and goes on at the next opening", async () => {
  const stop = new AbortController();
  const onMigration = () => stop.abort(new Error("the node was stopped"));
  await assert.rejects(open({ onMigration, signal: stop.signal }), /the node was stopped/);
  assert.equal(await readSchema(), "2>3");
  assert.equal((await checkMigrated())[0]!.done, 400);
});

test("a file of a newer schema, or on its way to one, is refused by its number and left as it is", async () => {
  for (const [schema, version] of [
    ["4", 4],
    ["3>4", 4],
    ["2>5", 5],
  ] as const) {
    await writeSchema(schema);
    await assert.rejects(open(), (error) => {
      assert.ok(error instanceof WrongDatabase);
      const reason = `has schema ${version}, made by a newer release; this one reads up to 3`;
      assert.ok(error.message.includes(reason), error.message);
      return true;
    });
    assert.equal(await readSchema(), schema);
  }
});

test("a file from before checksums, or with a schema that is none, is refused", async () => {
  await writeSchema("1");
  await assert.rejects(open(), /schema 1, which is too old to be migrated; this release migrates from 2 on/);
  for (const schema of ["", "two", "2>", "-2", "3 "]) {
    await writeSchema(schema);
    await assert.rejects(open(), DamagedDatabase, schema);
  }
});

test("a database of another network is refused before anything of it is migrated", async () => {
  await assert.rejects(open({ network: "mainnet" }), /belongs to regtest, not to mainnet/);
  assert.equal(await readSchema(), "2");
});

test("a row that is not what was written ends the migration, which is not called done", async () => {
  await changeRows(({ blockInfo }) => blockInfo.remove(250));
  await assert.rejects(open(), DamagedDatabase);
  assert.equal(await readSchema(), "2>3");
});

/** Files that the binding does not open, which would end the process: they are refused before. */
import assert from "node:assert/strict";
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openLater, openLmdbEngine, StoreUnavailable } from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-files-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const wallet = Buffer.alloc(16, 7);

async function makeWith(path: string, rows: number): Promise<void> {
  const engine = openLmdbEngine(path);
  const { epoch } = await engine.fence(wallet);
  for (let i = 0; i < rows; i++) {
    const row = { table: 1, key: Uint8Array.of(i + 1), value: new Uint8Array(2000).fill(i) };
    await engine.apply(wallet, { epoch, puts: [row], deletes: [] });
  }
  await engine.close();
}

test("a new database is there whole, with its lock file, and nothing else", async () => {
  const path = join(folder, "new", "deeper", "rows.mdb");
  await makeWith(path, 0);
  assert.deepEqual(readdirSync(join(folder, "new", "deeper")).sort(), ["rows.mdb", "rows.mdb-lock"]);
  await makeWith(path, 3);
});

test("several that create one at once have the same one", async () => {
  const path = join(folder, "together.mdb");
  const first = openLmdbEngine(path);
  const second = openLmdbEngine(path);
  const { epoch } = await first.fence(wallet);
  assert.deepEqual(await second.markOf(wallet), { epoch, sequence: 0 });
  await Promise.all([first.close(), second.close()]);
});

test("what is no database, of another format, or truncated, is refused", async () => {
  const path = join(folder, "bad.mdb");
  await makeWith(path, 20);
  const copy = join(folder, "copy.mdb");
  const changes: readonly [RegExp, () => void][] = [
    [/no LMDB database/, () => writeFileSync(copy, Buffer.alloc(20_000, 1))],
    [/ends inside its first pages/, () => truncateSync(copy, 0)],
    [/ends inside its first pages/, () => truncateSync(copy, 4096)],
    [/bytes where/, () => truncateSync(copy, 16_384)],
  ];
  for (const [reason, damage] of changes) {
    copyFileSync(path, copy);
    damage();
    assert.throws(() => openLmdbEngine(copy), reason);
  }
  copyFileSync(path, copy);
  rmSync(`${copy}-lock`, { force: true });
  await makeWith(copy, 1);
});

test("a database that can't be opened yet is opened by the first call for which it can", async () => {
  const [path, file] = [join(folder, "later", "rows.mdb"), join(folder, "later")];
  writeFileSync(file, "no folder");
  const engine = openLater(() => openLmdbEngine(path), new Error("before"));
  await assert.rejects(engine.markOf(wallet), StoreUnavailable);
  await assert.rejects(engine.fence(wallet), StoreUnavailable);
  rmSync(file);
  assert.equal(await engine.markOf(wallet), undefined);
  assert.equal((await engine.fence(wallet)).epoch, 1);
  assert.ok(existsSync(path));
  await engine.close();
  await assert.rejects(engine.markOf(wallet), StoreUnavailable);
});

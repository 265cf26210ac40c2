/** Copies of wallets whose ledgers are in journals: what is copied, put back, put aside, and left as it is. */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { backupWallets, restoreWallets } from "../src/file/backup.ts";
import { writeName } from "../src/file/store-name.ts";
import { takeLock } from "../src/file/wallet-lock.ts";
import { fileOperations } from "./file-operations.ts";
import { folderOf } from "./folder-of.ts";

function world(t: TestContext) {
  const root = folderOf(t);
  const place = { folder: join(root, "wallets"), copies: join(root, "copies"), engine: undefined };
  for (const folder of [place.folder, place.copies]) mkdirSync(folder);
  const write = (where: "folder" | "copies", name: string, text: string) =>
    writeFileSync(join(place[where], name), text);
  const read = (where: "folder" | "copies", name: string) => readFileSync(join(place[where], name), "utf8");
  const names = (where: "folder" | "copies") => readdirSync(place[where]).sort();
  return { root, place, write, read, names };
}

const reasons = ({ failures }: Awaited<ReturnType<typeof backupWallets>>) =>
  failures.map(({ name, reason }) => `${name}: ${reason}`).join("\n");

test("keys and journals are copied, and no other file", async (t) => {
  const { place, write, read, names } = world(t);
  for (const name of ["a.keys", "a.anulo", "b.keys", "b", "b.address.txt", "c.anulo"])
    write("folder", name, name);
  assert.deepEqual(await backupWallets(place), { count: 2, failures: [] });
  assert.deepEqual(names("copies"), ["a.anulo", "a.keys", "b.keys"]);
  for (const name of names("copies")) assert.equal(read("copies", name), name);
  await assert.rejects(backupWallets(place), /is not empty/);
  rmSync(place.copies, { recursive: true });
  assert.equal((await backupWallets(place, "b")).count, 1);
  assert.deepEqual(names("copies"), ["b.keys"]);
});

test("a copied journal is on disk before there are keys beside it", async (t) => {
  const { place, write } = world(t);
  for (const name of ["a.keys", "a.anulo"]) write("folder", name, name);
  const operations = await fileOperations(place.copies, () => backupWallets(place));
  const [synced, linked] = ["sync a.anulo", "link a.keys.new a.keys"].map((each) => operations.indexOf(each));
  assert.ok(synced! >= 0 && synced! < linked!);
  assert.equal(operations[synced! + 1], "close a.anulo");
  assert.deepEqual(operations.slice(-2), ["sync the folder", "close the folder"]);
});

test("a wallet that can't be copied is told with the reason, and the others are copied", async (t) => {
  const { place, write, names } = world(t);
  write("folder", "a.keys", "keys");
  write("folder", "b.keys", "keys");
  write("folder", "large.keys", "");
  truncateSync(join(place.folder, "large.keys"), 64 * 2 ** 20 + 1);
  await writeName(join(place.folder, "b.anulo"), new Uint8Array(16).fill(5));
  const result = await backupWallets(place);
  assert.equal(result.count, 1);
  assert.match(
    reasons(result),
    /^b: its history is in a store: name it by --store\nlarge: .*too large for a keys file$/,
  );
  assert.deepEqual(names("copies"), ["a.keys"]);
  rmSync(place.copies, { recursive: true });
  assert.match(reasons(await backupWallets(place, "none")), /^none: there is no file .*none\.keys$/);
});

test("a wallet whose keys are being replaced is not copied by halves", async (t) => {
  const { place, write, names } = world(t);
  for (const name of ["a.keys", "a.anulo", "a.anulo.next"]) write("folder", name, name);
  const result = await backupWallets(place);
  assert.match(reasons(result), /its keys are being replaced; if they are not, open it once/);
  assert.deepEqual([result.count, names("copies")], [0, []]);
});

test("all of more names than are read at once are tried", async (t) => {
  const { place } = world(t);
  for (let i = 0; i < 257; i++) mkdirSync(join(place.folder, `w${1000 + i}.keys`));
  const { count, failures } = await backupWallets(place);
  assert.deepEqual([count, failures.length, failures.at(-1)!.name], [0, 257, "w1256"]);
});

test("a copy is put back where there is no wallet of its name", async (t) => {
  const { place, write, read, names } = world(t);
  for (const name of ["a.keys", "a.anulo", "b.keys"]) write("copies", name, `copied ${name}`);
  write("folder", "c.keys", "another");
  assert.deepEqual(await restoreWallets(place, { replaces: false }), { count: 2, failures: [] });
  assert.deepEqual(names("folder"), ["a.anulo", "a.keys", "b.keys", "c.keys"]);
  for (const name of ["a.keys", "a.anulo", "b.keys"]) assert.equal(read("folder", name), `copied ${name}`);
  rmSync(place.folder, { recursive: true });
  assert.equal((await restoreWallets(place, { only: "b", replaces: false })).count, 1);
  assert.deepEqual(names("folder"), ["b.keys"]);
});

test("what is there is left as it is, or put aside where it is to be replaced", async (t) => {
  for (const there of [["a.keys", "a.anulo"], ["a.keys"], ["a.anulo"]]) {
    const { place, write, read, names } = world(t);
    for (const name of ["a.keys", "a.anulo"]) write("copies", name, "copied");
    for (const name of there) write("folder", name, "old");
    const result = await restoreWallets(place, { replaces: false });
    assert.match(reasons(result), /^a: it is there already: --replace/);
    assert.deepEqual([result.count, names("folder")], [0, [...there].sort()]);
    assert.equal((await restoreWallets(place, { replaces: true })).count, 1);
    const aside = there.map((name) => `${name}.old`);
    assert.deepEqual(names("folder"), ["a.anulo", "a.keys", ...aside].sort());
    for (const name of aside) assert.equal(read("folder", name), "old");
    for (const name of ["a.keys", "a.anulo"]) assert.equal(read("folder", name), "copied");
  }
});

test("a copy without a journal leaves none beside its keys, and one that lacks its rows is not put back", async (t) => {
  const { place, write, names, read } = world(t);
  write("copies", "a.keys", "copied");
  write("folder", "a.anulo", "old");
  assert.equal((await restoreWallets(place, { replaces: true })).count, 1);
  assert.deepEqual(names("folder"), ["a.anulo.old", "a.keys"]);
  assert.equal(read("folder", "a.keys"), "copied");
  write("copies", "b.keys", "copied");
  await writeName(join(place.copies, "b.anulo"), new Uint8Array(16).fill(5));
  const result = await restoreWallets(place, { only: "b", replaces: false });
  assert.match(reasons(result), /^b: the copy lacks its rows, which are in a store$/);
  write("copies", "c.keys", "copied");
  write("copies", "c.rows", "rows");
  const other = await restoreWallets(place, { only: "c", replaces: false });
  assert.match(reasons(other), /^c: its history is for a store: name it by --store$/);
  assert.ok(names("folder").every((name) => name.startsWith("a.")));
});

test("a wallet that a service has open is not replaced, and is free for others once that is told", async (t) => {
  const { place, write, read } = world(t);
  write("copies", "a.keys", "copied");
  const lock = join(place.folder, "a.anulo.lock");
  const unlock = await takeLock(lock);
  const held = await restoreWallets(place, { replaces: true });
  assert.match(reasons(held), /another service has it open/);
  assert.ok(!existsSync(join(place.folder, "a.keys")));
  await unlock();
  assert.equal((await restoreWallets(place, { replaces: true })).count, 1);
  assert.equal(read("folder", "a.keys"), "copied");
  assert.equal((await restoreWallets(place, { replaces: false })).count, 0);
  assert.ok(!existsSync(lock), "also where it was refused");
});

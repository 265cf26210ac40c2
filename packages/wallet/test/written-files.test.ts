/** Files that are written: on disk before their names are, closed, for their owner alone, and nothing else is left. */
import assert from "node:assert/strict";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openAccessFolder, TokenFile } from "../src/file/access-folder.ts";
import { folderId } from "../src/file/folder-id.ts";
import { Journal } from "../src/file/journal.ts";
import { LineFile } from "../src/file/line-file.ts";
import { replaceFile } from "../src/file/replace-file.ts";
import { readServiceKey } from "../src/file/service-key.ts";
import { writeName } from "../src/file/store-name.ts";
import { createKeysImage, pathsOfFile, writeAddressFile, writeKeysImage } from "../src/file/wallet-files.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { fileOperations } from "./file-operations.ts";
import { folderOf } from "./folder-of.ts";

const modeOf = (...path: string[]): string => (statSync(join(...path)).mode & 0o777).toString(8);
const syncedFolder = ["sync the folder", "close the folder"];

test("a file is replaced once the new one is on disk", async (t) => {
  const folder = folderOf(t);
  const path = join(folder, "a");
  const operations = await fileOperations(folder, () => replaceFile(path, "text"));
  const expected = ["writeFile a.new", "sync a.new", "close a.new", "rename a.new a", ...syncedFolder];
  assert.deepEqual(operations, expected);
  assert.deepEqual([readFileSync(path, "utf8"), modeOf(path)], ["text", "600"]);
  mkdirSync(join(folder, "b", "c"), { recursive: true });
  await assert.rejects(replaceFile(join(folder, "b"), "text"));
  assert.deepEqual(readdirSync(folder).sort(), ["a", "b"], "what could not be put in its place is removed");
});

test("lines are on disk one by one, also after all were replaced, and a torn one is gone", async (t) => {
  const folder = folderOf(t);
  const path = join(folder, "l");
  const file = await LineFile.open(path);
  assert.deepEqual(file.lines, []);
  assert.equal(modeOf(path), "600");
  await file.close();
  const operations = await fileOperations(folder, async () => {
    const lines = await LineFile.open(path);
    await lines.append("one");
    await lines.replace(["two", "three"]);
    await lines.append("four");
    await lines.close();
  });
  assert.deepEqual(operations, [
    ...["appendFile l", "datasync l", "writeFile l.new", "sync l.new", "close l.new", "rename l.new l"],
    ...[...syncedFolder, "close l", "appendFile l", "datasync l", "close l"],
  ]);
  const text = readFileSync(path, "latin1");
  assert.equal(modeOf(path), "600");
  const again = async (changed: string) => {
    writeFileSync(path, changed);
    const opened = await LineFile.open(path);
    await opened.close();
    return [opened.lines, readFileSync(path, "latin1")];
  };
  assert.deepEqual(await again(text), [["two", "three", "four"], text]);
  const cut = text.slice(0, -1);
  const first = text.slice(0, text.lastIndexOf("\n", text.length - 2) + 1);
  assert.deepEqual(await again(cut), [["two", "three"], first], "the torn line is removed");
  assert.deepEqual(await again(""), [[], ""]);
  const last = await LineFile.open(path);
  await last.replace(["one", "line 1"]);
  await last.close();
  // Of the second checksum the first digit is 0, and must not be left out.
  assert.equal(readFileSync(path, "latin1"), "7a6c86f1 one\n0b69d6dd line 1\n");
  const lines = await LineFile.open(path);
  await lines.close();
  assert.deepEqual(lines.lines, ["one", "line 1"]);
});

test("a line that was changed anywhere is an error that says which", async (t) => {
  const path = join(folderOf(t), "l");
  const file = await LineFile.open(path);
  await file.append("one");
  await file.append("two");
  await file.close();
  const text = readFileSync(path, "latin1");
  const begin = text.indexOf("\n") + 1;
  for (let at = begin; at < text.length - 1; at++) {
    writeFileSync(path, `${text.slice(0, at)}${text[at] === "x" ? "y" : "x"}${text.slice(at + 1)}`);
    await assert.rejects(LineFile.open(path), /^Error: line 2 is damaged$/, `character ${at}`);
  }
  rmSync(path);
  mkdirSync(path);
  await assert.rejects(LineFile.open(path), { code: "EISDIR" });
});

test("a service's key is made once, and one of another length is refused", async (t) => {
  const folder = folderOf(t);
  const path = join(folder, "made", "key");
  const operations = await fileOperations(join(folder, "made"), () => readServiceKey(path));
  assert.deepEqual(operations, ["writeFile key", "sync key", "close key", ...syncedFolder]);
  assert.deepEqual([modeOf(path), modeOf(folder, "made")], ["600", "700"]);
  const key = await readServiceKey(path);
  assert.equal(key.length, 32);
  assert.deepEqual(await readServiceKey(path), key);
  const refused = (message: RegExp) => (error: Error) => {
    assert.ok(error instanceof WalletRefusal);
    assert.match(error.message, message);
    return true;
  };
  for (const length of [31, 33]) {
    writeFileSync(path, Buffer.alloc(length));
    await assert.rejects(readServiceKey(path), refused(new RegExp(`has ${length} bytes, not 32`)));
  }
  await assert.rejects(readServiceKey(folder), refused(/key can't be had: EISDIR/));
  await assert.rejects(readServiceKey(join(path, "below")), refused(/key can't be had: ENOTDIR/));
});

test("a folder's id is on disk before others can see it", async (t) => {
  const folder = folderOf(t);
  const operations = await fileOperations(folder, () => folderId(folder));
  assert.deepEqual(operations, [
    ...["writeFile folder.new", "sync folder.new", "link folder.new folder", "close folder.new"],
    ...syncedFolder,
  ]);
});

test("a wallet's name is on disk before it takes the place of another", async (t) => {
  const folder = folderOf(t);
  const [path, id] = [join(folder, "w.anulo"), new Uint8Array(16).fill(7)];
  const operations = await fileOperations(folder, () => writeName(path, id));
  const written = ["writeFile w.anulo.new", "sync w.anulo.new", "close w.anulo.new"];
  assert.deepEqual(operations, [...written, "rename w.anulo.new w.anulo", ...syncedFolder]);
  assert.equal(modeOf(path), "600");
  mkdirSync(join(folder, "v.anulo", "x"), { recursive: true });
  await assert.rejects(writeName(join(folder, "v.anulo"), id));
  assert.deepEqual(readdirSync(folder).sort(), ["v.anulo", "w.anulo"]);
});

test("a new keys file is on disk before it has its name, which it takes from nobody", async (t) => {
  const folder = folderOf(t);
  const paths = pathsOfFile(join(folder, "w"));
  const operations = await fileOperations(folder, () => createKeysImage(paths, new Uint8Array(3)));
  const written = ["writeFile w.keys.new", "sync w.keys.new", "close w.keys.new"];
  assert.deepEqual(operations, [...written, "link w.keys.new w.keys", ...syncedFolder]);
  assert.equal(modeOf(paths.keys), "600");
  assert.equal(await createKeysImage(paths, new Uint8Array(4)), false);
  assert.deepEqual(readFileSync(paths.keys), Buffer.alloc(3));
  assert.deepEqual(readdirSync(folder), ["w.keys"]);
});

test("a keys file that can't take its place leaves nothing, and the address is for its owner alone", async (t) => {
  const folder = folderOf(t);
  const paths = pathsOfFile(join(folder, "w"));
  mkdirSync(join(paths.keys, "x"), { recursive: true });
  await assert.rejects(
    writeKeysImage(paths, new Uint8Array(3)),
    (error) => !(error instanceof WalletRefusal),
  );
  assert.deepEqual(readdirSync(folder), ["w.keys"]);
  await writeAddressFile(paths, "4 address");
  const [name] = readdirSync(folder).filter((each) => each !== "w.keys");
  assert.equal(readFileSync(join(folder, name!), "utf8"), "4 address");
});

test("a journal that can't take its place leaves nothing, and what it has is for its owner alone", async (t) => {
  const folder = folderOf(t);
  const [path, secret] = [join(folder, "j"), new Uint8Array(32).fill(7)];
  const operations = await fileOperations(folder, async () => {
    const journal = await Journal.create(path, secret, [new Uint8Array(3)]);
    await journal.append(new Uint8Array(4));
    await journal.close();
  });
  assert.deepEqual(operations, [
    ...["writeFile j.new", "sync j.new", "rename j.new j", ...syncedFolder],
    ...["write j.new", "datasync j.new", "write j.new", "close j.new"],
  ]);
  assert.equal(modeOf(path), "600");
  appendFileSync(path, Buffer.alloc(1));
  const cut = await fileOperations(folder, async () => {
    const { journal, wasCut } = await Journal.open(path, secret);
    assert.ok(wasCut);
    await journal.close();
  });
  assert.deepEqual(cut.slice(0, 2), ["truncate j", "sync j"]);
  mkdirSync(join(folder, "k", "x"), { recursive: true });
  const failed = await fileOperations(folder, async () => {
    await assert.rejects(Journal.create(join(folder, "k"), secret, [new Uint8Array(3)]));
  });
  assert.equal(failed.at(-1), "close k.new");
  assert.deepEqual(readdirSync(folder).sort(), ["j", "k"]);
});

test("a token has its name once it is stored, and takes no other's", async (t) => {
  const folder = folderOf(t);
  const file = new TokenFile(join(folder, "t"));
  assert.equal(await file.readPrepared(), undefined);
  await file.prepare("secret");
  assert.equal(await file.readPrepared(), "secret");
  assert.ok(!existsSync(join(folder, "t")));
  const operations = await fileOperations(folder, () => file.publish());
  assert.deepEqual(operations, ["link t.new t", ...syncedFolder]);
  assert.deepEqual([readFileSync(join(folder, "t"), "utf8"), modeOf(folder, "t")], ["secret\n", "600"]);
  assert.deepEqual(readdirSync(folder), ["t"]);
  await assert.rejects(file.prepare("other"), /t is there already/);
  writeFileSync(join(folder, "t.new"), "other");
  await assert.rejects(file.publish(), /Tokens can't be kept: .*t is there already/);
  assert.equal(readFileSync(join(folder, "t"), "utf8"), "secret\n");
  const elsewhere = new TokenFile(join(folder, "absent", "t"));
  await assert.rejects(elsewhere.publish(), /Tokens can't be kept: ENOENT/);
});

test("tokens are kept in a folder that one service has open, and that others may open later", async (t) => {
  const path = join(folderOf(t), "access");
  const opened = await openAccessFolder(path);
  assert.deepEqual([opened.tokens, modeOf(path)], [undefined, "700"]);
  await assert.rejects(openAccessFolder(path), WalletRefusal);
  await opened.keepTokens("all of them");
  await opened.spent.append("1");
  await opened.close();
  assert.deepEqual(readdirSync(path).sort(), ["spent", "tokens"]);
  const again = await openAccessFolder(path);
  assert.deepEqual([again.tokens, again.spent.lines], ["all of them", ["1"]]);
  await again.close();
  await assert.rejects(again.spent.append("2"));
  writeFileSync(join(path, "spent"), "damaged\n");
  for (let i = 0; i < 2; i++)
    await assert.rejects(openAccessFolder(path), /Tokens can't be kept: line 1 is damaged/);
  assert.ok(!existsSync(join(path, "lock")));
  rmSync(join(path, "tokens"));
  mkdirSync(join(path, "tokens"));
  writeFileSync(join(path, "spent"), "");
  await assert.rejects(openAccessFolder(path), /Tokens can't be kept: EISDIR/);
});

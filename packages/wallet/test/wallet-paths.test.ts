/** Where the files of a wallet are, and what becomes of those in the way. */
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  addressesFileOf,
  createKeysImage,
  nextFolderOf,
  pathsOfFile,
  putCacheAside,
  putKeysAside,
  putStoreAside,
  readCacheId,
  readCacheImage,
  readKeysImage,
  removeFiles,
  removeNextFolder,
  walletExists,
  walletNameOf,
  walletNames,
  walletPaths,
  writeAddressFile,
  writeKeysAndCache,
  writeKeysImage,
} from "../src/file/wallet-files.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { folderOf } from "./folder-of.ts";

const refused = (kind: string, message: RegExp) => (error: Error) => {
  assert.ok(error instanceof WalletRefusal);
  assert.equal(error.kind, kind);
  assert.match(error.message, message);
  return true;
};

test("a wallet's files are beside each other, whatever the ending of its name and of the folder", () => {
  const expected = {
    ...{ base: "/f/w", keys: "/f/w.keys", store: "/f/w.anulo" },
    ...{ lock: "/f/w.anulo.lock", nextCache: "/f/w.anulo.cache" },
  };
  assert.deepEqual(pathsOfFile("/f/w"), expected);
  assert.deepEqual(pathsOfFile("/f/w.keys"), expected);
  for (const folder of ["/f", "/f/", "/f//"]) assert.deepEqual(walletPaths(folder, "w"), expected);
  assert.equal(pathsOfFile("/f/w.keys.x").base, "/f/w.keys.x");
  assert.equal(addressesFileOf(expected), "/f/w.anulo.addresses");
  assert.deepEqual([walletNameOf("w.keys"), walletNameOf("w")], ["w", "w"]);
  const folder = nextFolderOf("/store", expected);
  assert.match(folder, /^\/store\/next\/[0-9a-f]{64}$/);
  assert.equal(nextFolderOf("/store", pathsOfFile("/other/w")), folder);
  assert.notEqual(nextFolderOf("/store", pathsOfFile("/f/v")), folder);
});

test("a name may be as long as its longest file's may be, and may leave its folder nowhere", () => {
  const most = 255 - ".address.txt".length;
  assert.equal(walletPaths("/f", "w".repeat(most)).base, `/f/${"w".repeat(most)}`);
  assert.equal(walletPaths("/f", "ü".repeat(Math.floor(most / 2))).base.length, 3 + Math.floor(most / 2));
  for (const name of ["w".repeat(most + 1), "ü".repeat(Math.ceil(most / 2)), "a/b", "a\0b"])
    assert.throws(() => walletPaths("/f", name), refused("UNKNOWN_ERROR", /Invalid filename/));
});

test("either of the original's files makes a wallet, and a journal alone does not", async (t) => {
  const paths = pathsOfFile(join(folderOf(t), "w"));
  writeFileSync(paths.store, "");
  assert.equal(await walletExists(paths), false);
  writeFileSync(paths.base, "");
  assert.equal(await walletExists(paths), true);
  rmSync(paths.base);
  writeFileSync(paths.keys, "");
  assert.equal(await walletExists(paths), true);
});

test("names come in order, the first so many behind another that are accepted", async (t) => {
  const folder = folderOf(t);
  for (const name of ["b", "c", "a", "e", "d"]) writeFileSync(join(folder, `${name}.keys`), "");
  for (const other of ["f", "g.anulo", ".keys", "h.keysx", "i.address.txt"])
    writeFileSync(join(folder, other), "");
  const names = (after: string, limit: number, accepts?: (name: string) => boolean) =>
    walletNames(folder, { after, limit, ...(accepts && { accepts }) });
  assert.deepEqual(await names("", 9), ["a", "b", "c", "d", "e"]);
  assert.deepEqual(await names("", 5), ["a", "b", "c", "d", "e"]);
  assert.deepEqual(await names("", 2), ["a", "b"]);
  assert.deepEqual(await names("b", 2), ["c", "d"]);
  assert.deepEqual(await names("e", 2), []);
  assert.deepEqual(await names("", 2, (name) => name !== "a" && name !== "c"), ["b", "d"]);
});

test("what is in the way is put aside under the next free name", async (t) => {
  const folder = folderOf(t);
  const paths = pathsOfFile(join(folder, "w"));
  for (const [path, putAside] of [
    [paths.base, putCacheAside],
    [paths.store, putStoreAside],
    [paths.keys, putKeysAside],
  ] as const) {
    await putAside(paths);
    for (const ending of ["old", "old2", "old3"]) {
      writeFileSync(path, ending);
      await putAside(paths);
      assert.ok(!existsSync(path));
      assert.equal(readFileSync(`${path}.${ending}`, "utf8"), ending);
    }
  }
  assert.equal(readdirSync(folder).length, 9);
});

test("files that are not there are told as none, and what is no file is an error", async (t) => {
  const folder = folderOf(t);
  const paths = pathsOfFile(join(folder, "w"));
  const reads = [readKeysImage, readCacheImage, readCacheId];
  for (const read of reads) assert.equal(await read(paths), undefined);
  writeFileSync(paths.base, Buffer.from("0102030405060708090a", "hex"));
  assert.equal(await readCacheId(paths), "0102030405060708");
  writeFileSync(paths.base, Buffer.from("010203", "hex"));
  assert.equal(await readCacheId(paths), "010203");
  rmSync(paths.base);
  for (const path of [paths.base, paths.keys]) mkdirSync(path);
  for (const read of reads) await assert.rejects(read(paths), { code: "EISDIR" });
});

test("a wallet that could not be created leaves none of its files", async (t) => {
  const folder = folderOf(t);
  const paths = pathsOfFile(join(folder, "w"));
  await writeAddressFile(paths, "an address");
  assert.equal(statSync(`${paths.base}.address.txt`).mode & 0o777, 0o600);
  for (const path of [paths.keys, paths.store, addressesFileOf(paths)]) writeFileSync(path, "");
  writeFileSync(join(folder, "v.keys"), "");
  await removeFiles(paths);
  assert.deepEqual(readdirSync(folder), ["v.keys"]);
  await removeFiles(paths);
});

/** A fence whose owner does something when it is asked, and the wallet behind it. */
function fenced(t: TestContext) {
  const folder = folderOf(t);
  const paths = pathsOfFile(join(folder, "w"));
  const behind = join(folder, "next", "w");
  writeFileSync(paths.keys, "old");
  const fence = (confirm: () => Promise<void>) => ({ folder: behind, confirm });
  const text = (path: string) => readFileSync(path, "utf8");
  return { paths, behind, fence, text };
}

const images = { keys: Buffer.from("new"), cache: Buffer.from("new cache") };

test("behind a fence files take their places once their owner is sure", async (t) => {
  const { paths, behind, fence, text } = fenced(t);
  const seen: string[][] = [];
  const sure = async () => void seen.push(readdirSync(behind), [text(paths.keys)]);
  await writeKeysAndCache(paths, images, fence(sure));
  assert.equal(seen[0]!.length, 2, "both are written");
  assert.deepEqual(seen[1], ["old"], "and neither has its place");
  assert.deepEqual([text(paths.keys), text(paths.base)], ["new", "new cache"]);
  assert.deepEqual(readdirSync(behind), []);
  assert.equal(statSync(behind).mode & 0o777, 0o700);
  await writeKeysImage(paths, Buffer.from("third"), fence(sure));
  assert.equal(text(paths.keys), "third");
});

test("a service that has lost a wallet changes nothing of it, however late it finds out", async (t) => {
  const { paths, behind, fence, text } = fenced(t);
  const lost = async () => {
    throw new WalletRefusal("UNOWNED", "it is another's");
  };
  await assert.rejects(writeKeysAndCache(paths, images, fence(lost)), refused("UNOWNED", /it is another's/));
  assert.deepEqual(readdirSync(behind), [], "what was written is removed");
  const removed = async () => await removeNextFolder(behind);
  const told = refused("UNOWNED", /Another service has the wallet by now/);
  await assert.rejects(writeKeysAndCache(paths, images, fence(removed)), told);
  assert.deepEqual([text(paths.keys), existsSync(paths.base)], ["old", false]);
  await removeNextFolder(behind);
  assert.ok(!existsSync(behind));
});

test("a keys file that is there is not taken for a new one's, whatever else goes wrong is told", async (t) => {
  const folder = folderOf(t);
  const paths = pathsOfFile(join(folder, "w"));
  assert.equal(await createKeysImage(paths, images.keys), true);
  assert.equal(await createKeysImage(paths, Buffer.from("other")), false);
  assert.equal(readFileSync(paths.keys, "utf8"), "new");
  const nowhere = pathsOfFile(join(folder, "none", "w"));
  await assert.rejects(createKeysImage(nowhere, images.keys), { code: "ENOENT" });
  await assert.rejects(writeKeysImage(nowhere, images.keys), { code: "ENOENT" });
  assert.deepEqual(readdirSync(folder), ["w.keys"]);
});

test("a file of which the system does not tell whether it is there is not taken for missing", async (t) => {
  const folder = folderOf(t);
  const paths = walletPaths(folder, "w");
  const notTold = refused("UNKNOWN_ERROR", /^The system does not tell whether there is .*: ELOOP$/);
  for (const path of [paths.keys, paths.store]) symlinkSync(path, path);
  await assert.rejects(walletExists(paths), notTold);
  await assert.rejects(putKeysAside(paths), notTold);
  await assert.rejects(putStoreAside(paths), notTold);
  await assert.rejects(removeNextFolder(paths.keys), notTold);
  assert.deepEqual(readdirSync(folder).sort(), ["w.anulo", "w.keys"]);
  assert.equal(await walletExists(walletPaths(join(folder, "nowhere"), "w")), false);
  writeFileSync(join(folder, "file"), "");
  assert.equal(await walletExists(walletPaths(join(folder, "file"), "w")), false);
});

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import {
  hasOtherKeys,
  ID_BYTES,
  noteAccount,
  readName,
  readOwner,
  writeName,
  writeOwner,
} from "../src/file/store-name.ts";
import { folderOf } from "./folder-of.ts";

const newKeys = () => ({
  spendPublic: new Uint8Array(randomBytes(32)),
  viewSecret: new Uint8Array(randomBytes(32)),
  spendSecret: new Uint8Array(randomBytes(32)),
});

test("whose keys belong to rows is noted once, and a spend secret may come later", async (t) => {
  const folder = folderOf(t);
  const wallet = new Uint8Array(randomBytes(ID_BYTES));
  const [keys, others] = [newKeys(), newKeys()];
  const viewOnly = { ...keys, spendSecret: undefined };
  assert.equal(await hasOtherKeys(folder, wallet, others), false, "nothing is noted yet");
  await noteAccount(folder, wallet, viewOnly);
  for (const later of [viewOnly, keys]) assert.equal(await hasOtherKeys(folder, wallet, later), false);
  const differing = [
    others,
    { ...keys, spendPublic: others.spendPublic },
    { ...keys, viewSecret: others.viewSecret },
  ];
  for (const other of differing) {
    await noteAccount(folder, wallet, other);
    assert.equal(await hasOtherKeys(folder, wallet, other), true);
    assert.equal(await hasOtherKeys(folder, wallet, keys), false, "what was noted first counts");
  }
  assert.equal(await hasOtherKeys(folder, new Uint8Array(randomBytes(ID_BYTES)), others), false);
  const [name] = readdirSync(folder);
  assert.equal(statSync(join(folder, name!)).mode & 0o777, 0o600);
});

test("with a spend secret noted, a view-only wallet has other keys", async (t) => {
  const folder = folderOf(t);
  const wallet = new Uint8Array(randomBytes(ID_BYTES));
  const keys = newKeys();
  await noteAccount(folder, wallet, keys);
  assert.equal(await hasOtherKeys(folder, wallet, keys), false);
  assert.equal(await hasOtherKeys(folder, wallet, { ...keys, spendSecret: undefined }), true);
});

test("a damaged note says nothing, and is replaced", async (t) => {
  const folder = folderOf(t);
  const wallet = new Uint8Array(randomBytes(ID_BYTES));
  const [keys, others] = [newKeys(), newKeys()];
  await noteAccount(folder, wallet, keys);
  const path = join(folder, readdirSync(folder)[0]!);
  const text = readFileSync(path, "latin1");
  for (const damaged of ["", text.slice(0, -1), `${text[0] === "0" ? "1" : "0"}${text.slice(1)}`]) {
    writeFileSync(path, damaged);
    assert.equal(await hasOtherKeys(folder, wallet, others), false);
  }
  await noteAccount(folder, wallet, others);
  assert.equal(await hasOtherKeys(folder, wallet, keys), true);
});

test("a name is read back as it was written, and only a whole one", async (t) => {
  const path = join(folderOf(t), "w.anulo");
  assert.equal(await readName(path), undefined);
  const wallet = new Uint8Array(randomBytes(ID_BYTES));
  await writeName(path, wallet);
  assert.equal(toHex((await readName(path))!), toHex(wallet));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const image = readFileSync(path);
  for (const other of [
    image.subarray(0, -1),
    Buffer.concat([image, Buffer.of(0)]),
    Buffer.from(image).fill(0, 0, 1),
  ]) {
    writeFileSync(path, other);
    assert.equal(await readName(path), undefined);
  }
});

test("whose rows they are is noted for this service alone, and replaced", async (t) => {
  const folder = folderOf(t);
  const wallet = new Uint8Array(randomBytes(ID_BYTES));
  assert.equal(await readOwner(folder, wallet), undefined);
  for (const name of ["w", "Ünï"]) {
    await writeOwner(folder, wallet, name);
    assert.equal(await readOwner(folder, wallet), name);
  }
  const files = readdirSync(folder);
  assert.deepEqual(files, [`${toHex(wallet)}.name`]);
  assert.equal(statSync(join(folder, files[0]!)).mode & 0o777, 0o600);
  await assert.rejects(readOwner(join(folder, files[0]!), wallet), { code: "ENOTDIR" });
});

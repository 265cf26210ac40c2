import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createLog } from "@anulo/rpc";
import { remoteFileSystemOf } from "../src/file/file-system.ts";
import { closeLedgerStore, openLedgerStore } from "../src/file/ledger-store.ts";
import { isNumberTaken, takeNumber } from "../src/file/process-number.ts";

test("file systems of several machines are told from those of one", async (t) => {
  if (process.platform !== "linux") return t.skip("only Linux tells");
  const asked: string[] = [];
  const of = (type: number) =>
    remoteFileSystemOf(join(tmpdir(), "not", "there", "yet"), async (folder) => {
      asked.push(folder);
      return type;
    });
  assert.equal(await of(0x6969), "NFS");
  assert.equal(await of(0xff534d42), "CIFS");
  // As a system of 32 bits returns it.
  assert.equal(await of(0xfe534d42 | 0), "SMB2");
  // Those of ext4, tmpfs and btrfs.
  for (const local of [0xef53, 0x01021994, 0x9123683e]) assert.equal(await of(local), undefined);
  const numbers = [0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0x00c36400, 0x5346414f];
  numbers.push(0x6b414653, 0x73757245, 0x0bd00bd0, 0x01161970, 0x7461636f, 0x19830326, 0x47504653);
  const names = await Promise.all(numbers.map(of));
  assert.equal(names.join(), "NFS,SMB,CIFS,SMB2,FUSE,9P,Ceph,AFS,AFS,Coda,Lustre,GFS2,OCFS2,BeeGFS,GPFS");
  assert.deepEqual(new Set(asked), new Set([tmpdir()]));
  assert.equal(await remoteFileSystemOf(tmpdir()), undefined);
});

test("on such a file system a folder has journals, a store that was named a warning", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-nfs-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const lines: string[] = [];
  const log = createLog({ write: ({ severity, event }) => lines.push(`${severity} ${event}`) });
  const system = { fileSystemOf: async () => "NFS", takeNumber };
  const open = (role?: "folder" | "leave") =>
    openLedgerStore({ location: join(folder, "wallets.mdb"), folder, role }, log, system);
  const own = await open("folder");
  assert.deepEqual([own.role, own.unused], ["leave", "on NFS"]);
  await closeLedgerStore(own);
  assert.deepEqual(readdirSync(folder), []);
  await closeLedgerStore(await open("leave"));
  const named = await open();
  assert.equal(named.role, undefined);
  await closeLedgerStore(named);
  assert.deepEqual(lines, [
    "WARNING wallets are kept in journals: the folder's store is not used",
    "WARNING the store is on a file system where it is not safe",
  ]);
});

test("while a process in another container has this one's number, the folder's store is left alone", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-number-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const lock = join(folder, `process-${process.pid}.lock`);
  writeFileSync(lock, `${process.pid} 1 another-boot/pid:[1] ${"ab".repeat(32)}`);
  const heartbeat = setInterval(() => utimesSync(lock, new Date(), new Date()), 20);
  const system = {
    fileSystemOf: async () => undefined,
    takeNumber: (path: string) => takeNumber(path, { watchMs: 500 }),
  };
  const open = () =>
    openLedgerStore({ location: join(folder, "wallets.mdb"), folder, role: "folder" }, undefined, system);
  try {
    assert.equal(await isNumberTaken(folder, 500), true);
    const other = await open();
    assert.match(other.unused ?? "", /another container/);
    await closeLedgerStore(other);
  } finally {
    clearInterval(heartbeat);
  }
  // It has ended without a word.
  const [own, beside] = [await open(), await open()];
  assert.deepEqual([own.unused, beside.unused], [undefined, undefined]);
  assert.equal(await isNumberTaken(folder, 500), false);
  await closeLedgerStore(beside);
  await closeLedgerStore(own);
  assert.ok(!existsSync(lock));
});

test("a store that cannot be opened is no reason to keep wallets elsewhere, and the number is free again", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-garbage-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const location = join(folder, "wallets.mdb");
  writeFileSync(location, Buffer.alloc(64 * 1024, 1));
  const lines: string[] = [];
  const log = createLog({ write: ({ event }) => lines.push(event) });
  const system = { fileSystemOf: async () => undefined, takeNumber };
  for (const role of ["folder", "leave"] as const)
    await assert.rejects(openLedgerStore({ location, folder, role }, log, system), /can't be opened/);
  assert.deepEqual(lines, []);
  assert.ok(!existsSync(join(folder, `process-${process.pid}.lock`)));
});

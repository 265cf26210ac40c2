import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createLog } from "@anulo/rpc";
import { remoteFileSystemOf } from "../src/file/file-system.ts";
import { closeLedgerStore, openLedgerStore } from "../src/file/ledger-store.ts";

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
  assert.deepEqual(new Set(asked), new Set([tmpdir()]));
  assert.equal(await remoteFileSystemOf(tmpdir()), undefined);
});

test("on such a file system a folder has journals, a store that was named a warning", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-nfs-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const lines: string[] = [];
  const log = createLog({ write: ({ severity, event }) => lines.push(`${severity} ${event}`) });
  const open = (role?: "folder" | "leave") =>
    openLedgerStore({ location: join(folder, "wallets.mdb"), folder, role }, log, async () => "NFS");
  const own = await open("folder");
  assert.deepEqual([own.role, own.unused], ["leave", "on NFS"]);
  await closeLedgerStore(own);
  assert.deepEqual(readdirSync(folder), []);
  await closeLedgerStore(await open("leave"));
  const named = await open();
  assert.equal(named.role, undefined);
  await closeLedgerStore(named);
  assert.deepEqual(lines, [
    "WARNING wallets are kept in journals: a store is not safe on this file system",
    "WARNING the store is on a file system where it is not safe",
  ]);
});

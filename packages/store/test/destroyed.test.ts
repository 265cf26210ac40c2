import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openLmdbEngine, openWalletStore, type Row, rangeOf, type Table } from "../src/index.ts";
import { readDataKey } from "../src/sealed/data-key.ts";
import { RowSealer } from "../src/sealed/rows.ts";
import { keyedHash } from "../src/sealed/seal.ts";
import { RowKeys } from "../src/sealed/tables.ts";
import { bytes, collect, temporaryFolder, walletId } from "./harness.ts";
import { storeOf } from "./wallet-suite.ts";

const secrets: Table = { number: 1, isSecret: true };
const wallet = walletId(1);
const wrappingKey = randomBytes(32);

/** Every byte of every file below a folder. */
function allBytes(folder: string): Buffer {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((it) => it.isFile());
  return Buffer.concat(files.map((file) => readFileSync(join(file.parentPath, file.name))));
}

interface Thief {
  readonly sealer: RowSealer;
  /** The row as the engine had it. */
  readonly row: Row;
}

/** The secret, if any 32 bytes that are on disk open the row: the thief has the data key too. */
function steal({ sealer, row }: Thief, disk: Buffer): Uint8Array | undefined {
  for (let at = 0; at + 32 <= disk.length; at++) {
    try {
      return sealer.unseal(secrets, row, disk.subarray(at, at + 32)).value;
    } catch {
      // Not these.
    }
  }
  return undefined;
}

/** Only stretches that are not all one byte can be keys. */
function interesting(disk: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < disk.length; at += 64) {
    const part = disk.subarray(at, at + 64);
    if (part.some((byte) => byte !== 0)) parts.push(part);
  }
  return Buffer.concat(parts);
}

for (const how of ["deleted", "written anew"]) {
  test(`nothing on disk opens a secret that was ${how}, not even with the data key`, async () => {
    const { folder, remove } = temporaryFolder();
    const engine = openLmdbEngine(join(folder, "store.mdb"));
    try {
      const options = { engine, wallet, tables: [secrets], wrappingKey, folder };
      const store = storeOf(await openWalletStore(options));
      const secret = randomBytes(64);
      await store.apply({ puts: [{ table: secrets, key: bytes("nonce"), value: secret }] });
      const [row] = (await collect(rangeOf(engine, wallet, { table: 1 }))) as [Row];
      const dataKey = (await readDataKey({ engine, wallet, wrappingKey }, store.mark))!.dataKey;
      const keys = new RowKeys(keyedHash(dataKey, "row keys"));
      const sealer = new RowSealer({ wallet, key: keyedHash(dataKey, "values"), keys });
      const slots = join(folder, `${Buffer.from(wallet).toString("hex")}.slots`);
      const rowKey = readFileSync(slots).subarray(8, 40);
      assert.deepEqual(Buffer.from(steal({ sealer, row }, interesting(allBytes(folder)))!), secret);

      const value = bytes("another");
      await store.apply(
        how === "deleted"
          ? { deletes: [{ table: secrets, key: bytes("nonce") }] }
          : { puts: [{ table: secrets, key: bytes("nonce"), value }] },
      );
      const disk = allBytes(folder);
      assert.equal(disk.includes(secret.subarray(0, 8)), false);
      assert.equal(disk.includes(rowKey.subarray(0, 8)), false);
      assert.equal(steal({ sealer, row }, interesting(disk)), undefined);
      const left = await store.read(secrets, bytes("nonce"));
      assert.deepEqual(left && Buffer.from(left), how === "deleted" ? undefined : Buffer.from(value));
      await store.close();
    } finally {
      await engine.close();
      remove();
    }
  });
}

test("a change that a crash cut short leaves no key behind, and a row without its key counts as deleted", async () => {
  const { folder, remove } = temporaryFolder();
  const engine = openLmdbEngine(join(folder, "store.mdb"));
  try {
    const options = { engine, wallet, tables: [secrets], wrappingKey, folder };
    const store = storeOf(await openWalletStore(options));
    await store.apply({
      puts: ["a", "b"].map((key) => ({ table: secrets, key: bytes(key), value: bytes(key) })),
    });
    const rows = await collect(rangeOf(engine, wallet, { table: 1 }));
    const slots = join(folder, `${Buffer.from(wallet).toString("hex")}.slots`);
    const taken = () =>
      readFileSync(slots)
        .filter((_, at) => at % 64 === 8)
        .filter((byte) => byte !== 0).length;
    const lost = Buffer.from(rows[0]!.value).readUInt32BE(6);
    const former = readFileSync(slots).subarray(64 * lost, 64 * lost + 64);
    // As if the engine had deleted the row, and the crash came before its key was destroyed.
    const { epoch } = await engine.fence(wallet);
    await engine.apply(wallet, { epoch, puts: [], deletes: [{ table: 1, key: rows[0]!.key }] });
    assert.ok(readFileSync(slots).includes(former));
    const again = storeOf(await openWalletStore(options));
    assert.equal(readFileSync(slots).includes(former), false);
    assert.equal(taken() <= 1, true);
    assert.equal((await collect(again.range(secrets))).length, 1);
    // As if an older copy of the engine alone came back.
    const { epoch: later } = await engine.fence(wallet);
    await engine.apply(wallet, {
      epoch: later,
      puts: rows.map((row) => ({ table: 1, ...row })),
      deletes: [],
    });
    const third = storeOf(await openWalletStore(options));
    assert.equal((await collect(third.range(secrets))).length, 1);
    await third.close();
  } finally {
    await engine.close();
    remove();
  }
});

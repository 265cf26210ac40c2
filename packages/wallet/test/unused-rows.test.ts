/** Rows in a store of wallets whose keys files are gone. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Engine, openLmdbEngine } from "@anulo/store";
import { takeLock } from "../src/file/wallet-lock.ts";
import { listUnusedRows, removeUnusedRows } from "../src/index.ts";
import { startTestService } from "./service.ts";

const MINUTE = 60_000;
const created = { password: "p", language: "English" };

/** A folder in whose store there are the wallets `v` and `w`, both closed; `w` has been put aside once. */
async function twoWallets(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "anulo-unused-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const secrets = join(folder, ".anulo-store");
  const store = { location: join(secrets, "wallets.mdb"), folder: secrets };
  const during = async (
    task: (call: Awaited<ReturnType<typeof startTestService>>["call"]) => Promise<void>,
  ) => {
    const { call, stop } = await startTestService({ folder, store });
    try {
      await task(call);
      await call.closeWallet({}).catch((error: Error) => assert.match(error.message, /No wallet file/));
    } finally {
      await stop();
    }
  };
  await during(async (call) => {
    await call.createWallet({ ...created, filename: "v" });
    await call.createWallet({ ...created, filename: "w" });
    await call.setAttribute({ key: "a", value: "1" });
  });
  /** What the store knows, so many minutes after the last change. */
  const at = async <T>(
    minutes: number,
    task: (place: Parameters<typeof listUnusedRows>[0]) => Promise<T>,
  ) => {
    const engine = openLmdbEngine(store.location);
    try {
      return await task({ folder, secrets, engine, now: Date.now() + minutes * MINUTE });
    } finally {
      await engine.close();
    }
  };
  const deleteFiles = (name: string) => {
    for (const file of [name, `${name}.keys`, `${name}.address.txt`])
      rmSync(join(folder, file), { force: true });
  };
  return { folder, secrets, during, at, deleteFiles };
}

async function rowsOf(engine: Engine, id: string): Promise<number> {
  const snapshot = await engine.snapshot(Buffer.from(id, "hex"));
  let count = 0;
  for await (const rows of snapshot?.pages ?? []) count += rows.length;
  await snapshot?.close();
  return count;
}

test("wallets of whose keys the system does not tell whether they are there keep their rows", async (t) => {
  const { folder, secrets, at } = await twoWallets(t);
  const keys = join(folder, "w.keys");
  rmSync(keys);
  symlinkSync(keys, keys);
  await assert.rejects(at(60, listUnusedRows), /does not tell whether there is/);
  for (const name of readdirSync(secrets)) {
    const id = /^([0-9a-f]{32})\.witness$/.exec(name)?.[1];
    if (id !== undefined)
      await assert.rejects(
        at(60, (place) => removeUnusedRows(place, id)),
        /does not tell whether there is/,
      );
  }
});

test("wallets that have their keys files are neither listed nor removed", async (t) => {
  const { secrets, at } = await twoWallets(t);
  assert.deepEqual(await at(60, listUnusedRows), []);
  const ids = readdirSync(secrets).flatMap((name) => /^([0-9a-f]{32})\.witness$/.exec(name)?.[1] ?? []);
  assert.equal(ids.length, 2);
  for (const id of ids) {
    await assert.rejects(
      at(60, (place) => removeUnusedRows(place, id)),
      /its keys file is there/,
    );
    assert.ok((await at(0, ({ engine }) => rowsOf(engine, id))) > 3);
  }
});

test("rows, keys of secret rows and the name of a deleted wallet are removed, and no others", async (t) => {
  const { folder, secrets, during, at, deleteFiles } = await twoWallets(t);
  deleteFiles("w");
  const [found, ...others] = await at(60, listUnusedRows);
  assert.deepEqual([found?.file, found?.reasonToKeep, others], [join(folder, "w.anulo"), undefined, []]);
  const { id } = found!;
  await at(60, (place) => removeUnusedRows(place, id));
  assert.equal(await at(0, ({ engine }) => rowsOf(engine, id)), 1, "what keeps former owners out");
  assert.deepEqual(
    readdirSync(secrets).filter((name) => name.startsWith(id)),
    [],
  );
  assert.equal(existsSync(join(folder, "w.anulo")), false);
  assert.deepEqual(await at(60, listUnusedRows), []);
  await assert.rejects(
    at(60, (place) => removeUnusedRows(place, id)),
    /no service of this folder/,
  );
  await during(async (call) => {
    await call.openWallet({ filename: "v", password: "p" });
    await call.createWallet({ ...created, filename: "w" });
    await assert.rejects(call.getAttribute({ key: "a" }));
  });
});

test("rows that no file names are found, such as those of a name that was used again", async (t) => {
  const { folder, during, at, deleteFiles } = await twoWallets(t);
  deleteFiles("w");
  await during(async (call) => void (await call.createWallet({ ...created, filename: "w" })));
  const [aside] = await at(60, listUnusedRows);
  assert.equal(aside?.file, join(folder, "w.anulo.old"));
  rmSync(aside!.file!);
  const [unnamed, ...others] = await at(60, listUnusedRows);
  assert.deepEqual([unnamed?.id, unnamed?.file, others], [aside!.id, undefined, []]);
  await at(60, (place) => removeUnusedRows(place, unnamed!.id));
  assert.deepEqual(await at(60, listUnusedRows), []);
});

test("a wallet that may be in use stays: new ones, open ones, and those that others have opened", async (t) => {
  const { folder, at, deleteFiles } = await twoWallets(t);
  deleteFiles("w");
  const [found] = await at(5, listUnusedRows);
  assert.match(found?.reasonToKeep ?? "", /less than ten minutes/);
  const { id } = found!;
  const remove = (minutes: number) => at(minutes, (place) => removeUnusedRows(place, id));
  await assert.rejects(remove(5), /less than ten minutes/);
  const unlock = await takeLock(join(folder, "w.anulo.lock"));
  await assert.rejects(remove(60), /another service has it open/);
  await unlock();
  // A service of another folder with the same store.
  await at(0, ({ engine }) => engine.fence(Buffer.from(id, "hex")));
  await assert.rejects(remove(60), /opened or put back by others/);
  assert.ok((await at(0, ({ engine }) => rowsOf(engine, id))) > 3);
  await assert.rejects(
    at(60, (place) => removeUnusedRows(place, "..")),
    /32 hexadecimal digits/,
  );
});

test("a removal that was interrupted is completed by repeating it", async (t) => {
  const { at, deleteFiles } = await twoWallets(t);
  deleteFiles("w");
  const { id } = (await at(60, listUnusedRows))[0]!;
  await assert.rejects(
    at(60, (place) => {
      let left = 1;
      const failing: Engine = {
        ...place.engine,
        apply: async (wallet, change) => {
          if (left-- === 0) throw new Error("cut off");
          return await place.engine.apply(wallet, change);
        },
      };
      return removeUnusedRows({ ...place, engine: failing }, id);
    }),
    /cut off/,
  );
  const [again] = await at(0, listUnusedRows);
  assert.deepEqual([again?.id, again?.reasonToKeep], [id, undefined]);
  await at(0, (place) => removeUnusedRows(place, id));
  assert.equal(await at(0, ({ engine }) => rowsOf(engine, id)), 1);
});

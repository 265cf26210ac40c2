/** Wallets whose ledgers are in a store. */
import assert from "node:assert/strict";
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { LedgerStoreOptions } from "../src/file/ledger-store.ts";
import { startTestService } from "./service.ts";

type World = {
  readonly folder: string;
  /** The file of the store's engine. */
  readonly location: string;
  /** Runs a task with a service on the folder, which has stopped when this resolves. */
  during<T>(
    options: Partial<LedgerStoreOptions> | "journals",
    task: (call: Awaited<ReturnType<typeof startTestService>>["call"]) => Promise<T>,
  ): Promise<T>;
};

function world(t: TestContext): World {
  const folder = mkdtempSync(join(tmpdir(), "anulo-ledgers-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const location = join(folder, "store", "wallets.mdb");
  return {
    folder,
    location,
    async during(options, task) {
      const store = { location, folder: join(folder, "store"), ...(options === "journals" ? {} : options) };
      const { call, stop } = await startTestService({
        folder,
        ...(options !== "journals" && { store }),
      });
      try {
        return await task(call);
      } finally {
        await stop();
      }
    },
  };
}

const named = { filename: "w", password: "" };
const created = { ...named, language: "English" };

test("a journal is taken over, and read no more", async (t) => {
  const { during, folder } = world(t);
  await during("journals", async (call) => {
    await call.createWallet(created);
    await call.setAttribute({ key: "kept", value: "in the journal" });
    await call.createAccount({ label: "shop" });
  });
  const seen = await during({}, async (call) => {
    await call.openWallet(named);
    assert.equal((await call.getAttribute({ key: "kept" })).value, "in the journal");
    await call.setAttribute({ key: "kept", value: "in the store" });
    await call.createAddress({ account_index: 1, label: "till" });
    return [await call.getAccounts({}), await call.getAddress({ account_index: 1 })];
  });
  assert.equal(statSync(join(folder, "w.anulo")).size, 24);
  await during({}, async (call) => {
    await call.openWallet(named);
    assert.equal((await call.getAttribute({ key: "kept" })).value, "in the store");
    assert.deepEqual([await call.getAccounts({}), await call.getAddress({ account_index: 1 })], seen);
  });
  await during("journals", async (call) => {
    await assert.rejects(call.openWallet(named), /its history is in a store/);
    // Another wallet is none of its business.
    await call.createWallet({ ...created, filename: "other" });
  });
});

test("another password opens the store, whether or not a crash came between the two files", async (t) => {
  const { during, folder } = world(t);
  await during({}, async (call) => {
    await call.createWallet(created);
    await call.setAttribute({ key: "a", value: "1" });
  });
  const oldKeys = readFileSync(join(folder, "w.keys"));
  const opens = (password: string) =>
    during({}, async (call) => {
      await call.openWallet({ filename: "w", password });
      assert.equal((await call.getAttribute({ key: "a" })).value, "1");
    });
  await during({}, async (call) => {
    await call.openWallet(named);
    await call.changeWalletPassword({ old_password: "", new_password: "secret" });
  });
  await opens("secret");
  // Whoever has the former keys file alone reads nothing of the store.
  const newKeys = readFileSync(join(folder, "w.keys"));
  writeFileSync(join(folder, "w.keys"), oldKeys);
  await assert.rejects(opens(""), /another key/);
  writeFileSync(join(folder, "w.keys"), newKeys);
  await opens("secret");
});

test("a service key opens what a password has opened before", async (t) => {
  const { during, folder } = world(t);
  await during({}, async (call) => {
    await call.createWallet({ ...created, password: "p" });
    await call.setAttribute({ key: "a", value: "1" });
  });
  const serviceKeyFile = join(folder, "service.key");
  for (let time = 0; time < 2; time++)
    await during({ serviceKeyFile }, async (call) => {
      await call.openWallet({ ...named, password: "p" });
      assert.equal((await call.getAttribute({ key: "a" })).value, "1");
    });
  const { size, mode } = statSync(serviceKeyFile);
  assert.deepEqual([size, mode & 0o777], [32, 0o600]);
  await during({}, (call) =>
    assert.rejects(call.openWallet({ ...named, password: "p" }), /service-key-file/),
  );
  writeFileSync(serviceKeyFile, "short");
  await assert.rejects(
    during({ serviceKeyFile }, async () => undefined),
    /5 bytes, not 32/,
  );
});

test("an older copy of the store is noticed, and opened only when that is asked for", async (t) => {
  const { during, location } = world(t);
  const set = (value: string, options: Partial<LedgerStoreOptions> = {}) =>
    during(options, async (call) => {
      await call.openWallet(named);
      await call.setAttribute({ key: "a", value });
    });
  await during({}, (call) => call.createWallet(created));
  await set("1");
  copyFileSync(location, `${location}.copy`);
  await set("2");
  copyFileSync(`${location}.copy`, location);
  await assert.rejects(set("3"), /older copy/);
  await during({ acceptsOlder: true }, async (call) => {
    await call.openWallet(named);
    assert.equal((await call.getAttribute({ key: "a" })).value, "1");
  });
  await set("4");
});

test("a former owner writes no more once another has opened the wallet", async (t) => {
  const { during, folder } = world(t);
  await during({}, async (call) => {
    await call.createWallet(created);
    // As if the lock had been lost on a shared file system.
    rmSync(join(folder, "w.anulo.lock"));
    await during({}, async (other) => {
      await other.openWallet(named);
      await other.setAttribute({ key: "a", value: "the owner's" });
      await assert.rejects(call.setAttribute({ key: "a", value: "late" }), /another service has opened/);
    });
  });
  await during({}, async (call) => {
    await call.openWallet(named);
    assert.equal((await call.getAttribute({ key: "a" })).value, "the owner's");
  });
});

test("other keys in the same files have a ledger of their own, with the attributes", async (t) => {
  const { during, folder } = world(t);
  const paths = ["w", "x"].map((filename) => ({ filename, password: "" }));
  await during({}, async (call) => {
    const infos: string[] = [];
    for (const each of paths) {
      await call.createWallet({ ...each, language: "English" });
      await call.setAttribute({ key: "mine", value: each.filename });
      await call.setTxNotes({ txids: ["ab".repeat(32)], notes: ["forgotten"] });
      infos.push((await call.prepareMultisig({ enable_multisig_experimental: true })).multisig_info);
      await call.closeWallet({});
    }
    await call.openWallet(paths[0]!);
    await call.makeMultisig({ multisig_info: [infos[1]!], threshold: 2, password: "" });
    await call.closeWallet({});
    await call.openWallet(paths[0]!);
    assert.equal((await call.isMultisig({})).multisig, true);
    assert.equal((await call.getAttribute({ key: "mine" })).value, "w");
    assert.deepEqual((await call.getTxNotes({ txids: ["ab".repeat(32)] })).notes, [""]);
  });
  assert.ok(!readdirSync(folder).some((name) => name.endsWith(".next")));
});

test("another database than the wallet's is no older copy of it, and nothing is made of it", async (t) => {
  const { during, folder, location } = world(t);
  await during({}, (call) => call.createWallet(created));
  const other = { location: join(folder, "store", "other.mdb"), acceptsOlder: true };
  await during(other, (call) => assert.rejects(call.openWallet(named), /not in this --store/));
  await during({ location }, async (call) => {
    await call.openWallet(named);
  });
});

test("a store that can't be had is said at once", async (t) => {
  const { during, folder } = world(t);
  writeFileSync(join(folder, "text"), "no database");
  const location = join(folder, "text", "wallets.mdb");
  await assert.rejects(
    during({ location }, async () => undefined),
    /store can't be opened/,
  );
});

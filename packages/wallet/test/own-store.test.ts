/** Wallets in the store of their folder, which nobody has named: their files come and go without it. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { publicKeyOf, randomScalar } from "@anulo/crypto";
import { createLog, type LogLine } from "@anulo/rpc";
import { StoreUnavailable } from "@anulo/store";
import { readKeysFile, writeKeysFile } from "../src/file/keys-file.ts";
import type { LedgerStore, StoredWallet } from "../src/file/open-rows.ts";
import { divideCopy } from "../src/file/own-store.ts";
import { pathsOfFile } from "../src/file/wallet-files.ts";
import { closeRuntime, createRuntime } from "../src/runtime.ts";
import type { WalletKeys } from "../src/state.ts";
import { startTestService } from "./service.ts";

type Call = Awaited<ReturnType<typeof startTestService>>["call"];
type Role = "folder" | "leave" | "named";

const created = { filename: "w", password: "p", language: "English" };
const opening = { filename: "w", password: "p" };

function world(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), "anulo-own-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const folderOf = (name: string) => join(root, name);
  const storeOf = (name: string, role: Role, acceptsOlder = false) => {
    const secrets = join(folderOf(name), ".anulo-store");
    const location = join(secrets, role === "named" ? "named.mdb" : "wallets.mdb");
    return { location, folder: secrets, acceptsOlder, ...(role !== "named" && { role }) };
  };
  /** Runs a task with a service on a folder, which has stopped when this resolves to what it logged. */
  async function during(
    name: string,
    role: Role | "journals",
    task: (call: Call) => Promise<unknown>,
    acceptsOlder = false,
  ): Promise<readonly LogLine[]> {
    mkdirSync(folderOf(name), { recursive: true });
    const lines: LogLine[] = [];
    const log = createLog({ write: (line) => lines.push(line) });
    const { call, stop } = await startTestService({
      folder: folderOf(name),
      log,
      ...(role !== "journals" && { store: storeOf(name, role, acceptsOlder) }),
    });
    try {
      await task(call);
    } finally {
      await stop();
    }
    return lines;
  }
  const create = (name: string, role: Role | "journals") =>
    during(name, role, async (call) => {
      await call.createWallet(created);
      await call.setAttribute({ key: "a", value: "1" });
      await call.setTxNotes({ txids: ["ab".repeat(32)], notes: ["kept"] });
      await call.createAddress({ account_index: 0, label: "till" });
      await call.store({});
    });
  return { folderOf, during, create };
}

async function checkKept(call: Call, filename = "w"): Promise<void> {
  await call.openWallet({ ...opening, filename });
  assert.equal((await call.getAttribute({ key: "a" })).value, "1");
  assert.deepEqual((await call.getTxNotes({ txids: ["ab".repeat(32)] })).notes, ["kept"]);
  const { addresses } = await call.getAddress({ account_index: 0 });
  assert.equal(addresses.at(-1)?.label, "till");
}

const isJournal = (path: string): boolean => statSync(path).size > 24;
const hasLine = (entries: readonly LogLine[], pattern: RegExp) =>
  assert.ok(
    entries.some(({ event }) => pattern.test(event)),
    `no line ${pattern} in ${entries.map(({ event }) => event).join(" / ")}`,
  );

test("a journal goes into the folder's store, and back into a journal", async (t) => {
  const { folderOf, during, create } = world(t);
  const file = join(folderOf("one"), "w.anulo");
  await create("one", "journals");
  assert.ok(isJournal(file));
  for (let round = 0; round < 2; round++) {
    await during("one", "folder", checkKept);
    assert.ok(!isJournal(file));
    const entries = await during("one", "leave", checkKept);
    assert.ok(isJournal(file));
    hasLine(entries, /is in a journal again/);
  }
  await during("one", "journals", checkKept);
});

test("files that are copied away without the store open from the original's cache, and say so", async (t) => {
  const { folderOf, during, create } = world(t);
  await create("one", "folder");
  for (const [role, files] of [
    ["folder", ["w", "w.keys", "w.anulo"]],
    ["leave", ["w", "w.keys", "w.anulo"]],
    ["folder", ["w", "w.keys"]],
    ["journals", ["w", "w.keys"]],
  ] as const) {
    const place = `copy ${role} ${files.length}`;
    await during(place, role, async () => undefined);
    for (const name of files) copyFileSync(join(folderOf("one"), name), join(folderOf(place), name));
    // As a crash leaves it in the middle of a change of keys.
    if (files.length === 3)
      copyFileSync(join(folderOf("one"), "w.anulo"), join(folderOf(place), "w.anulo.next"));
    const entries = await during(place, role, checkKept);
    if (files.length === 3) hasLine(entries, /came without the store: it goes on from the original/);
    // It is a wallet of that folder from then on.
    await during(place, role, checkKept);
  }
  // Without a cache there are the keys alone.
  for (const name of ["w.keys", "w.anulo"])
    copyFileSync(join(folderOf("one"), name), join(folderOf("copy folder 2"), name));
  rmSync(join(folderOf("copy folder 2"), "w"));
  const entries = await during("copy folder 2", "folder", (call) => call.openWallet(opening));
  hasLine(entries, /begins anew with its keys/);
});

test("a folder that is copied or moved with its store goes on", async (t) => {
  const { folderOf, during, create } = world(t);
  await create("one", "folder");
  renameSync(folderOf("one"), folderOf("two"));
  await during("two", "folder", checkKept);
});

test("a wallet whose store was lost, or was another one, is not begun anew unless that is asked for", async (t) => {
  const { folderOf, during, create } = world(t);
  await create("one", "folder");
  rmSync(join(folderOf("one"), ".anulo-store", "wallets.mdb"));
  for (const role of ["folder", "leave"] as const)
    await during("one", role, (call) =>
      assert.rejects(call.openWallet(opening), /not in the folder's store.*--accept-older-store/),
    );
  await during("one", "folder", checkKept, true);
  await create("two", "named");
  await during("two", "folder", (call) =>
    assert.rejects(call.openWallet(opening), /start the service with the --store it was opened with/),
  );
  await during("two", "named", checkKept);
});

test("copies of a wallet's files in one folder are wallets of their own", async (t) => {
  const { folderOf, during, create } = world(t);
  await create("one", "folder");
  const copyTo = (name: string) => {
    for (const ending of ["", ".keys", ".anulo"])
      copyFileSync(join(folderOf("one"), `w${ending}`), join(folderOf("one"), `${name}${ending}`));
  };
  copyTo("x");
  const entries = await during("one", "folder", async (call) => {
    await checkKept(call, "x");
    await call.setAttribute({ key: "a", value: "of x" });
    await call.changeWalletPassword({ old_password: "p", new_password: "q" });
    await checkKept(call);
    await call.openWallet({ filename: "x", password: "q" });
    assert.equal((await call.getAttribute({ key: "a" })).value, "of x");
  });
  hasLine(entries, /a copied wallet has a history of its own/);
  // Copied first, then the other's password is changed: its rows do not open, its cache does.
  copyTo("y");
  await during("one", "folder", async (call) => {
    await call.openWallet(opening);
    await call.changeWalletPassword({ old_password: "p", new_password: "r" });
    await checkKept(call, "y");
    await call.openWallet({ filename: "w", password: "r" });
  });
  // Renamed, it keeps what it has.
  for (const ending of ["", ".keys", ".anulo"])
    renameSync(join(folderOf("one"), `x${ending}`), join(folderOf("one"), `z${ending}`));
  await during("one", "folder", async (call) => {
    await call.openWallet({ filename: "z", password: "q" });
    assert.equal((await call.getAttribute({ key: "a" })).value, "of x");
  });
});

test("a copy keeps the name of its rows where they can't be read now, to be opened later", async (t) => {
  const { folderOf, during, create } = world(t);
  await create("one", "folder");
  const folder = folderOf("one");
  for (const ending of ["", ".keys", ".anulo"])
    copyFileSync(join(folder, `w${ending}`), join(folder, `x${ending}`));
  const engine = { markOf: () => Promise.reject(new StoreUnavailable("the disk is away")) };
  const store = { engine, folder: join(folder, ".anulo-store") } as unknown as LedgerStore;
  const wallet = { paths: pathsOfFile(join(folder, "x")) } as StoredWallet;
  await assert.rejects(divideCopy(wallet, store), StoreUnavailable);
  assert.deepEqual(readFileSync(join(folder, "x.anulo")), readFileSync(join(folder, "w.anulo")));
  await during("one", "folder", (call) => checkKept(call, "x"));
});

const runtime = createRuntime();
after(() => closeRuntime(runtime));

/** Puts a keys file of the same keys, or of others, in the place of a wallet's, as the original program does. */
async function replaceKeysFile(
  path: string,
  password: string,
  change: (keys: WalletKeys) => WalletKeys = (keys) => keys,
): Promise<void> {
  const { cacheKey: _, ...file } = await readKeysFile(readFileSync(path), { ...runtime, password: "p" });
  const changed = { ...file, keys: change(file.keys) };
  writeFileSync(path, await writeKeysFile(changed, { ...runtime, password }));
}

test("a password that another program has changed opens the wallet with all it knew", async (t) => {
  const { folderOf, during, create } = world(t);
  await create("here", "folder");
  await replaceKeysFile(join(folderOf("here"), "w.keys"), "other");
  await during("here", "folder", async (call) => {
    await call.openWallet({ ...opening, password: "other" });
    assert.equal((await call.getAttribute({ key: "a" })).value, "1");
    await call.changeWalletPassword({ old_password: "other", new_password: "p" });
    await call.closeWallet({});
  });
  await replaceKeysFile(join(folderOf("here"), "w.keys"), "other");
  await during("here", "folder", async (call) => {
    await call.openWallet({ ...opening, password: "other" });
    assert.equal((await call.getAttribute({ key: "a" })).value, "1");
  });
});

test("a view-only wallet that gets its spend secret keeps what it knew", async (t) => {
  const { folderOf, during, create } = world(t);
  await create("here", "folder");
  const path = join(folderOf("here"), "w.keys");
  const whole = readFileSync(path);
  await replaceKeysFile(path, "p", (keys) => ({ ...keys, spendSecret: undefined }));
  rmSync(join(folderOf("here"), "w"));
  // What is in the store is not for one who has the view secret alone.
  await during("here", "folder", async (call) => {
    await call.openWallet(opening);
    await assert.rejects(call.getAttribute({ key: "a" }));
    await call.setAttribute({ key: "a", value: "2" });
    await call.closeWallet({});
  });
  writeFileSync(path, whole);
  rmSync(join(folderOf("here"), "w"), { force: true });
  await during("here", "folder", async (call) => {
    await call.openWallet(opening);
    assert.equal((await call.getAttribute({ key: "a" })).value, "2");
  });
});

test("what a loss of power left of the note of a wallet's keys puts nothing aside", async (t) => {
  const { folderOf, during, create } = world(t);
  await create("here", "folder");
  await during("here", "folder", (call) => checkKept(call));
  const secrets = join(folderOf("here"), ".anulo-store");
  const [note, ...others] = readdirSync(secrets).filter((name) => name.endsWith(".account"));
  assert.ok(note !== undefined && others.length === 0);
  const { length } = readFileSync(join(secrets, note));
  for (const left of [new Uint8Array(length), randomBytes(length), new Uint8Array()]) {
    writeFileSync(join(secrets, note), left);
    await during("here", "folder", (call) => checkKept(call));
  }
  assert.equal(readFileSync(join(secrets, note)).length, length);
});

test("a wallet whose keys another program has replaced begins a history of its own, and says so", async (t) => {
  const { folderOf, during, create } = world(t);
  await create("here", "folder");
  const spendSecret = randomScalar();
  const keys = (former: WalletKeys) => ({ ...former, spendSecret, spendPublic: publicKeyOf(spendSecret) });
  await replaceKeysFile(join(folderOf("here"), "w.keys"), "p", keys);
  const lines = await during("here", "folder", async (call) => {
    await call.openWallet(opening);
    await assert.rejects(call.getAttribute({ key: "a" }));
  });
  assert.ok(lines.some(({ event }) => event.includes("keys were replaced by another program")));
});

test("wallets whose files are deleted leave their names free", async (t) => {
  const { folderOf, during, create } = world(t);
  await create("one", "folder");
  for (const name of ["w", "w.keys"]) rmSync(join(folderOf("one"), name));
  await during("one", "folder", async (call) => {
    await call.createWallet(created);
    await assert.rejects(call.getAttribute({ key: "a" }));
  });
  assert.ok(existsSync(join(folderOf("one"), "w.anulo.old")));
});

test("a wallet that became multisig goes into a journal and back, whatever is left of the change", async (t) => {
  const { folderOf, during } = world(t);
  await during("one", "folder", async (call) => {
    const infos: string[] = [];
    for (const filename of ["w", "x"]) {
      await call.createWallet({ ...created, filename });
      infos.push((await call.prepareMultisig({ enable_multisig_experimental: true })).multisig_info);
      await call.closeWallet({});
    }
    await call.openWallet(opening);
    await call.makeMultisig({ multisig_info: [infos[1]!], threshold: 2, password: "p" });
  });
  for (const role of ["leave", "folder"] as const)
    await during("one", role, async (call) => {
      await call.openWallet(opening);
      assert.equal((await call.isMultisig({})).multisig, true);
    });
  assert.ok(!readdirSync(folderOf("one")).some((name) => /\.(?:next|new)$/.test(name)));
});

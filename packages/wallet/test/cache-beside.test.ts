/** When the original's cache beside a wallet is read, and when it is written. */
import assert from "node:assert/strict";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { toHex } from "@anulo/protocol";
import { createLog, type LogLine } from "@anulo/rpc";
import type { WalletChange } from "../src/changes.ts";
import { CacheBeside, writeUnderPassword } from "../src/file/beside-original.ts";
import { WalletMoved } from "../src/file/cache-items.ts";
import { cacheOfWallet } from "../src/file/cache-of-wallet.ts";
import type { ReadKeysFile } from "../src/file/keys-file.ts";
import { cacheId, cacheKeyOf, readOriginalCache } from "../src/file/original-cache.ts";
import { pathsOfFile } from "../src/file/wallet-files.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { SubaddressTable } from "../src/scan/subaddress-table.ts";
import type { Wallet } from "../src/wallet.ts";
import { cacheImage } from "./cache-image.ts";
import { folderOf } from "./folder-of.ts";
import { ledgerOf } from "./many-outputs.ts";

const filled = (byte: number, size = 32) => new Uint8Array(size).fill(byte);
const key = cacheKeyOf(filled(1));
const keys = createKeys();
const subaddresses = new SubaddressTable();
subaddresses.add({ major: 0, fromMinor: 0, keys: keys.spendPublic });
const fresh = () => createLedger("mainnet", { seedLanguage: "English", refreshFromHeight: 0 });

/** The cache that another program makes of a wallet of these keys, with a note. */
async function foreignImage(note: string, { spendPublic, viewPublic } = keys): Promise<Uint8Array> {
  const { state } = fresh();
  state.notes.set(toHex(filled(9)), note);
  const owner = { state, isViewOnly: false, isMultisig: false, spendPublic, viewPublic, subaddresses };
  const id = toHex(new TextEncoder().encode(note.padEnd(8).slice(0, 8)));
  return cacheImage(await cacheOfWallet(owner, id), key, Buffer.from(id, "hex"));
}

/** A wallet in memory, with files of a name in a folder of its own, and what happens to it. */
function world(t: TestContext, { isWritten = true }: { readonly isWritten?: boolean } = {}) {
  const folder = folderOf(t);
  const paths = pathsOfFile(join(folder, "w"));
  const lines: LogLine[] = [];
  const log = createLog({ write: (line) => lines.push(line) }).in("wallet");
  const ledger = fresh();
  const changes: WalletChange[] = [];
  const calls: string[] = [];
  const wallet = {
    state: ledger.state,
    subaddresses: subaddresses as Pick<SubaddressTable, "size" | "entries">,
    signer: { kind: "hot", keys },
    changes: 0,
    isBackgroundSyncing: false,
    whenReady: async () => void calls.push("ready"),
    coverAll: async () => void calls.push("cover"),
    commit: async (change: WalletChange) => {
      changes.push(change);
      applyChange(ledger, change);
    },
  };
  const cache = new CacheBeside({ paths, key, network: "mainnet", isWritten, log });
  const store = (isAsked = false) => cache.store(wallet as unknown as Wallet, { isAsked });
  const takeOver = (spendPublic = keys.spendPublic) =>
    cache.takeOver({ state: ledger.state, keys: { ...keys, spendPublic }, commit: wallet.commit });
  const edit = () => applyChange(ledger, { kind: "note", txHash: toHex(filled(8)), note: "own" });
  const told = () => lines.filter(({ severity }) => severity === "WARNING").map(({ event }) => event);
  const image = () => new Uint8Array(readFileSync(paths.base));
  return { paths, state: ledger.state, changes, calls, wallet, cache, store, takeOver, edit, told, image };
}

const noteIn = (state: { readonly notes: ReadonlyMap<string, string> }) => state.notes.get(toHex(filled(9)));

test("what another program has written is taken over once", async (t) => {
  const { paths, state, changes, takeOver, told } = world(t);
  assert.equal(await takeOver(), true, "there is nothing to take");
  assert.equal(changes.length, 0);
  writeFileSync(paths.base, await foreignImage("theirs"));
  assert.equal(await takeOver(), true);
  assert.equal(noteIn(state), "theirs");
  const { length } = changes;
  assert.ok(length > 0);
  assert.equal(await takeOver(), true);
  assert.equal(changes.length, length);
  assert.deepEqual(told(), []);
});

test("a cache of other keys, or one that can't be read, stays as it is and is told", async (t) => {
  const { paths, state, changes, takeOver, told, image, store, edit } = world(t);
  const theirs = await foreignImage("theirs");
  const damaged = theirs.slice();
  damaged[20]! ^= 1;
  for (const bytes of [await foreignImage("others", createKeys()), damaged, theirs.slice(0, 7)]) {
    writeFileSync(paths.base, bytes);
    assert.equal(await takeOver(), false);
    edit();
    await store(true);
    assert.deepEqual(image(), bytes);
  }
  assert.deepEqual([changes.length, noteIn(state)], [0, undefined]);
  assert.deepEqual(
    told().map((message) => /can't be read; nothing was taken over/.test(message)),
    Array(6).fill(true),
  );
});

test("an error while changes are kept is no fault of the cache", async (t) => {
  const { paths, cache, state } = world(t);
  writeFileSync(paths.base, await foreignImage("theirs"));
  const commit = () => Promise.reject(new Error("the disk is full"));
  await assert.rejects(cache.takeOver({ state, keys, commit }), /the disk is full/);
});

test("a wallet that has scanned nothing gets a cache only if somebody asks for it", async (t) => {
  const { paths, changes, store, image } = world(t);
  await store();
  assert.ok(!existsSync(paths.base));
  await store(true);
  assert.deepEqual(changes, [{ kind: "takenOver", cacheId: cacheId(image()), since: "nothing" }]);
  const first = image();
  await store(true);
  assert.deepEqual(image(), first, "nothing has changed since");
  rmSync(paths.base);
  await store();
  assert.ok(!existsSync(paths.base));
});

test("one that has scanned a block, or was changed, gets a cache without being asked", async (t) => {
  const scanned = world(t);
  scanned.state.recent.append(filled(3));
  scanned.state.height = 2;
  await scanned.store();
  assert.ok(existsSync(scanned.paths.base));
  assert.deepEqual(scanned.calls, ["ready"]);
  const edited = world(t);
  edited.edit();
  await edited.store();
  assert.ok(existsSync(edited.paths.base));
});

test("of an output without a key image the cache says what its kind of wallet lacks", async (t) => {
  const { outputs } = ledgerOf({ count: 1, amount: () => 7n, addresses: 1 }).state;
  const said = [];
  for (const kind of ["hot", "viewOnly", "multisig"]) {
    const { state, wallet, store, edit, image } = world(t);
    wallet.signer = { kind, keys };
    state.outputs.push({ ...outputs.at(0)!, keyImage: undefined });
    edit();
    await store();
    const [transfer] = [...(await readOriginalCache(image(), key)).transfers];
    said.push([kind, transfer!.keyImageRequest, transfer!.keyImagePartial]);
  }
  assert.deepEqual(said, [
    ["hot", 0, 0],
    ["viewOnly", 1, 0],
    ["multisig", 0, 1],
  ]);
});

test("no cache is written where none is wanted, during a background scan, or of a chain that is not known", async (t) => {
  const unwanted = world(t, { isWritten: false });
  const scanning = world(t);
  scanning.wallet.isBackgroundSyncing = true;
  const unknown = world(t);
  unknown.state.height = 9;
  for (const { paths, edit, store, calls } of [unwanted, scanning, unknown]) {
    edit();
    await store(true);
    assert.ok(!existsSync(paths.base));
    assert.deepEqual(calls, []);
  }
});

test("what another program has written meanwhile is taken over before it is replaced", async (t) => {
  const { paths, state, calls, store, image, told } = world(t);
  writeFileSync(paths.base, await foreignImage("theirs"));
  await store();
  assert.equal(noteIn(state), "theirs");
  assert.deepEqual(calls, ["cover", "ready"]);
  const { wallet, ...busy } = world(t);
  const others = ["first", "second"].map((note) => foreignImage(note));
  wallet.whenReady = async () => {
    busy.calls.push("ready");
    const next = await others.shift();
    if (next !== undefined) writeFileSync(busy.paths.base, next);
  };
  busy.edit();
  await busy.store();
  assert.equal(noteIn(busy.state), "first", "of the second only what is missing is taken");
  assert.equal(busy.state.takenOverCache, cacheId(busy.image()));
  const written = await readOriginalCache(busy.image(), key);
  assert.deepEqual(written.notes.map(({ value }) => Buffer.from(value).toString()).sort(), ["first", "own"]);
  assert.deepEqual([told(), busy.told()], [[], []]);
  assert.equal(cacheId(image()), state.takenOverCache);
});

test("a cache that is replaced again and again is given up after three attempts", async (t) => {
  const { wallet, paths, calls, edit, store, told } = world(t);
  let count = 0;
  wallet.whenReady = async () => {
    calls.push("ready");
    writeFileSync(paths.base, await foreignImage(`n${++count}`));
    edit();
  };
  edit();
  await store();
  assert.equal(count, 3);
  assert.match(told().join(), /^the original program's cache was not written/);
  assert.ok(!existsSync(paths.nextCache));
});

test("a wallet that loses something while it is written is written once more, and other faults are told", async (t) => {
  const { wallet, paths, edit, store, calls } = world(t);
  const faults: Error[] = [new WalletMoved(), new WalletMoved()];
  wallet.subaddresses = {
    size: subaddresses.size,
    entries: () => {
      const fault = faults.shift();
      if (fault !== undefined) throw fault;
      return subaddresses.entries();
    },
  };
  edit();
  await store();
  assert.deepEqual(calls, ["ready", "ready", "ready"]);
  assert.ok(existsSync(paths.base));
  edit();
  faults.push(new TypeError("a fault of the program"));
  await assert.rejects(store(), TypeError);
});

test("changes that come while a cache is written are known not to be in it", async (t) => {
  const { wallet, state, edit, store, changes } = world(t);
  const { commit } = wallet;
  wallet.subaddresses = {
    size: subaddresses.size,
    entries: () => {
      wallet.changes++;
      return subaddresses.entries();
    },
  };
  edit();
  await store();
  assert.equal(state.sinceCache, "edits");
  wallet.subaddresses = subaddresses;
  wallet.commit = commit;
  await store();
  assert.equal(state.sinceCache, "nothing");
  assert.equal(changes.length, 2);
});

test("with the password the cache changes too, unless it can't be decrypted", async (t) => {
  const { paths, cache, image, store, edit } = world(t);
  const [cacheKey, keysImage] = [cacheKeyOf(filled(2)), filled(5, 100)];
  const old = { cacheKey: key } as ReadKeysFile;
  await cache.changePassword(old, { image: filled(4, 100), cacheKey: key });
  assert.deepEqual(new Uint8Array(readFileSync(paths.keys)), filled(4, 100));
  assert.ok(!existsSync(paths.base));
  writeFileSync(paths.base, await foreignImage("theirs"));
  await cache.changePassword(old, { image: keysImage, cacheKey });
  assert.deepEqual(new Uint8Array(readFileSync(paths.keys)), keysImage);
  assert.equal((await readOriginalCache(image(), cacheKey)).notes.length, 1);
  assert.deepEqual(cache.copyKey(), cacheKey);
  edit();
  await store();
  assert.equal((await readOriginalCache(image(), cacheKey)).notes.length, 2, "later ones have the new key");
  writeFileSync(paths.base, "damaged");
  await writeUnderPassword(paths, { old, sealed: { image: filled(6, 100), cacheKey } });
  assert.deepEqual(new Uint8Array(readFileSync(paths.keys)), filled(6, 100));
  assert.equal(readFileSync(paths.base, "latin1"), "damaged");
});

test("a closed cache has forgotten its key, and an unfinished one of before is removed", async (t) => {
  const { paths, cache, store, edit } = world(t);
  writeFileSync(paths.nextCache, "half of it");
  await cache.removeUnfinished();
  assert.ok(!existsSync(paths.nextCache));
  await cache.removeUnfinished();
  const copy = cache.copyKey();
  copy.fill(0);
  assert.deepEqual(cache.copyKey(), key);
  edit();
  const written = store();
  await cache.close();
  assert.ok(existsSync(paths.base), "it waits for what is being written");
  await written;
  assert.deepEqual(cache.copyKey(), new Uint8Array(32));
});

test("closing waits for what is being written, and wipes the key", async (t) => {
  const { paths, cache, store, wallet } = world(t);
  let isReady: () => void = () => undefined;
  wallet.whenReady = () => new Promise<undefined>((resolve) => (isReady = () => resolve(undefined)));
  const writing = store(true);
  const closing = cache.close();
  await setImmediate();
  assert.deepEqual(cache.copyKey(), key);
  while (!existsSync(paths.base)) {
    isReady();
    await setImmediate();
  }
  await Promise.all([writing, closing]);
  assert.deepEqual(cache.copyKey(), new Uint8Array(32));
});

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { formatAddress, toHex } from "@anulo/protocol";
import type { WalletChange } from "../src/changes.ts";
import { CacheBeside } from "../src/file/beside-original.ts";
import { WalletMoved } from "../src/file/cache-items.ts";
import { cacheOfWallet, knowsChain, LINEAGE } from "../src/file/cache-of-wallet.ts";
import { cacheId, cacheKeyOf, readOriginalCache } from "../src/file/original-cache.ts";
import { continuesOurs, takeOver } from "../src/file/take-over.ts";
import { pathsOfFile } from "../src/file/wallet-files.ts";
import { writeCache } from "../src/file/write-cache.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { SOMEBODY } from "../src/outputs/owned-output.ts";
import { RecentBlocks } from "../src/packed/block-ids.ts";
import { SubaddressTable } from "../src/scan/subaddress-table.ts";
import type { OutgoingState } from "../src/state.ts";
import type { Wallet } from "../src/wallet.ts";
import { cacheImage } from "./cache-image.ts";
import { largeLedger } from "./large-history.ts";

const filled = (byte: number, size = 32) => new Uint8Array(size).fill(byte);
const key = cacheKeyOf(filled(1));
const iv = filled(9, 8);
const keys = createKeys();
const { spendPublic, viewPublic } = keys;
const own = formatAddress({ kind: "standard", spendPublic, viewPublic }, "mainnet");
const fresh = () => createLedger("mainnet", { seedLanguage: "English", refreshFromHeight: 0 });

function outputAt(height: number, more: Partial<OwnedOutput> = {}): OwnedOutput {
  const [txHash, oneTimeKey, keyImage] = [1, 2, 3].map(() => new Uint8Array(randomBytes(32)));
  return {
    txHash: txHash!,
    outputIndex: 1,
    globalIndex: BigInt(height),
    amount: 5n,
    mask: filled(1),
    rct: true,
    oneTimeKey: oneTimeKey!,
    txPublicKey: filled(7),
    keyImage,
    subaddress: { major: 0, minor: 0 },
    height,
    timestamp: 1,
    unlockTime: 0n,
    coinbase: false,
    txSize: 0,
    frozen: false,
    spentHeight: undefined,
    pendingSpend: undefined,
    replaces: undefined,
    ...more,
  };
}

function pay(ledger: Ledger, byte: number, state: OutgoingState) {
  const payment = {
    txHash: filled(byte),
    state,
    blob: undefined,
    amountIn: 10n,
    amountOut: 9n,
    change: 4n,
    destinations: [{ address: own, amount: 5n }],
    paymentId: filled(0),
    account: 0,
    subaddressIndices: [0],
    keyImages: [filled(byte + 100)],
    unlockTime: 0n,
    createdAt: 50,
    timestamp: 60,
    height: state === "confirmed" ? 3 : 0,
  };
  ledger.state.outgoing.set(toHex(payment.txHash), payment);
  ledger.state.txKeys.set(toHex(payment.txHash), [filled(byte), filled(byte + 1)]);
}

/** A wallet with something of everything. */
function full(): Ledger {
  const ledger = fresh();
  const { state } = ledger;
  for (const [i, name] of (["confirmed", "signed", "missing", "failed", "forgotten"] as const).entries())
    pay(ledger, 10 + i, name);
  state.recent.append(Buffer.concat([filled(1), filled(2), filled(3)]));
  state.height = 4;
  state.notes.set(toHex(filled(10)), "Ünïcode");
  state.attributes.set("a key", "a value");
  state.addressBook.push({ address: own, description: "me", paymentId: "" });
  state.accounts[0]!.addresses.push({ label: "shop" });
  state.accounts.push({ tag: "mine", addresses: [{ label: "savings" }] });
  state.accountTags.set("mine", "for later");
  state.coldKeyImages.set(toHex(filled(4)), filled(5));
  return ledger;
}

const subaddresses = new SubaddressTable();
subaddresses.add({ major: 0, fromMinor: 0, keys: spendPublic });

const ownerOf = ({ state }: Ledger) => ({
  state,
  isViewOnly: false,
  isMultisig: false,
  spendPublic,
  viewPublic,
  subaddresses,
});
const readBack = async (ledger: Ledger, id = "00") =>
  readOriginalCache(cacheImage(await cacheOfWallet(ownerOf(ledger), id), key, iv), key);
const taking = { network: "mainnet", isViewOnly: false } as const;

test("what a cache says of a wallet makes the same wallet of an empty one", async () => {
  const ledger = full();
  const cache = await readBack(ledger);
  const other = fresh();
  for (const change of takeOver(cache, "00", taking)) applyChange(other, change);
  const { state } = ledger;
  for (const field of ["txKeys", "notes", "attributes", "addressBook", "accounts", "accountTags"] as const)
    assert.deepEqual(other.state[field], state[field], field);
  assert.deepEqual(other.state.coldKeyImages, state.coldKeyImages);
  // What was about to be sent, or was given up by a rescan, is pending for all the original can say.
  const states = [...other.state.outgoing.values()].map((payment) => payment.state);
  assert.deepEqual(states, ["confirmed", "pending", "missing", "failed", "pending"]);
  for (const [id, payment] of state.outgoing) {
    const { state: _, timestamp, createdAt, ...rest } = payment;
    const { state: __, timestamp: ___, createdAt: ____, ...told } = other.state.outgoing.get(id)!;
    assert.deepEqual(told, rest, id);
  }
});

test("outputs are written in the order of the chain, spent by blocks that were scanned or waiting to be", async () => {
  const ledger = fresh();
  const { state } = ledger;
  state.recent.append(Buffer.concat([filled(1), filled(2), filled(3)]));
  state.height = 4;
  for (const output of [
    outputAt(3, { spentHeight: 3 }),
    outputAt(1, { spentHeight: 4, frozen: true }),
    outputAt(2, { pendingSpend: "aa", keyImage: undefined }),
    outputAt(2, { pendingSpend: SOMEBODY }),
    outputAt(2, { outputIndex: 0x10000 }),
  ])
    state.outputs.push(output);
  const { transfers, keyImages, oneTimeKeys, blocks, blockIds } = await readBack(ledger);
  const seen = transfers.map(({ height, spent, spentHeight, frozen, keyImageKnown }) => {
    return [height, spent, spentHeight, frozen, keyImageKnown];
  });
  assert.deepEqual(seen, [
    [1n, 1, 0n, 1, 1],
    [2n, 1, 0n, 0, 0],
    [2n, 0, 0n, 0, 1],
    [3n, 1, 3n, 0, 1],
  ]);
  assert.deepEqual(
    keyImages.map(({ key: image, value }) => [toHex(image), value]),
    [0, 2, 3].map((i) => [toHex(transfers[i]!.keyImage), BigInt(i)]),
  );
  assert.equal(oneTimeKeys.length, 4);
  assert.deepEqual([blocks.offset, blockIds.length], [0n, 4], "with the genesis block");
  const { prefix } = transfers[0]!;
  assert.deepEqual([...prefix.extra], [1, ...filled(7)], "its public key, and nothing behind it");
  const key0 = state.outputs.at(1)!.oneTimeKey;
  assert.deepEqual(prefix.outputs[1], { amount: 0n, target: { type: "key", key: key0 } });
});

test("outputs found out of order are written by their heights, those of one block as they were found", async () => {
  const ledger = fresh();
  const { state } = ledger;
  state.recent.append(Buffer.concat(Array.from({ length: 50 }, (_, i) => filled(i))));
  state.height = 51;
  for (let i = 0; i < 1000; i++)
    state.outputs.push(outputAt(1 + ((i * 37) % 50), { globalIndex: BigInt(i) }));
  const { transfers, oneTimeKeys } = await readBack(ledger);
  const expected = [...state.outputs].sort((a, b) => a.height - b.height);
  assert.deepEqual(
    transfers.map(({ globalIndex }) => globalIndex),
    expected.map(({ globalIndex }) => globalIndex),
  );
  assert.deepEqual(oneTimeKeys[999], { pairSize: 2, key: expected[999]!.oneTimeKey, value: 999n });
});

test("receipts and payments are read when they are written, and only as long as none was removed", async () => {
  const { state } = largeLedger({ receipts: 500, payments: 300 });
  const reads = () => [state.incoming.reads, state.outgoing.reads];
  const before = reads();
  const cache = await cacheOfWallet(ownerOf({ state } as Ledger), "00");
  assert.deepEqual(reads(), before, "nothing is read before it is written");
  const [payments, confirmed] = [[...cache.payments], [...cache.confirmed]];
  assert.deepEqual([payments.length, confirmed.length], [500, 300]);
  assert.deepEqual(
    payments.map(({ value }) => value.txHash),
    [...state.incoming].map(({ txHash }) => txHash),
  );
  assert.deepEqual(
    new Set(confirmed.map(({ key: txHash }) => toHex(txHash))),
    new Set([...state.outgoing.values()].map(({ txHash }) => toHex(txHash))),
  );
  const rest = cache.payments[Symbol.iterator]();
  rest.next();
  state.incoming.removeAt([7]);
  assert.throws(() => rest.next(), WalletMoved);
});

test("nonces and what cosigners exported stay where they are", async () => {
  const ledger = full();
  const output = outputAt(2);
  ledger.state.outputs.push(output);
  const name = toHex(output.oneTimeKey);
  ledger.state.multisigNonces.set(name, [filled(0xab)]);
  const cache = await cacheOfWallet({ ...ownerOf(ledger), isMultisig: true }, "00");
  const { transfers } = await readOriginalCache(cacheImage(cache, key, iv), key);
  assert.deepEqual([transfers[0]!.multisigNonces, transfers[0]!.multisigInfos], [[], []]);
});

test("a chain whose newest block is not known by its id is not written", () => {
  const { state } = fresh();
  assert.ok(knowsChain(state), "an empty wallet");
  assert.ok(!knowsChain({ ...state, height: 9, recent: new RecentBlocks(9) }));
  assert.ok(
    knowsChain({ ...state, height: 9, recent: RecentBlocks.of({ offset: 7, ids: [filled(1), filled(2)] }) }),
  );
});

test("what the original made of our cache replaces ours; of any other cache only what is missing is taken", async () => {
  const [, id] = [...full().state.outgoing.keys()];
  for (const isOurs of [true, false]) {
    const ledger = full();
    const { state } = ledger;
    state.takenOverCache = "0a";
    state.notes.set(id!, "deleted there");
    const edited = full();
    const there = edited.state;
    there.notes.set(toHex(filled(10)), "edited");
    there.accounts[0]!.addresses[1]!.label = "edited";
    there.accounts[1]!.tag = "other";
    there.accountTags.delete("mine");
    there.accountTags.set("other", "edited");
    there.addressBook.length = 0;
    there.attributes.set("a key", "edited");
    const cache = await readBack(edited, isOurs ? "0a" : "0b");
    assert.equal(continuesOurs(cache, state), isOurs);
    const before = full().state;
    for (const change of takeOver(cache, "0c", { ...taking, ...(isOurs && { older: state }) }))
      applyChange(ledger, change);
    const expected = isOurs ? there : before;
    for (const field of ["accounts", "accountTags", "addressBook", "attributes"] as const)
      assert.deepEqual(state[field], expected[field], field);
    assert.equal(state.notes.get(id!), isOurs ? "" : "deleted there");
    assert.equal(state.notes.get(toHex(filled(10))), isOurs ? "edited" : "Ünïcode");
    assert.ok(!state.attributes.has(LINEAGE));
    assert.deepEqual([state.takenOverCache, state.sinceCache], ["0c", "chain"]);
  }
});

test("what has changed since a cache is known, so that the original's edits never undo ours", () => {
  const ledger = fresh();
  const { state } = ledger;
  applyChange(ledger, { kind: "pool", payments: [] });
  assert.equal(state.sinceCache, "chain");
  applyChange(ledger, { kind: "note", txHash: "aa", note: "n" });
  applyChange(ledger, { kind: "pool", payments: [] });
  assert.equal(state.sinceCache, "edits");
  applyChange(ledger, { kind: "takenOver", notes: [] });
  assert.equal(state.sinceCache, "edits", "until the last part");
  applyChange(ledger, { kind: "takenOver", cacheId: "0a", since: "nothing" });
  assert.equal(state.sinceCache, "nothing");
});

function folder(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), "anulo-cache-"));
  t.after(() => rmSync(directory, { recursive: true }));
  return { path: join(directory, "w"), temporary: join(directory, "w.anulo.cache"), key };
}

test("a cache of any size is written in turns, under a new id each time, for its owner alone", async (t) => {
  const target = folder(t);
  const ids = new Set<string>();
  for (const count of [0, 200, 9000, 30]) {
    const ledger = full();
    for (let i = 0; i < count; i++) ledger.state.outputs.push(outputAt(1 + (i % 3)));
    const id = await writeCache(
      target,
      (next) => cacheOfWallet(ownerOf(ledger), next),
      async () => true,
    );
    const image = new Uint8Array(readFileSync(target.path));
    assert.equal(cacheId(image), id);
    assert.equal(statSync(target.path).mode & 0o777, 0o600);
    const cache = await readOriginalCache(image, key);
    assert.equal(cache.transfers.length, count);
    assert.ok(continuesOurs(cache, { ...ledger.state, takenOverCache: id! }));
    ids.add(id!);
  }
  assert.equal(ids.size, 4);
  assert.ok(!existsSync(target.temporary));
});

test("a cache another program wrote meanwhile, or one that fails, leaves what was there", async (t) => {
  const target = folder(t);
  writeFileSync(target.path, "theirs");
  const make = (id: string) => cacheOfWallet(ownerOf(full()), id);
  assert.equal(await writeCache(target, make, async () => false), undefined);
  const broken = async (id: string) => ({
    ...(await make(id)),
    notes: { length: 2, *[Symbol.iterator]() {} },
  });
  await assert.rejects(
    writeCache(target, broken, async () => true),
    RangeError,
  );
  assert.equal(readFileSync(target.path, "latin1"), "theirs");
  assert.ok(!existsSync(target.temporary));
});

test("a cache is written again only after changes that it does not have", async (t) => {
  const { path, key } = folder(t);
  const ledger = full();
  const { state } = ledger;
  const commits: WalletChange[] = [];
  const wallet = {
    state,
    subaddresses,
    signer: { kind: "hot", keys },
    changes: 0,
    isBackgroundSyncing: false,
    whenReady: async () => {},
    commit: async (change: WalletChange) => {
      commits.push(change);
      applyChange(ledger, change);
    },
  };
  const cacheIdIn = (bytes: string) => cacheId(Buffer.from(bytes, "latin1"));
  const cache = new CacheBeside({ paths: pathsOfFile(path), key, network: "mainnet", isWritten: true });
  const note = () => {
    applyChange(ledger, { kind: "note", txHash: toHex(filled(9)), note: `${++wallet.changes}` });
  };
  const store = async () => {
    await cache.store(wallet as unknown as Wallet, { isAsked: true });
    return readFileSync(path, "latin1");
  };
  note();
  const first = await store();
  assert.equal(state.sinceCache, "nothing");
  assert.equal(await store(), first);
  note();
  let isOver = false;
  const whileWritten = store().finally(() => {
    isOver = true;
  });
  // Some of these come after the cache was drawn for the last time.
  while (!isOver) {
    note();
    await setImmediate();
  }
  const second = await whileWritten;
  assert.notEqual(second, first);
  assert.deepEqual(commits.at(-1), { kind: "takenOver", cacheId: cacheIdIn(second), since: "edits" });
  assert.notEqual(await store(), second);
  assert.equal(state.sinceCache, "nothing");
});

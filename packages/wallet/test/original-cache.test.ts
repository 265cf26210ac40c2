import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { chacha20 } from "@anulo/crypto";
import { BadBytes, encode, formatAddress, parseAddress, toHex, varint } from "@anulo/protocol";
import { writeUnderPassword } from "../src/file/beside-original.ts";
import { encryptedFile } from "../src/file/encrypted-file.ts";
import { newSettings, readKeysFile, sealKeysFile, writeKeysFile } from "../src/file/keys-file.ts";
import {
  cacheId,
  cacheKeyOf,
  type OriginalCache,
  readOriginalCache,
  resealCache,
} from "../src/file/original-cache.ts";
import { takeOver } from "../src/file/take-over.ts";
import { putCacheAside, walletPaths } from "../src/file/wallet-files.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { applyTakenOver } from "../src/ledger/apply-taken-over.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { createRuntime } from "../src/runtime.ts";
import { cacheImage } from "./cache-image.ts";

const runtime = createRuntime();

const filled = (byte: number, size = 32) => new Uint8Array(size).fill(byte);
const utf8 = (text: string) => new TextEncoder().encode(text);
const key = cacheKeyOf(filled(1));
const iv = filled(9, 8);
const receiver = parseAddress(
  "44AFFq5kSiGBoZ4NMDwYtN18obc8AemS33DBLWs3H7otXft3XjrpDtQGv7SqSsaBYBb98uNbr2VBBEt7f2wfn3RVGQBEP3A",
  "mainnet",
);
const { spendPublic, viewPublic } = receiver;
const entry = { spendPublic, viewPublic, isSubaddress: 0, isIntegrated: 0 };
const prefix = {
  version: 2,
  unlockTime: 7n,
  inputs: [{ type: "key", amount: 0n, keyOffsets: [1n, 2n], keyImage: filled(5) }],
  outputs: [{ amount: 0n, target: { type: "taggedKey", key: filled(6), viewTag: 1 } }],
  extra: filled(0, 0),
} as const;
const pairOf = <V>(name: number, value: V) => ({ pairSize: 2, key: filled(name), value });
const textPair = (name: string, value: string) => ({ pairSize: 2, key: utf8(name), value: utf8(value) });
const paid = {
  version: 1,
  prefix,
  amountIn: 10n,
  amountOut: 9n,
  change: 2n ** 64n - 1n,
  destinations: [
    { ...entry, original: utf8(""), amount: 4n },
    { ...entry, original: utf8("as given"), amount: 3n },
    { ...entry, original: utf8(""), amount: 2n, isIntegrated: 1 },
    { ...entry, original: utf8(""), amount: 1n, isSubaddress: 1 },
  ],
  paymentId: filled(8),
  timestamp: 1000n,
  account: 1,
  subaddressIndices: [0, 3],
  rings: [],
};

const cache = {
  version: 0,
  blocks: { version: 0, offset: 0n, genesis: filled(2) },
  blockIds: [filled(2), filled(3)],
  transfers: [
    {
      height: 5n,
      prefix,
      txHash: filled(4),
      outputIndex: 0n,
      globalIndex: 77n,
      spent: 0,
      frozen: 1,
      spentHeight: 0n,
      keyImage: filled(12),
      mask: filled(1),
      amount: 5n,
      rct: 1,
      keyImageKnown: 1,
      keyImageRequest: 0,
      keyIndex: 0n,
      subaddress: { major: 0, minor: 0 },
      keyImagePartial: 0,
      multisigNonces: [filled(1)],
      uses: [],
      multisigInfos: [{ signer: filled(1), nonces: [filled(1, 64)], partialKeyImages: [filled(1)] }],
    },
  ],
  address: { spendPublic, viewPublic },
  keyImages: [pairOf(12, 0n)],
  unconfirmed: [pairOf(32, { ...paid, sentTime: 900n, state: 1 })],
  payments: [],
  txKeys: [pairOf(31, filled(41)), pairOf(32, filled(42))],
  confirmed: [pairOf(31, { ...paid, height: 6n, unlockTime: 7n })],
  notes: [pairOf(31, utf8("Ünïcode"))],
  poolPayments: [],
  oneTimeKeys: [],
  addressBook: [
    {
      version: 0,
      spendPublic,
      viewPublic,
      paymentId: filled(8, 8),
      description: utf8("a friend"),
      isSubaddress: 0,
      hasPaymentId: 1,
    },
  ],
  seenInPool: [],
  seenInPoolBefore: [],
  subaddresses: [],
  labels: [[utf8("Primary account"), utf8("shop")], [utf8("savings")]],
  additionalTxKeys: [pairOf(31, [filled(43), filled(44)])],
  attributes: [textPair("a key", "a value")],
  accountTags: { pairSize: 2, key: [textPair("mine", "for later")], value: [utf8(""), utf8("mine")] },
  ringsSaved: 1,
  lastBlockReward: 3n,
  transactionsOnDevice: [],
  lastDeviceSync: 0n,
  coldKeyImages: [pairOf(6, filled(12))],
  rpcClientKey: filled(0),
} as unknown as OriginalCache;

/** What later versions have at their end: a flag, and what was found while scanning in the background. */
const flagged: OriginalCache = { ...cache, version: 1, refreshedFromNode: 1 };
const scanned = {
  version: 0,
  position: 0n,
  transaction: { prefix: { ...prefix, version: 1 }, signatures: [], ringct: undefined },
  globalIndices: [7n],
  height: 5n,
  timestamp: 1000n,
  doubleSpendSeen: 0,
};
const background = {
  ...flagged,
  version: 2,
  background: { version: 0, isRefreshed: 1, height: 4n },
  backgroundTransactions: [pairOf(4, scanned)],
  backgroundSettings: { refreshFromHeight: 0n, lookaheadMajor: 50n, lookaheadMinor: 200n, refreshType: 1n },
} as unknown as OriginalCache;

const image = cacheImage(cache, key, iv);
const fresh = () => createLedger("mainnet", { seedLanguage: "English", refreshFromHeight: 0 });

test("a cache of the original is read as it was written", async () => {
  assert.deepEqual(await readOriginalCache(image, key), cache);
  assert.equal(cacheId(image), toHex(iv));
});

test("caches of every version are read to their end, and of no later one", async () => {
  for (const each of [cache, flagged, background]) {
    const written = cacheImage(each, key, iv);
    assert.deepEqual(await readOriginalCache(written, key), each);
    await assert.rejects(readOriginalCache(written.subarray(0, written.length - 1), key), BadBytes);
  }
  // Another version of the same length: the cipher is a stream, so that a bit of the file is a bit of the text.
  const at = 8 + encode(varint, image.length).length + "monero wallet cache".length;
  for (const [from, version] of [
    [cache, 1],
    [flagged, 0],
    [flagged, 2],
    [background, 1],
    [background, 3],
  ] as const) {
    const written = cacheImage(from, key, iv);
    written[at]! ^= from.version ^ version;
    await assert.rejects(readOriginalCache(written, key), BadBytes, `${from.version} as ${version}`);
  }
});

test("a cache under another key, cut short, lengthened or of another kind is none", async () => {
  const other = cacheKeyOf(filled(2));
  await assert.rejects(readOriginalCache(image, other), BadBytes);
  for (const size of [0, 7, 8, 20, image.length >> 1, image.length - 1])
    await assert.rejects(readOriginalCache(image.subarray(0, size), key), BadBytes);
  assert.throws(() => resealCache(image, { from: other, to: key, iv }), BadBytes);
  // What begins every cache, alone or in part.
  const magic = utf8("monero wallet cache");
  for (const size of [0, 1, magic.length - 1, magic.length]) {
    const encrypted = chacha20(magic.subarray(0, size), key, iv);
    await assert.rejects(readOriginalCache(encode(encryptedFile, { iv, encrypted }), key), (error: Error) => {
      assert.ok(error instanceof BadBytes);
      assert.equal(/not a cache of version 0\.18/.test(error.message), size < magic.length, error.message);
      return true;
    });
  }
  // A count far above the bytes there are allocates nothing.
  const lying = cacheImage({ ...cache, blockIds: [] }, key, iv);
  const { length } = lying;
  for (let at = 12; at < Math.min(length, 120); at++) {
    const changed = Uint8Array.from(lying, (byte, i) => (i === at ? byte ^ 0xff : byte));
    await readOriginalCache(changed, key).catch((error) => assert.ok(error instanceof BadBytes));
  }
});

test("what stands only in the cache gets into the ledger, once", () => {
  const ledger = fresh();
  const taking = { network: "mainnet", isViewOnly: false } as const;
  const changes = [...takeOver(cache, "id", taking)];
  for (let twice = 0; twice < 2; twice++) for (const change of changes) applyChange(ledger, change);
  const { state } = ledger;
  const [confirmed, waiting] = [toHex(filled(31)), toHex(filled(32))];
  assert.deepEqual(state.txKeys.get(confirmed), [filled(41), filled(43), filled(44)]);
  assert.deepEqual(state.txKeys.get(waiting), [filled(42)]);
  const { destinations, change, height, state: name, keyImages } = state.outgoing.get(confirmed)!;
  assert.deepEqual(
    { change, height, name, keyImages },
    { change: 0n, height: 6, name: "confirmed", keyImages: [filled(5)] },
  );
  const paymentId = filled(8, 8);
  const texts = [
    formatAddress({ kind: "standard", spendPublic, viewPublic }, "mainnet"),
    "as given",
    formatAddress({ kind: "integrated", spendPublic, viewPublic, paymentId }, "mainnet"),
    formatAddress({ kind: "subaddress", spendPublic, viewPublic }, "mainnet"),
  ];
  assert.deepEqual(
    destinations,
    texts.map((address, i) => ({ address, amount: [4n, 3n, 2n, 1n][i]! })),
  );
  assert.equal(state.outgoing.get(waiting)!.state, "missing");
  assert.equal(state.notes.get(confirmed), "Ünïcode");
  assert.equal(state.attributes.get("a key"), "a value");
  assert.deepEqual(state.addressBook, [{ address: texts[2], description: "a friend", paymentId: "" }]);
  const labels = state.accounts.map(({ addresses }) => addresses.map(({ label }) => label));
  assert.deepEqual(labels, [["Primary account", "shop"], ["savings"]]);
  assert.deepEqual([state.accounts[1]!.tag, state.accountTags.get("mine")], ["mine", "for later"]);
  assert.deepEqual(state.frozenBefore, [toHex(filled(12))]);
  assert.deepEqual(state.coldKeyImages.get(toHex(filled(6))), filled(12));
  assert.equal(state.takenOverCache, "id");
});

test("what the wallet knows already stays as it is", () => {
  const ledger = fresh();
  const { state } = ledger;
  const id = toHex(filled(31));
  state.notes.set(id, "mine");
  state.txKeys.set(id, [filled(99)]);
  state.accounts[0]!.addresses[0]!.label = "my label";
  applyTakenOver(ledger, {
    notes: [[id, "theirs"]],
    txKeys: [[id, [filled(1)]]],
    labels: [["theirs", "new"]],
  });
  assert.equal(state.notes.get(id), "mine");
  assert.deepEqual(state.txKeys.get(id), [filled(99)]);
  assert.deepEqual(state.accounts[0]!.addresses, [{ label: "my label" }, { label: "new" }]);
});

test("a new password opens the cache as well; a cache it does not fit stays as it is, one of other keys goes aside", async () => {
  const directory = mkdtempSync(join(tmpdir(), "anulo-cache-"));
  try {
    const paths = walletPaths(directory, "w");
    const settings = newSettings({ network: "mainnet", seedLanguage: "English", refreshHeight: 0 });
    const file = { keys: createKeys(), createdAt: 1n, settings };
    const random = (size: number) => new Uint8Array(size);
    const old = await writeKeysFile(file, { ...runtime, password: "old", random });
    const opened = await readKeysFile(old, { ...runtime, password: "old" });
    writeFileSync(paths.base, cacheImage(cache, opened.cacheKey, iv));
    const changed = await sealKeysFile(file, { ...runtime, password: "new", random });
    await writeUnderPassword(paths, { old: opened, sealed: changed });
    assert.deepEqual(await readOriginalCache(readFileSync(paths.base), changed.cacheKey), cache);
    assert.deepEqual(new Uint8Array(readFileSync(paths.keys)), changed.image);

    writeFileSync(paths.base, "something else");
    await writeUnderPassword(paths, { old: opened, sealed: changed });
    assert.equal(readFileSync(paths.base, "latin1"), "something else");
    for (const name of ["w.old", "w.old2"]) {
      writeFileSync(paths.base, name);
      await putCacheAside(paths);
      assert.ok(!existsSync(paths.base));
      assert.equal(readFileSync(join(directory, name), "latin1"), name);
    }
    await putCacheAside(paths);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

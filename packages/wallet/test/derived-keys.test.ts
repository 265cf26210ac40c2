/** Keys of files that follow from passwords and other keys, as the original and earlier releases have derived them. */
import assert from "node:assert/strict";
import { hkdfSync } from "node:crypto";
import { test } from "node:test";
import { cnSlowHash, keccak256 } from "@anulo/crypto";
import { concatBytes } from "@anulo/protocol";
import type { Engine, WalletStoreOptions } from "@anulo/store";
import { backgroundKeyOf } from "../src/file/keys-file.ts";
import { type LedgerStore, type StoredWallet, withKeys, wrappingKey } from "../src/file/open-rows.ts";
import { backgroundCacheKeyOf, cacheKeyOf } from "../src/file/original-cache.ts";
import { hashFileKey, hashPassword } from "../src/file/password-hash.ts";
import { withStore } from "../src/file/store-secret.ts";
import { pathsOfFile } from "../src/file/wallet-files.ts";
import { createRuntime } from "../src/runtime.ts";
import type { WorkThreads } from "../src/threads/work-threads.ts";

const filled = (byte: number) => new Uint8Array(32).fill(byte);
const { threads } = createRuntime({ concurrency: 0 });
const withTail = (key: Uint8Array, tail: number) => concatBytes(key, Uint8Array.of(tail));

test("the keys of caches and of background wallets follow from a file's key and a byte", async () => {
  assert.deepEqual(cacheKeyOf(filled(1)), keccak256(withTail(filled(1), 0x8d)));
  assert.deepEqual(backgroundCacheKeyOf(filled(1)), keccak256(withTail(filled(1), 0x8e)));
  const hash = cnSlowHash(new TextEncoder().encode("pässword"));
  assert.deepEqual(await backgroundKeyOf("pässword", { threads }), keccak256(withTail(hash, 0x8f)));
});

test("a journal's key follows from the spend key where there is one, and is wiped then", async () => {
  const paths = pathsOfFile("/f/w");
  const [viewSecret, spendSecret] = [filled(3), filled(4)];
  const purpose = "anulo wallet store of a spend key";
  const expected = new Uint8Array(hkdfSync("sha256", spendSecret, viewSecret, purpose, 32));
  let kept: Uint8Array | undefined;
  const result = await withStore(paths, { viewSecret, spendSecret }, "stagenet", async (options) => {
    kept = options.secret;
    assert.deepEqual(options, {
      ...{ path: paths.store, network: "stagenet" },
      ...{ secret: expected, formerSecret: viewSecret },
    });
    return "done";
  });
  assert.deepEqual([result, kept], ["done", filled(0)]);
  await withStore(paths, { viewSecret, spendSecret: undefined }, "mainnet", async (options) => {
    assert.deepEqual(options, { path: paths.store, network: "mainnet", secret: viewSecret });
  });
  assert.deepEqual(viewSecret, filled(3));
});

/** Threads that only note what they hash, and may fail. */
function fakeThreads() {
  const asked: { bytes: string; rounds: number }[] = [];
  const state = { isFailing: false };
  const instances = new Map<unknown, unknown>();
  const fake = {
    run: async (_: string, { bytes, rounds }: { bytes: Uint8Array; rounds: number }) => {
      asked.push({ bytes: Buffer.from(bytes).toString("hex"), rounds });
      if (state.isFailing) throw new Error("the thread has ended");
      return Uint8Array.from({ length: 32 }, (_byte, i) => (bytes[i] ?? 7) + rounds);
    },
    instanceOf: <T>(make: new (of: WorkThreads) => T): T => {
      if (!instances.has(make)) instances.set(make, new make(fake as unknown as WorkThreads));
      return instances.get(make) as T;
    },
  };
  return { threads: fake as unknown as WorkThreads, asked, state };
}

test("only the hashes of the empty password are kept, by their rounds, and each caller gets its own", async () => {
  const { threads: fake, asked } = fakeThreads();
  const first = await hashPassword(fake, "", 1);
  const second = await hashPassword(fake, "", 1);
  assert.deepEqual(first, second);
  first.fill(0);
  assert.notDeepEqual(first, second);
  assert.deepEqual(await hashPassword(fake, "", 1), second);
  await hashPassword(fake, "", 2);
  assert.deepEqual(asked, [
    { bytes: "", rounds: 1 },
    { bytes: "", rounds: 2 },
  ]);
  for (let i = 0; i < 2; i++) await hashPassword(fake, "a", 3);
  assert.deepEqual(asked.slice(2), Array(2).fill({ bytes: "61", rounds: 3 }));
});

test("what follows from a kept hash is kept, too, and nothing else", async () => {
  const { threads: fake, asked } = fakeThreads();
  const nothing = await hashPassword(fake, "", 1);
  await hashPassword(fake, "", 2);
  const hex = (key: Uint8Array, tail: number) => Buffer.from(withTail(key, tail)).toString("hex");
  const kept = await hashFileKey(fake, nothing, 5);
  const copy = kept.slice();
  kept.fill(0);
  assert.deepEqual(await hashFileKey(fake, nothing, 5), copy);
  await hashFileKey(fake, nothing, 6);
  await hashFileKey(fake, await hashPassword(fake, "", 2), 5);
  for (let i = 0; i < 2; i++) await hashFileKey(fake, filled(77), 5);
  assert.deepEqual(asked.slice(2), [
    { bytes: hex(nothing, 5), rounds: 1 },
    { bytes: hex(nothing, 6), rounds: 1 },
    { bytes: hex(await hashPassword(fake, "", 2), 5), rounds: 1 },
    ...Array(2).fill({ bytes: hex(filled(77), 5), rounds: 1 }),
  ]);
});

test("a hash that could not be computed is computed the next time", async () => {
  const { threads: fake, asked, state } = fakeThreads();
  state.isFailing = true;
  await assert.rejects(hashPassword(fake, "", 1), /thread has ended/);
  state.isFailing = false;
  const nothing = await hashPassword(fake, "", 1);
  state.isFailing = true;
  await assert.rejects(hashFileKey(fake, nothing, 5), /thread has ended/);
  state.isFailing = false;
  await hashFileKey(fake, nothing, 5);
  assert.equal(asked.length, 4);
});

const keys = { spendPublic: filled(1), viewPublic: filled(2), viewSecret: filled(3), spendSecret: filled(4) };

/** A wallet with these keys in a store of a role. */
function stored(role: LedgerStore["role"], serviceKey: Uint8Array | undefined, spendSecret = true) {
  const wallet = {
    ...{ paths: pathsOfFile("/f/w"), cacheKey: filled(5), network: "mainnet" },
    keys: { ...keys, spendSecret: spendSecret ? keys.spendSecret : undefined, multisig: undefined },
  } as unknown as StoredWallet;
  const store = {
    engine: {} as Engine,
    folder: "/f/s",
    serviceKey,
    acceptsOlder: false,
    role,
  } as LedgerStore;
  return { wallet, store };
}

test("a store is opened by the service's key, and by those that it may have been opened by before", async () => {
  const id = new Uint8Array(16).fill(6);
  const info = Buffer.concat([Buffer.from("anulo wallet store of a password"), keys.spendPublic]);
  const keyOf = (secret: Uint8Array) =>
    new Uint8Array(hkdfSync("sha256", concatBytes(secret, keys.viewSecret), id, info, 32));
  const { wallet: any } = stored(undefined, undefined);
  assert.deepEqual(wrappingKey(filled(9), id, any), keyOf(filled(9)));
  const [service, ofSpend, ofView, ofCache] = [filled(9), filled(4), filled(3), filled(5)].map(keyOf);
  for (const [place, expected] of [
    [stored(undefined, undefined), [ofCache]],
    [stored(undefined, filled(9)), [service, ofCache]],
    [stored("folder", undefined), [ofSpend, ofView, ofCache]],
    [stored("leave", filled(9)), [service, ofSpend, ofView, ofCache]],
    [stored("folder", undefined, false), [ofView, ofCache]],
  ] as const) {
    const seen: Uint8Array[] = [];
    const task = async ({ wrappingKey: current, formerKeys, wallet, folder, engine }: WalletStoreOptions) => {
      seen.push(current, ...(formerKeys ?? []));
      assert.deepEqual([seen, wallet, folder], [expected, id, "/f/s"]);
      assert.equal(engine, place.store.engine);
      return "done";
    };
    assert.equal(await withKeys(place.wallet, { store: place.store, id }, task), "done");
    assert.ok(
      seen.flatMap((key) => [...key]).every((byte) => byte === 0),
      "none is left",
    );
  }
  const kept: Uint8Array[] = [];
  const { wallet, store } = stored("folder", filled(9));
  const failing = async (options: WalletStoreOptions) => {
    kept.push(options.wrappingKey, ...(options.formerKeys ?? []));
    throw new Error("the store is away");
  };
  await assert.rejects(withKeys(wallet, { store, id }, failing), /the store is away/);
  assert.deepEqual(kept, Array(4).fill(filled(0)));
});

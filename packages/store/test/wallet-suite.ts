import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  DamagedStore,
  type Engine,
  Fenced,
  type OpenedWalletStore,
  openWalletStore,
  rangeOf,
  StoreUnavailable,
  type Table,
  type WalletId,
  type WalletStore,
  WrongStoreKey,
} from "../src/index.ts";
import { bytes, collect, type Harness, text, walletId } from "./harness.ts";

const notes: Table = { number: 1 };
const events: Table = { number: 2, orderedBytes: 8 };
const unspent: Table = { number: 3, groupBytes: 4, orderedBytes: 8 };
const nonces: Table = { number: 4, isSecret: true };
const tables = [notes, events, unspent, nonces];

function height(value: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeBigUInt64BE(BigInt(value));
  return key;
}

/** The store of an opening that found nothing to ask about. */
export function storeOf(opened: OpenedWalletStore): WalletStore {
  if (opened.kind === "rolledBack") throw new Error("the store was rolled back");
  return opened.store;
}

/** What the sealed store of a wallet has to do over every engine. */
export function walletSuite(name: string, start: () => Promise<Harness>): void {
  describe(`a wallet's store over the ${name} engine`, () => {
    const wrappingKey = randomBytes(32);
    let harness: Harness;
    let engine: Engine;
    let wallets = 0;
    const stores: WalletStore[] = [];
    const open = async (wallet: WalletId, key: Uint8Array = wrappingKey) => {
      const opened = await openWalletStore({
        engine,
        wallet,
        tables,
        wrappingKey: key,
        folder: harness.folder,
      });
      if (opened.kind !== "rolledBack") stores.push(opened.store);
      return opened;
    };
    const fresh = async () => {
      const wallet = walletId(++wallets);
      return { wallet, store: storeOf(await open(wallet)) };
    };
    before(async () => {
      harness = await start();
      engine = await harness.open();
    });
    after(async () => {
      for (const store of stores) await store.close();
      await harness?.stop();
    });

    it("gives back what was put, by key and in ranges of what is ordered", async () => {
      const { store } = await fresh();
      const puts = [300, 2, 70_000, 1].map((at) => ({
        table: events,
        key: height(at),
        value: bytes(`at ${at}`),
      }));
      await store.apply({ puts: [...puts, { table: notes, key: bytes("note"), value: bytes("text") }] });
      assert.equal(text(await store.read(notes, bytes("note"))), "text");
      assert.equal(await store.read(notes, bytes("other")), undefined);
      const rows = await collect(store.range(events, { from: height(2), to: height(70_000) }));
      assert.deepEqual(
        rows.map(({ value }) => text(value)),
        ["at 2", "at 300"],
      );
      const newest = await collect(store.range(events, { reverse: true, limit: 1 }));
      assert.deepEqual(
        newest.map(({ key }) => Buffer.from(key)),
        [height(70_000)],
      );
      assert.deepEqual(
        (await collect(store.range(notes))).map(({ key }) => text(key)),
        ["note"],
      );
      await store.apply({ deletes: [{ table: notes, key: bytes("note") }] });
      assert.deepEqual(await collect(store.range(notes)), []);
    });

    it("walks the rows of a group in order, and no others", async () => {
      const { store } = await fresh();
      const key = (account: string, at: number, rest: string) =>
        Buffer.concat([bytes(account), height(at), bytes(rest)]);
      const keys = [key("aaaa", 5, "x"), key("aaaa", 1, "y"), key("aaaa", 5, "z"), key("bbbb", 3, "x")];
      await store.apply({ puts: keys.map((it) => ({ table: unspent, key: it, value: bytes("") })) });
      const found = await collect(store.range(unspent, { from: bytes("aaaa") }));
      assert.equal(found.length, 3);
      assert.deepEqual(Buffer.from(found[0]!.key), keys[1]);
      const old = await collect(store.range(unspent, { to: key("aaaa", 5, "") }));
      assert.deepEqual(
        old.map((row) => Buffer.from(row.key)),
        [keys[1]],
      );
      assert.equal((await collect(store.range(unspent, { from: bytes("bbbb"), reverse: true }))).length, 1);
      assert.equal((await collect(store.range(unspent))).length, 4);
      await assert.rejects(
        collect(store.range(unspent, { from: bytes("aaaa"), to: bytes("bbbb") })),
        RangeError,
      );
      await assert.rejects(collect(store.range(unspent, { from: keys[0]! })), RangeError);
      await assert.rejects(collect(store.range(notes, { from: bytes("n") })), RangeError);
    });

    it("opens again with its key alone, and with another once it is wrapped by it", async () => {
      const { wallet, store } = await fresh();
      await store.apply({ puts: [{ table: notes, key: bytes("a"), value: bytes("1") }] });
      await store.close();
      const other = randomBytes(32);
      await assert.rejects(open(wallet, other), WrongStoreKey);
      const again = await open(wallet);
      assert.equal(again.kind, "continued");
      assert.equal(storeOf(again).mark.epoch, store.mark.epoch + 1);
      await storeOf(again).wrapBy(other);
      await storeOf(again).close();
      await assert.rejects(open(wallet), WrongStoreKey);
      const wrapped = storeOf(await open(wallet, other));
      assert.equal(text(await wrapped.read(notes, bytes("a"))), "1");
      await wrapped.close();
    });

    it("opens by either key while one takes the other's place, and by one once it is opened", async () => {
      const [next, stranger] = [randomBytes(32), randomBytes(32)];
      for (const key of [wrappingKey, next]) {
        const { wallet, store } = await fresh();
        await store.wrapAlsoBy(next);
        await store.close();
        await assert.rejects(open(wallet, stranger), WrongStoreKey);
        await storeOf(await open(wallet, key)).close();
        await assert.rejects(open(wallet, key === next ? wrappingKey : next), WrongStoreKey);
        await storeOf(await open(wallet, key)).close();
      }
    });

    it("is taken over by another key where the former one is told", async () => {
      const { wallet, store } = await fresh();
      await store.close();
      const key = randomBytes(32);
      const options = { engine, wallet, tables, wrappingKey: key, folder: harness.folder };
      await storeOf(
        await openWalletStore({ ...options, formerKeys: [randomBytes(32), wrappingKey] }),
      ).close();
      await assert.rejects(open(wallet), WrongStoreKey);
      await storeOf(await openWalletStore(options)).close();
    });

    it("is closed to its former owner once another has opened it", async () => {
      const { wallet, store } = await fresh();
      const put = (value: string) => ({ puts: [{ table: nonces, key: bytes("n"), value: bytes(value) }] });
      await store.apply(put("1"));
      const other = storeOf(await open(wallet));
      await assert.rejects(store.apply(put("2")), Fenced);
      await assert.rejects(store.read(nonces, bytes("n")), Fenced);
      assert.equal(text(await other.read(nonces, bytes("n"))), "1");
      await store.close();
      await other.apply(put("3"));
      await other.close();
      await assert.rejects(other.apply(put("4")), StoreUnavailable);
      assert.equal(text(await storeOf(await open(wallet)).read(nonces, bytes("n"))), "3");
    });

    it("refuses values that were damaged, moved, swapped or taken from another epoch or wallet", async () => {
      const { wallet, store } = await fresh();
      const { wallet: otherWallet, store: otherStore } = await fresh();
      const rows = ["a", "b"].map((key) => ({ table: notes, key: bytes(key), value: bytes(key) }));
      await store.apply({ puts: [...rows, { table: nonces, key: bytes("n"), value: bytes("n") }] });
      await otherStore.apply({ puts: rows });
      const { epoch } = await engine.fence(wallet);
      const raw = async (of: WalletId, table: number) => await collect(rangeOf(engine, of, { table }));
      const [one, two] = (await raw(wallet, 1)) as [
        { key: Uint8Array; value: Uint8Array },
        { key: Uint8Array; value: Uint8Array },
      ];
      const strange = (await raw(otherWallet, 1))[0]!;
      const secret = (await raw(wallet, 4))[0]!;
      const flipped = (at: number) => one.value.map((byte, i) => (i === at ? byte ^ 1 : byte));
      const read = async () => {
        const { epoch: next } = (await engine.markOf(wallet))!;
        const reader = storeOf(await open(wallet));
        try {
          await collect(reader.range(notes));
          return await Promise.all(["a", "b"].map((key) => reader.read(notes, bytes(key))));
        } finally {
          assert.equal(reader.mark.epoch, next + 1);
          await reader.close();
        }
      };
      let owner = epoch;
      const put = async (value: Uint8Array, key = one.key) => {
        await engine.apply(wallet, { epoch: owner, puts: [{ table: 1, key, value }], deletes: [] });
      };
      const forged = [
        ...Array.from(one.value.keys()).map(flipped),
        one.value.subarray(0, 10),
        new Uint8Array(),
        Buffer.concat([one.value, bytes("x")]),
        two.value,
        strange.value,
        secret.value,
      ];
      for (const value of forged) {
        await put(value);
        await assert.rejects(read(), DamagedStore);
        owner = (await engine.fence(wallet)).epoch;
      }
      await put(one.value);
      await put(one.value, randomBytes(16));
      await assert.rejects(read(), DamagedStore);
    });

    it("shows the engine nothing of values and of keys that need no order", async () => {
      const { wallet, store } = await fresh();
      const [key, value] = [randomBytes(32), randomBytes(64)];
      const ordered = Buffer.concat([height(77), key]);
      const grouped = Buffer.concat([key.subarray(0, 4), height(78), key]);
      await store.apply({
        puts: [
          { table: notes, key, value },
          { table: events, key: ordered, value },
          { table: unspent, key: grouped, value },
        ],
      });
      const seen: Uint8Array[] = [];
      for (const { number: table } of tables) {
        for (const row of await collect(rangeOf(engine, wallet, { table }))) seen.push(row.key, row.value);
      }
      const all = Buffer.concat(seen);
      for (const hidden of [key, value]) {
        for (let at = 0; at + 4 <= hidden.length; at += 4) {
          assert.equal(all.includes(hidden.subarray(at, at + 4)), false);
        }
      }
      assert.ok(all.includes(height(77)));
      assert.ok(all.includes(height(78)));
    });

    it("takes a change as a whole beside others, the last one counting", async () => {
      const { store } = await fresh();
      const changes = Array.from({ length: 50 }, (_, i) =>
        store.apply({ puts: [{ table: nonces, key: bytes("k"), value: bytes(`${i}`) }] }),
      );
      await Promise.all(changes);
      assert.equal(text(await store.read(nonces, bytes("k"))), "49");
      const large = Array.from({ length: 3000 }, (_, i) => ({
        table: notes,
        key: bytes(`${i}`),
        value: bytes("v"),
      }));
      await store.apply({ puts: large });
      assert.equal((await collect(store.range(notes))).length, 3000);
    });

    it("fails the changes behind one that fails, and takes those after", async () => {
      const { store } = await fresh();
      const put = (value: Uint8Array) => ({ puts: [{ table: notes, key: bytes("k"), value }] });
      const results = await Promise.allSettled([
        store.apply(put(bytes("first"))),
        store.apply(put(Buffer.alloc(5 * 1024 * 1024))),
        store.apply(put(bytes("third"))),
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ["fulfilled", "rejected", "rejected"],
      );
      assert.equal(text(await store.read(notes, bytes("k"))), "first");
      await store.apply(put(bytes("fourth")));
      assert.equal(text(await store.read(notes, bytes("k"))), "fourth");
    });

    it("says that nobody has seen a store that was used before", async () => {
      const { wallet, store } = await fresh();
      await store.close();
      writeFileSync(join(harness.folder, `${Buffer.from(wallet).toString("hex")}.witness`), "torn");
      assert.equal((await open(wallet)).kind, "unwitnessed");
      assert.equal((await open(wallet)).kind, "continued");
    });
  });
}

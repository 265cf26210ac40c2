import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
  DamagedStore,
  type Engine,
  Fenced,
  type Mark,
  type NewRow,
  type OpenedWalletStore,
  openWalletStore,
  rangeOf,
  removeWalletRows,
  restoreWalletRows,
  StoreUnavailable,
  type Table,
  type WalletCopy,
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

/** A copy of a wallet's rows in memory; `meanwhile` runs once it was begun. */
async function copyOf(
  engine: Engine,
  wallet: WalletId,
  meanwhile?: () => Promise<void>,
): Promise<WalletCopy> {
  const snapshot = await engine.snapshot(wallet);
  assert.ok(snapshot !== undefined);
  try {
    await meanwhile?.();
    const pages = await collect(snapshot.pages);
    const kept = pages.map((rows) => rows.map((row) => ({ ...row, value: row.value.slice() })));
    return {
      mark: snapshot.mark,
      async *read() {
        yield* kept;
      },
    };
  } finally {
    await snapshot.close();
  }
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

    it("reads a row at once where the engine can, unless another owner has written it", async () => {
      const { wallet, store } = await fresh();
      if (!store.readsNow) return void assert.throws(() => store.readNow(events, height(7)), TypeError);
      const row = { table: events, key: height(7), value: bytes("seven") };
      await store.apply({ puts: [row, { table: nonces, key: bytes("a"), value: bytes("secret") }] });
      assert.equal(text(store.readNow(events, height(7))!), "seven");
      assert.equal(store.readNow(events, height(8)), undefined);
      assert.throws(() => store.readNow(nonces, bytes("a")), TypeError);
      const next = storeOf(await open(wallet));
      assert.equal(text(store.readNow(events, height(7))!), "seven");
      await next.apply({ puts: [{ ...row, value: bytes("another's") }] });
      assert.throws(() => store.readNow(events, height(7)), Fenced);
      assert.equal(text(next.readNow(events, height(7))!), "another's");
      await next.close();
      assert.throws(() => next.readNow(events, height(7)), StoreUnavailable);
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

    it("is copied as it is at one moment, and put back as old as that, with other keys from then on", async () => {
      const { wallet, store } = await fresh();
      const row = (at: number, value: string) => ({ table: events, key: height(at), value: bytes(value) });
      const secret = { table: nonces, key: bytes("nonce"), value: bytes("used") };
      const many = Array.from({ length: 700 }, (_, at) => row(at, `first ${at}`));
      await store.apply({ puts: [...many, secret] });
      const copy = await copyOf(engine, wallet, async () => {
        await store.apply({ puts: [row(0, "second"), row(900, "new")], deletes: [secret] });
      });
      await restoreWalletRows(engine, wallet, copy);
      await assert.rejects(store.apply({ puts: [row(1, "late")] }), Fenced);
      const opened = await open(wallet);
      assert.equal(opened.kind, "rolledBack");
      if (opened.kind !== "rolledBack") return;
      assert.deepEqual(opened.found, copy.mark);
      const again = await opened.accept();
      stores.push(again);
      const found = await collect(again.range(events));
      assert.deepEqual(
        found.map(({ value }) => text(value)),
        many.map(({ value }) => text(value)),
      );
      assert.equal(await again.read(nonces, secret.key), undefined, "what was destroyed stays so");
      await again.apply({ puts: [row(0, "third")] });
      await again.close();
      assert.equal((await open(wallet)).kind, "continued");
    });

    it("is put back without a word where nothing came after the copy, or nobody knows", async () => {
      const { wallet, store } = await fresh();
      await store.apply({ puts: [{ table: notes, key: bytes("a"), value: bytes("1") }] });
      await store.close();
      const copy = await copyOf(engine, wallet);
      await restoreWalletRows(engine, wallet, copy);
      const opened = await open(wallet);
      assert.equal(opened.kind, "continued");
      assert.equal(text(await storeOf(opened).read(notes, bytes("a"))), "1");
    });

    it("does not open while it is put back in part, and does once that is repeated", async () => {
      const { wallet, store } = await fresh();
      const puts = [{ table: notes, key: bytes("a"), value: bytes("1") }];
      await store.apply({ puts });
      await store.close();
      const copy = await copyOf(engine, wallet);
      let reads = 0;
      async function* broken() {
        reads += 1;
        if (reads === 1) return yield* copy.read();
        for await (const rows of copy.read()) yield rows.slice(0, 1);
        throw new Error("the disk is gone");
      }
      await assert.rejects(restoreWalletRows(engine, wallet, { ...copy, read: broken }), /disk is gone/);
      await assert.rejects(open(wallet), DamagedStore);
      await restoreWalletRows(engine, wallet, copy);
      assert.equal(text(await storeOf(await open(wallet)).read(notes, bytes("a"))), "1");
    });

    it("stays as it is where a copy is damaged, whatever its rows are", async () => {
      const { wallet, store } = await fresh();
      const note = { table: notes, key: bytes("a"), value: bytes("1") };
      await store.apply({ puts: [note] });
      const { mark, read } = await copyOf(engine, wallet);
      const rows = (await collect(read())).flat();
      const row = (table: number, key: Uint8Array, length = 1) => ({
        table,
        key,
        value: Buffer.alloc(length),
      });
      const copies: readonly (readonly [RegExp, readonly NewRow[], Partial<Mark>?])[] = [
        [/no data key/, rows.filter(({ table }) => table !== 0)],
        [/no data key/, []],
        [/table 255/, [...rows, row(255, bytes("a"))]],
        [/a key of 0 bytes/, [...rows, row(254, new Uint8Array())]],
        [/not in order/, [...rows, rows.at(-1)!]],
        [/no store has/, [row(0, bytes("a")), ...rows]],
        [/no store has/, [{ ...rows[0]!, value: Buffer.alloc(257) }, ...rows.slice(1)]],
        [/that far/, rows, { epoch: 2 ** 48 }],
        [/that far/, rows, { epoch: 0 }],
        [/that far/, rows, { sequence: 2 ** 60 }],
      ];
      for (const [why, damaged, part] of copies) {
        const copy = {
          mark: { ...mark, ...part },
          async *read() {
            yield damaged;
          },
        };
        await assert.rejects(restoreWalletRows(engine, wallet, copy), why);
      }
      await store.apply({ puts: [{ ...note, value: bytes("2") }] });
      assert.equal(text(await store.read(notes, note.key)), "2", "its owner has not even been fenced");
    });

    it("is as old as the copy also where a copy of what was put back is put back", async () => {
      const { wallet, store } = await fresh();
      const note = { table: notes, key: bytes("a"), value: bytes("1") };
      await store.apply({ puts: [note] });
      const first = await copyOf(engine, wallet);
      await store.apply({ puts: [{ ...note, value: bytes("2") }] });
      await store.close();
      await restoreWalletRows(engine, wallet, first);
      await restoreWalletRows(engine, wallet, await copyOf(engine, wallet));
      const opened = await open(wallet);
      assert.ok(opened.kind === "rolledBack");
      assert.deepEqual(opened.found, first.mark);
    });

    it("is removed with its data key and its secrets, and begins anew after that", async () => {
      const { wallet, store } = await fresh();
      const note = { table: notes, key: bytes("a"), value: bytes("1") };
      const secret = { table: nonces, key: bytes("nonce"), value: bytes("used") };
      await store.apply({ puts: [note, secret] });
      await removeWalletRows(engine, wallet, harness.folder);
      await assert.rejects(store.apply({ puts: [note] }), Fenced);
      for (const table of [1, 4]) assert.deepEqual(await collect(rangeOf(engine, wallet, { table })), []);
      assert.equal((await collect(rangeOf(engine, wallet, { table: 0 }))).length, 1);
      const name = Buffer.from(wallet).toString("hex");
      assert.ok(!readdirSync(harness.folder).some((file) => file.startsWith(name)));
      const opened = await open(wallet, randomBytes(32));
      assert.equal(opened.kind, "new");
      assert.equal(await storeOf(opened).read(notes, note.key), undefined);
      await storeOf(opened).apply({ puts: [note] });
      await storeOf(opened).close();
    });
  });
}

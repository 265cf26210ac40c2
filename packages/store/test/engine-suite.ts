import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { MAX_CHANGE_ROWS, MAX_PAGE_BYTES, MAX_PAGE_ROWS, MAX_VALUE_BYTES } from "../src/engine.ts";
import { ChangeTooLarge, type Engine, Fenced, rangeOf, StoreUnavailable } from "../src/index.ts";
import { bytes, collect, type Harness, keysOf, text, walletId } from "./harness.ts";

const put = (key: string, value = key, table = 1) => ({ table, key: bytes(key), value: bytes(value) });
const at = (key: string, table = 1) => ({ table, key: bytes(key) });

/** What every engine has to do. */
export function engineSuite(name: string, start: () => Promise<Harness>): void {
  describe(`the ${name} engine`, () => {
    let harness: Harness;
    let engine: Engine;
    let wallets = 0;
    /** A wallet of its own for each test. */
    const fresh = async () => {
      const wallet = walletId(++wallets);
      const { epoch } = await engine.fence(wallet);
      return { wallet, epoch };
    };
    before(async () => {
      harness = await start();
      engine = await harness.open();
    });
    after(() => harness?.stop());

    it("has what was put, and not what was deleted", async () => {
      const { wallet, epoch } = await fresh();
      assert.equal(await engine.read(wallet, at("a")), undefined);
      assert.equal(await engine.apply(wallet, { epoch, puts: [put("a"), put("b")], deletes: [] }), 1);
      assert.equal(
        await engine.apply(wallet, { epoch, puts: [put("c", "")], deletes: [at("a"), at("none")] }),
        2,
      );
      assert.equal(await engine.read(wallet, at("a")), undefined);
      assert.equal(text(await engine.read(wallet, at("b"))), "b");
      assert.equal(text(await engine.read(wallet, at("c"))), "");
      assert.deepEqual(await engine.markOf(wallet), { epoch, sequence: 2 });
    });

    it("deletes before it puts, and the last put of a key counts", async () => {
      const { wallet, epoch } = await fresh();
      await engine.apply(wallet, { epoch, puts: [put("a", "1"), put("a", "2")], deletes: [at("a")] });
      assert.equal(text(await engine.read(wallet, at("a"))), "2");
    });

    it("keeps wallets and tables apart", async () => {
      const [one, other] = [await fresh(), await fresh()];
      for (const { wallet, epoch } of [one, other]) {
        const puts = [put("k", `${wallets} ${epoch}`, 0), put("k", "one", 1), put("k", "last", 254)];
        await engine.apply(wallet, { epoch, puts, deletes: [] });
      }
      await engine.apply(one.wallet, { epoch: one.epoch, puts: [], deletes: [at("k", 1)] });
      assert.deepEqual(await keysOf(engine, one.wallet, 1), []);
      assert.deepEqual(await keysOf(engine, one.wallet, 254), ["k"]);
      assert.deepEqual(await keysOf(engine, other.wallet, 1), ["k"]);
      assert.equal(await engine.markOf(walletId(999_999)), undefined);
    });

    it("walks ranges in order of the bytes, as a sorted list does", async () => {
      const key = fc.uint8Array({ minLength: 1, maxLength: 4 });
      const bound = fc.option(fc.uint8Array({ minLength: 1, maxLength: 4 }), { nil: undefined });
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(key, { maxLength: 40, selector: (k) => Buffer.from(k).toString("hex") }),
          fc.record({
            from: bound,
            to: bound,
            reverse: fc.boolean(),
            limit: fc.option(fc.nat(12), { nil: undefined }),
          }),
          async (keys, { from, to, reverse, limit }) => {
            const { wallet, epoch } = await fresh();
            const puts = keys.map((k) => ({ table: 7, key: k, value: k }));
            await engine.apply(wallet, { epoch, puts, deletes: [] });
            const range = {
              reverse,
              ...(from && { from }),
              ...(to && { to }),
              ...(limit !== undefined && { limit }),
            };
            const rows = await collect(rangeOf(engine, wallet, { table: 7, ...range }));
            const wanted = keys
              .filter((k) => (!from || Buffer.compare(k, from) >= 0) && (!to || Buffer.compare(k, to) < 0))
              .sort(Buffer.compare);
            if (reverse) wanted.reverse();
            assert.deepEqual(
              rows.map((row) => [...row.key]),
              wanted.slice(0, limit).map((k) => [...k]),
            );
            assert.deepEqual(
              rows.map((row) => [...row.value]),
              rows.map((row) => [...row.key]),
            );
          },
        ),
        { numRuns: 40 },
      );
    });

    it("reads a long range in pages, both ways, rows put meanwhile included", async () => {
      const { wallet, epoch } = await fresh();
      const name = (i: number) => String(i).padStart(5, "0");
      const count = 3 * MAX_PAGE_ROWS + 5;
      const puts = Array.from({ length: count }, (_, i) => put(name(2 * i)));
      await engine.apply(wallet, { epoch, puts, deletes: [] });
      const { rows, isLast } = await engine.page(wallet, 1, {});
      assert.equal(rows.length, MAX_PAGE_ROWS);
      assert.equal(isLast, false);
      const backwards = await collect(rangeOf(engine, wallet, { table: 1, reverse: true, limit: count - 1 }));
      assert.equal(backwards.length, count - 1);
      assert.equal(text(backwards.at(-1)?.key), name(2));
      const seen: string[] = [];
      for await (const { key } of rangeOf(engine, wallet, { table: 1 })) {
        if (seen.length === 10)
          await engine.apply(wallet, { epoch, puts: [put(name(1)), put(name(1001))], deletes: [] });
        seen.push(text(key)!);
      }
      assert.deepEqual(seen, [...seen].sort());
      assert.equal(seen.length, count + 1);
    });

    it("takes values up to the limit, and makes pages no larger than they may be", async () => {
      const { wallet, epoch } = await fresh();
      const value = randomBytes(MAX_VALUE_BYTES);
      const half = randomBytes(MAX_PAGE_BYTES / 2);
      const puts = [{ ...at("big"), value }, ...["x", "y", "z"].map((key) => ({ ...at(key), value: half }))];
      await engine.apply(wallet, { epoch, puts, deletes: [] });
      assert.equal(Buffer.compare((await engine.read(wallet, at("big")))!, value), 0);
      const first = await engine.page(wallet, 1, {});
      assert.equal(first.rows.length, 1);
      const second = await engine.page(wallet, 1, { from: bytes("c") });
      assert.equal(second.rows.length, 2);
      assert.deepEqual(await keysOf(engine, wallet, 1), ["big", "x", "y", "z"]);
      const tooLarge = { ...at("big"), value: Buffer.alloc(MAX_VALUE_BYTES + 1) };
      await assert.rejects(engine.apply(wallet, { epoch, puts: [tooLarge], deletes: [] }), ChangeTooLarge);
      const tooMany = Array.from({ length: MAX_CHANGE_ROWS + 1 }, (_, i) => at(String(i)));
      await assert.rejects(engine.apply(wallet, { epoch, puts: [], deletes: tooMany }), ChangeTooLarge);
      const noKey = { table: 1, key: new Uint8Array(), value: bytes("v") };
      await assert.rejects(engine.apply(wallet, { epoch, puts: [noKey], deletes: [] }), RangeError);
      assert.deepEqual(await engine.markOf(wallet), { epoch, sequence: 1 });
    });

    it("refuses every change of an owner whose wallet another has taken", async () => {
      const { wallet, epoch } = await fresh();
      const other = await harness.open();
      await engine.apply(wallet, { epoch, puts: [put("a", "old")], deletes: [] });
      const taken = await other.fence(wallet);
      assert.deepEqual(taken, { epoch: epoch + 1, sequence: 1 });
      const late = engine.apply(wallet, { epoch, puts: [put("a", "late")], deletes: [at("a")] });
      await assert.rejects(late, (error) => error instanceof Fenced && error.current === epoch + 1);
      await other.apply(wallet, { epoch: taken.epoch, puts: [put("b")], deletes: [] });
      assert.equal(text(await engine.read(wallet, at("a"))), "old");
      const early = engine.apply(wallet, { epoch: taken.epoch + 1, puts: [], deletes: [at("a")] });
      await assert.rejects(early, Fenced);
      await assert.rejects(engine.apply(walletId(888_888), { epoch: 1, puts: [], deletes: [] }), Fenced);
      assert.equal((await other.fence(wallet, 50)).epoch, 51);
    });

    it("lets one of two owners write at a time, whoever takes the wallet when", async () => {
      const { wallet } = await fresh();
      const engines = [await harness.open(), await harness.open()];
      const applied: string[] = [];
      const own = async (number: number) => {
        for (let round = 0; round < 8; round++) {
          const { epoch } = await engines[number]!.fence(wallet);
          for (let i = 0; i < 8; i++) {
            const name = `${number} ${round} ${i}`;
            const puts = [put(name), put("last", `${epoch}`)];
            try {
              await engines[number]!.apply(wallet, { epoch, puts, deletes: [] });
            } catch (error) {
              assert.ok(error instanceof Fenced);
              break;
            }
            applied.push(name);
          }
        }
      };
      await Promise.all([own(0), own(1)]);
      const keys = await keysOf(engine, wallet, 1);
      assert.deepEqual(
        keys.filter((key) => key !== "last"),
        applied.sort(),
      );
      const { epoch, sequence } = (await engine.markOf(wallet))!;
      assert.equal(epoch, 1 + 16);
      assert.equal(sequence, applied.length);
    });

    it("applies the changes of a wallet in the order of the calls, those of many wallets together", async () => {
      const owners = await Promise.all(Array.from({ length: 200 }, fresh));
      const changes = owners.flatMap(({ wallet, epoch }) =>
        [1, 2, 3].map((step) => engine.apply(wallet, { epoch, puts: [put("step", `${step}`)], deletes: [] })),
      );
      assert.deepEqual(
        await Promise.all(changes),
        owners.flatMap(() => [1, 2, 3]),
      );
      for (const { wallet } of owners) assert.equal(text(await engine.read(wallet, at("step"))), "3");
    });

    it("refuses one of the changes that come together, and applies the others", async () => {
      const [one, other] = [await fresh(), await fresh()];
      const results = await Promise.allSettled([
        engine.apply(one.wallet, { epoch: one.epoch, puts: [put("a")], deletes: [] }),
        engine.apply(other.wallet, { epoch: other.epoch + 1, puts: [put("a")], deletes: [] }),
        engine.apply(one.wallet, { epoch: one.epoch, puts: [put("b")], deletes: [] }),
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ["fulfilled", "rejected", "fulfilled"],
      );
      assert.deepEqual(await keysOf(engine, one.wallet, 1), ["a", "b"]);
      assert.deepEqual(await keysOf(engine, other.wallet, 1), []);
    });

    it("leaves nothing of a change that fails in the middle", async () => {
      const { wallet, epoch } = await fresh();
      await engine.apply(wallet, { epoch, puts: [put("a", "old")], deletes: [] });
      let isWritten = false;
      const failing = {
        ...at("b"),
        get value(): Uint8Array {
          if (isWritten) throw new Error("no memory");
          return bytes("b");
        },
      };
      const change = engine.apply(wallet, {
        epoch,
        puts: [put("a", "new"), put("0"), failing],
        deletes: [at("a")],
      });
      // The change was checked at once, it is written when its turn comes.
      isWritten = true;
      await assert.rejects(change);
      assert.deepEqual(await keysOf(engine, wallet, 1), ["a"]);
      assert.equal(text(await engine.read(wallet, at("a"))), "old");
      assert.deepEqual(await engine.markOf(wallet), { epoch, sequence: 1 });
    });
  });

  it(`the ${name} engine settles what is under way when it is closed, and refuses the rest`, async () => {
    const harness = await start();
    try {
      const engine = await harness.open();
      const wallet = walletId(1);
      const { epoch } = await engine.fence(wallet);
      const changes = Array.from({ length: 20 }, (_, i) =>
        engine.apply(wallet, { epoch, puts: [put(`${i}`)], deletes: [] }),
      );
      const closed = engine.close();
      await assert.rejects(engine.apply(wallet, { epoch, puts: [], deletes: [] }), StoreUnavailable);
      assert.equal((await Promise.all(changes)).at(-1), 20);
      await closed;
      await assert.rejects(engine.read(wallet, at("0")), StoreUnavailable);
      await assert.rejects(engine.fence(wallet), StoreUnavailable);
      await engine.close();
    } finally {
      await harness.stop();
    }
  });
}

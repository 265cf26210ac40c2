/** Who owns which wallet of a fleet, on a real server; the database's clock is moved by writing what it has noted. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import {
  Expelled,
  OtherSettings,
  openPostgresEngine,
  openWalletLeases,
  type WalletLease,
  type WalletLeases,
} from "../src/index.ts";
import { type PostgresServer, postgresMissing, startPostgres } from "./postgres-server.ts";

const FOREVER_MS = 3_600_000;
const namesOf = (leases: readonly WalletLease[]): string[] => leases.map(({ name }) => name);

describe("leases", { skip: postgresMissing() }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
  });
  after(async () => await server.stop());

  async function harness() {
    const address = await server.createDatabase();
    const fleet = randomBytes(16);
    const engine = await openPostgresEngine(address);
    const open = async () => await openWalletLeases(address, { fleet, lifetimeMs: FOREVER_MS });
    const leases = await open();
    const client = new pg.Client({ connectionString: address });
    await client.connect();
    return {
      client,
      engine,
      fleet,
      leases,
      open,
      /** As if a process had not renewed its membership for a lifetime. */
      async outlive(process: string) {
        await client.query("UPDATE anulo.processes SET expires = clock_timestamp() WHERE process = $1", [
          Buffer.from(process, "hex"),
        ]);
      },
      async stop() {
        await client.end();
        await leases.close();
        await engine.close();
      },
    };
  }

  test("a lease is one process's, until it is given up or its process is gone", async () => {
    const { leases, outlive, stop } = await harness();
    const [a, b] = [await leases.join("one", ""), await leases.join("two", "")];
    assert.equal((await leases.take(a, "w")).owner, a);
    assert.equal((await leases.take(b, "w")).owner, a);
    assert.equal((await leases.take(a, "w")).owner, a);
    await leases.release(b, "w");
    assert.equal(await leases.ownerOf("w"), a, "nobody else can give it up");
    await leases.release(a, "w");
    assert.equal(await leases.ownerOf("w"), undefined);
    assert.equal((await leases.take(b, "w")).owner, b);
    assert.equal(await leases.expel(), 0);
    await outlive(b);
    await leases.renew(b);
    assert.equal(await leases.expel(), 0, "who renews in time stays");
    await outlive(b);
    assert.equal(await leases.expel(), 1);
    assert.equal(await leases.ownerOf("w"), undefined);
    assert.deepEqual(namesOf(await leases.adopt(a, 10)), ["w"]);
    await assert.rejects(leases.renew(b), Expelled);
    await assert.rejects(leases.take(b, "other"), Expelled);
    await leases.handOver(a, "w");
    await assert.rejects(leases.adopt(b, 10), Expelled);
    assert.deepEqual(namesOf(await leases.adopt(a, 10)), ["w"]);
    await stop();
  });

  test("a wallet that is kept open stays so at whoever has its lease next, until it is closed", async () => {
    const { leases, outlive, stop } = await harness();
    const [a, b] = [await leases.join("one", ""), await leases.join("two", "")];
    assert.deepEqual(await leases.take(a, "w"), { owner: a, isKeptOpen: false });
    await leases.take(a, "v");
    await leases.setKeptOpen(a, "w", true);
    assert.deepEqual(await leases.take(a, "w"), { owner: a, isKeptOpen: true });
    assert.deepEqual(await leases.take(b, "w"), { owner: a, isKeptOpen: false });
    await assert.rejects(leases.setKeptOpen(b, "w", false), Expelled);
    await assert.rejects(leases.setKeptOpen(a, "nobody's", true), Expelled);
    await leases.handOver(a, "w");
    assert.deepEqual(await leases.take(b, "w"), { owner: b, isKeptOpen: true });
    await outlive(b);
    await leases.expel();
    assert.deepEqual(await leases.adopt(a, 10), [{ name: "w", isKeptOpen: true }]);
    const held = (await leases.heldBy(a)).sort((one, two) => (one.name < two.name ? -1 : 1));
    assert.deepEqual(held, [
      { name: "v", isKeptOpen: false },
      { name: "w", isKeptOpen: true },
    ]);
    await leases.setKeptOpen(a, "w", false);
    assert.deepEqual(await leases.take(a, "w"), { owner: a, isKeptOpen: false });
    await leases.setKeptOpen(a, "w", true);
    await leases.release(a, "w");
    assert.deepEqual(await leases.take(a, "w"), { owner: a, isKeptOpen: false });
    await stop();
  });

  test("leases of a version that kept no wallet open are taken over, and it goes on beside this one", async () => {
    const { client, fleet, leases, open, stop } = await harness();
    const a = await leases.join("one", "");
    await leases.take(a, "w");
    await client.query("ALTER TABLE anulo.leases DROP COLUMN kept_open");
    const later = await open();
    assert.deepEqual(await later.heldBy(a), [{ name: "w", isKeptOpen: false }]);
    await later.setKeptOpen(a, "w", true);
    // As an earlier version takes leases.
    await client.query("INSERT INTO anulo.leases VALUES ($1, $2, $3)", [fleet, "v", Buffer.from(a, "hex")]);
    assert.equal((await later.heldBy(a)).length, 2);
    assert.deepEqual(await later.take(a, "w"), { owner: a, isKeptOpen: true });
    await later.close();
    await stop();
  });

  test("a process that is gone is expelled before its membership ends, unless it has renewed that", async () => {
    const { client, leases, stop } = await harness();
    const [a, b] = [await leases.join("one", ""), await leases.join("two", "")];
    await leases.take(a, "w");
    const silence = async (ms: number) =>
      await client.query(
        "UPDATE anulo.processes SET expires = clock_timestamp() + $2 * interval '1 millisecond' WHERE process = $1",
        [Buffer.from(a, "hex"), FOREVER_MS - ms],
      );
    assert.equal(await leases.expel([a]), 0, "it has joined just now");
    await silence(FOREVER_MS / 2 + 60_000);
    const { members } = await leases.state();
    const silentMs = members.find(({ process }) => process === a)!.silentMs;
    assert.ok(silentMs >= FOREVER_MS / 2 + 60_000 && silentMs < FOREVER_MS, `${silentMs}`);
    assert.equal(await leases.expel([b]), 0);
    assert.equal(await leases.expel(), 0);
    await leases.renew(a);
    assert.equal(await leases.expel([a, b]), 0);
    await silence(FOREVER_MS / 2 + 60_000);
    assert.equal(await leases.expel([a]), 1);
    assert.deepEqual(namesOf(await leases.adopt(b, 10)), ["w"]);
    await assert.rejects(leases.renew(a), Expelled);
    await stop();
  });

  test("a name that no wallet has is leased, and neither counted nor adopted", async () => {
    const { leases, outlive, stop } = await harness();
    const [a, b] = [await leases.join("one", ""), await leases.join("two", "")];
    assert.equal((await leases.take(a, "/log")).owner, a);
    assert.equal((await leases.take(b, "/log")).owner, a);
    assert.deepEqual(await leases.heldBy(a), []);
    await outlive(a);
    await leases.expel();
    const { members, free } = await leases.state();
    assert.deepEqual([members.map(({ owned }) => owned), free], [[0], 0]);
    assert.deepEqual(namesOf(await leases.adopt(b, 10)), []);
    assert.equal((await leases.take(b, "/log")).owner, b);
    assert.deepEqual((await leases.state()).members[0]?.owned, 0);
    await stop();
  });

  test("a process with other settings does not join while those with the former ones are there", async () => {
    const { leases, open, outlive, stop } = await harness();
    const first = await leases.join("one", "network stagenet");
    const other = await open();
    await assert.rejects(other.join("two", "network mainnet"), OtherSettings);
    assert.equal((await leases.state()).members.length, 1);
    await other.join("three", "network stagenet");
    await outlive(first);
    await assert.rejects(other.join("two", "network mainnet"), OtherSettings);
    await other.close();
    await stop();
  });

  test("renewing waits for no other statement", async () => {
    const { client, leases, stop } = await harness();
    const process = await leases.join("one", "");
    await client.query("BEGIN");
    await client.query("LOCK TABLE anulo.leases");
    const takes = Array.from({ length: 8 }, (_, i) => leases.take(process, `w${i}`));
    await leases.renew(process);
    await client.query("ROLLBACK");
    const owners = (await Promise.all(takes)).map(({ owner }) => owner);
    assert.deepEqual(new Set(owners), new Set([process]));
    await stop();
  });

  test("a process learns from the database which leases it has, and adopts none that it leaves to others", async () => {
    const { leases, outlive, stop } = await harness();
    const [a, b] = [await leases.join("one", ""), await leases.join("two", "")];
    await leases.take(a, "w");
    await leases.take(a, "v");
    await leases.confirm(a, "w");
    await assert.rejects(leases.confirm(b, "w"), Expelled);
    assert.deepEqual(namesOf(await leases.heldBy(a)).sort(), ["v", "w"]);
    assert.deepEqual(await leases.heldBy(b), []);
    await outlive(a);
    await leases.expel();
    await assert.rejects(leases.confirm(a, "w"), Expelled);
    assert.deepEqual(namesOf(await leases.adopt(b, 10, ["w"])), ["v"]);
    assert.deepEqual(namesOf(await leases.adopt(b, 10)), ["w"]);
    await stop();
  });

  test("no more leases are adopted than were asked for, however the database plans it", async () => {
    const { client, fleet, leases, stop } = await harness();
    const [a, b] = [await leases.join("one", ""), await leases.join("two", "")];
    const insert = "INSERT INTO anulo.leases SELECT $1, 'w' || i, $2 FROM generate_series(1, 600) AS i";
    await client.query(insert, [fleet, Buffer.from(b, "hex")]);
    // The plan differs with what the database has counted: all rows taken here, none of them free.
    await client.query("ANALYZE anulo.leases");
    await leases.leave(b);
    for (const most of [1, 16, 64]) assert.equal((await leases.adopt(a, most)).length, most);
    assert.equal((await leases.state()).free, 600 - 81);
    await stop();
  });

  test("free leases are adopted by one each, whoever asks at once", async () => {
    const { leases, open, stop } = await harness();
    const others = await Promise.all([open(), open()]);
    const dead = await leases.join("dead", "");
    const names = Array.from({ length: 200 }, (_, i) => `w${i}`);
    for (const name of names) await leases.take(dead, name);
    const all: [WalletLeases, string][] = [];
    for (const each of [leases, ...others]) all.push([each, await each.join("alive", "")]);
    await leases.leave(dead);
    assert.equal((await leases.state()).free, 200);
    const adopted: string[] = [];
    const adoptAll = async ([each, process]: [WalletLeases, string]) => {
      for (;;) {
        const got = namesOf(await each.adopt(process, 7));
        adopted.push(...got);
        if (got.length === 0 && (await each.state()).free === 0) return;
      }
    };
    await Promise.all(all.map(adoptAll));
    assert.deepEqual(adopted.sort(), names.sort());
    const { members } = await leases.state();
    assert.equal(
      members.reduce((sum, { owned }) => sum + owned, 0),
      200,
    );
    for (const each of others) await each.close();
    await stop();
  });

  test("an owner whose lease has moved takes no ownership and writes nothing", async () => {
    const { engine, fleet, leases, outlive, stop } = await harness();
    const wallet = randomBytes(16);
    const name = "w";
    const late = await leases.join("late", "");
    await leases.take(late, name);
    const lateEngine = engine.under({ fleet, name, process: late });
    const put = (epoch: number) => ({
      epoch,
      puts: [{ table: 1, key: randomBytes(8), value: randomBytes(8) }],
      deletes: [],
    });
    const first = await lateEngine.fence(wallet);
    await lateEngine.apply(wallet, put(first.epoch));
    await outlive(late);
    await leases.expel();
    const next = await leases.join("next", "");
    assert.deepEqual(namesOf(await leases.adopt(next, 1)), [name]);
    await assert.rejects(lateEngine.fence(wallet), Expelled);
    const second = await engine.under({ fleet, name, process: next }).fence(wallet);
    assert.equal(second.epoch, first.epoch + 1);
    await assert.rejects(lateEngine.apply(wallet, put(first.epoch)), { name: "Fenced" });
    await assert.rejects(lateEngine.fence(wallet), Expelled);
    assert.equal((await engine.markOf(wallet))?.sequence, 1);
    await stop();
  });

  test("wallets that are fenced at once are fenced where their lease is held, each above what its owner has seen", async () => {
    const { engine, fleet, leases, stop } = await harness();
    const [a, b] = [await leases.join("one", ""), await leases.join("two", "")];
    const wallets = Array.from({ length: 40 }, (_, i) => ({ name: `w${i}`, id: randomBytes(16) }));
    for (const [i, { name }] of wallets.entries()) await leases.take(i % 3 === 0 ? b : a, name);
    const fence = (i: number, process = a, above = 0) =>
      engine.under({ fleet, name: wallets[i]!.name, process }).fence(wallets[i]!.id, above);
    await fence(1);
    const outcomes = await Promise.all(
      wallets.map((_, i) =>
        fence(i, a, i === 2 ? 7 : 0).then(
          (mark) => mark,
          (error: unknown) => (error instanceof Expelled ? "expelled" : error),
        ),
      ),
    );
    for (const [i, outcome] of outcomes.entries()) {
      const epoch = i === 1 ? 2 : i === 2 ? 8 : 1;
      assert.deepEqual(outcome, i % 3 === 0 ? "expelled" : { epoch, sequence: 0 }, `wallet ${i}`);
    }
    const again = await Promise.all([fence(4), fence(4), fence(3, b)]);
    assert.deepEqual(
      again.map(({ epoch }) => epoch),
      [2, 3, 1],
    );
    await stop();
  });

  test("a process that is thrown out while it fences and those who throw it out do not wait for each other", async () => {
    const { engine, fleet, leases, open, outlive, stop } = await harness();
    const other = await open();
    const wallets = Array.from({ length: 64 }, (_, i) => ({ name: `w${i}`, id: randomBytes(16) }));
    const next = await other.join("next", "");
    for (let round = 0; round < 8; round++) {
      const victim = await leases.join("victim", "");
      for (const { name } of wallets) assert.equal((await leases.take(victim, name)).owner, victim);
      const late = wallets.map(({ name, id }) => engine.under({ fleet, name, process: victim }).fence(id));
      await outlive(victim);
      const [expelled] = await Promise.all([other.expel(), Promise.allSettled(late)]);
      assert.equal(expelled, 1);
      const adopted = namesOf(await other.adopt(next, 100));
      assert.equal(adopted.length, wallets.length);
      for (const each of await Promise.allSettled(late))
        assert.ok(each.status === "fulfilled" || each.reason instanceof Expelled, String(each));
      for (const name of adopted) await other.release(next, name);
    }
    await other.close();
    await stop();
  });

  test("what a stopped process has begun holds a wallet for no longer than it may", async () => {
    const address = await server.createDatabase();
    const engine = await openPostgresEngine(address, { idleMs: 300 });
    const wallet = randomBytes(16);
    const { epoch } = await engine.fence(wallet);
    const stopped = new pg.Client({
      connectionString: address,
      idle_in_transaction_session_timeout: 300,
    });
    stopped.on("error", () => {});
    await stopped.connect();
    await stopped.query("BEGIN");
    await stopped.query("SELECT 1 FROM anulo.owners WHERE wallet = $1 FOR UPDATE", [wallet]);
    assert.equal((await engine.fence(wallet)).epoch, epoch + 1);
    await engine.close();
  });
});

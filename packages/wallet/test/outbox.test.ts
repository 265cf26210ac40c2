/** Events of wallets whose ledgers are in a store: they are there with the changes that cause them, until a log has them. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createMemoryEngine, type Engine, openLmdbEngine } from "@anulo/store";
import type { WalletChange } from "../src/changes.ts";
import { type EventSink, type Follower, followerWithoutLog } from "../src/events/follower.ts";
import { LedgerRows } from "../src/file/ledger-rows.ts";
import { outboxTable } from "../src/file/ledger-tables.ts";
import { OutboxRows } from "../src/file/outbox-rows.ts";
import { writeRows } from "../src/file/row-log.ts";
import { createStore, openStore } from "../src/file/store.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { blocks, follow, killForever, MemoryLog, settings, source, story } from "./follower-fixture.ts";
import { type Opened, openRows, openTold } from "./told-store.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-outbox-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const network = "regtest";
let wallets = 0;
const nextId = () => Buffer.from((++wallets).toString(16).padStart(32, "0"), "hex");

const engines: Record<string, () => Engine> = {
  memory: createMemoryEngine,
  LMDB: () => openLmdbEngine(join(folder, `${++wallets}.mdb`)),
};

type Told = Opened & { readonly follower: Follower | undefined };

async function open(engine: Engine, wallet: Uint8Array, follower?: Follower, room?: number): Promise<Told> {
  return { ...(await openTold({ engine, wallet, folder }, follower, room)), follower };
}

async function commit({ ledger, log, follower }: Told, change: WalletChange): Promise<void> {
  const apply = () => applyChange(ledger, change);
  const entry = follower?.observe(change, apply);
  if (follower === undefined) apply();
  await log.append();
  await follower?.keepSoon(entry);
}

async function close({ log, follower }: Told): Promise<void> {
  await follower?.close();
  await log.close();
}

async function rowsIn({ store }: Opened): Promise<number> {
  let count = 0;
  for await (const _ of store.range(outboxTable)) count += 1;
  return count;
}

/** A log of a process that is killed: from a change on it hears nothing, and answers nothing. */
function silentFrom(log: MemoryLog, change: number): EventSink {
  return {
    cursorOf: (id) => log.cursorOf(id),
    append: async (entry) => {
      if (entry.change >= change) await new Promise(() => undefined);
      await log.append(entry);
    },
  };
}

/** A log that has no space for the changes from one on. */
function failingFrom(log: MemoryLog, change: number): EventSink {
  return {
    cursorOf: (id) => log.cursorOf(id),
    append: async (entry) => {
      if (entry.change >= change) throw new Error("no space left");
      await log.append(entry);
    },
  };
}

/** What a log is told of the story if nothing happens. */
async function toldOfAll(): Promise<MemoryLog["told"]> {
  const log = new MemoryLog();
  const opened = await open(createMemoryEngine(), nextId(), follow(log));
  for (const change of story) await commit(opened, change);
  await close(opened);
  assert.equal(log.told.length, 13);
  return log.told;
}

for (const [name, createEngine] of Object.entries(engines)) {
  describe(`events of wallets in a store (${name})`, () => {
    test("wherever the service is killed between store and log, each event is told once and in order", async () => {
      const told = await toldOfAll();
      const engine = createEngine();
      for (let heard = 1; heard <= story.length + 1; heard++) {
        for (let done = Math.max(1, heard - 1); done <= story.length; done++) {
          const [log, wallet] = [new MemoryLog(), nextId()];
          const killed = await open(engine, wallet, follow(silentFrom(log, heard)));
          for (const change of story.slice(0, done)) await commit(killed, change);
          const opened = await open(engine, wallet, follow(log));
          assert.equal(opened.follower!.newSource, undefined, `heard ${heard}, done ${done}`);
          for (const change of story.slice(done)) await commit(opened, change);
          await opened.follower!.settled();
          assert.deepEqual(log.told, told, `heard ${heard}, done ${done}`);
          await commit(opened, { kind: "note", txHash: "5d", note: "" });
          assert.equal(await rowsIn(opened), 0, "what the log has is removed with the next change");
          await close(opened);
        }
      }
      await engine.close();
    });

    test("what a fenced owner does is told by nobody, what it did before by its successor", async () => {
      const told = await toldOfAll();
      const [engine, wallet, log] = [createEngine(), nextId(), new MemoryLog()];
      const former = await open(engine, wallet, follow(silentFrom(log, 3)));
      for (const change of story.slice(0, 4)) await commit(former, change);
      const next = await open(engine, wallet, follow(log));
      await assert.rejects(commit(former, blocks(6, 1, 77)));
      assert.equal(next.follower!.newSource, undefined);
      for (const change of story.slice(4)) await commit(next, change);
      await close(next);
      assert.deepEqual(log.told, told);
      await engine.close();
    });
  });
}

test("killed again and again before the log hears anything, nothing is told twice or missed", async () => {
  const told = await toldOfAll();
  const [engine, wallet, log] = [createMemoryEngine(), nextId(), new MemoryLog()];
  for (const change of story)
    await commit(
      await open(engine, wallet, follow(silentFrom(log, change === story.at(-1) ? 4 : 1))),
      change,
    );
  const last = await open(engine, wallet, follow(log));
  await close(last);
  assert.deepEqual(log.told, told);
});

test("another log, an older log, or another name begin anew, and drop what waited", async () => {
  const engine = createMemoryEngine();
  const write = async (log: MemoryLog, heard: number) => {
    const wallet = nextId();
    const opened = await open(engine, wallet, follow(silentFrom(log, heard)));
    for (const change of story) await commit(opened, change);
    while (log.entries.length < 2) await setTimeout(1);
    await commit(opened, { kind: "note", txHash: "5d", note: "written once the log has the first changes" });
    return wallet;
  };
  const log = new MemoryLog();
  const wallet = await write(log, 5);
  const begun: readonly [string, MemoryLog, Follower][] = [
    ["another log", new MemoryLog(), follow(new MemoryLog())],
    ["an older log", log.upTo(1), follow(log.upTo(1))],
    ["another name", log, follow(log, "copy")],
  ];
  for (const [what, , follower] of begun) {
    const opened = await open(engine, wallet, follower);
    assert.notEqual(follower.newSource, undefined, what);
    await opened.log.close();
  }
  const other = new MemoryLog();
  const opened = await open(engine, wallet, follow(other));
  await commit(opened, { kind: "eventSource", source: opened.follower!.newSource! });
  assert.equal(await rowsIn(opened), 1, "the beginning of the new source");
  await close(opened);
  assert.deepEqual(
    other.told.map(([, , { type }]) => type),
    ["events_started"],
  );
});

test("a service without a log leaves what waits to one with a log, which tells it and begins anew", async () => {
  const [engine, wallet, log] = [createMemoryEngine(), nextId(), new MemoryLog()];
  const killed = await open(engine, wallet, follow(silentFrom(log, 4)));
  for (const change of story.slice(0, 5)) await commit(killed, change);
  await close(await open(engine, wallet));
  const unchanged = await open(engine, wallet, follow(log.upTo(4)));
  assert.equal(unchanged.follower!.newSource, undefined, "nothing has happened since");
  await close(unchanged);
  const silent = await open(engine, wallet);
  for (const change of story.slice(5)) await commit(silent, change);
  await close(silent);
  const opened = await open(engine, wallet, follow(log));
  await opened.follower!.settled();
  assert.equal(log.entries.at(-1)!.change, 5);
  assert.notEqual(opened.follower!.newSource, undefined);
  await close(opened);
});

test("what happens while a service without a log has the wallet waits for one with a log", async () => {
  const told = await toldOfAll();
  for (let heard = 1; heard <= story.length; heard++) {
    const [engine, wallet, log] = [createMemoryEngine(), nextId(), new MemoryLog()];
    const first = await open(engine, wallet, follow(log));
    for (const change of story.slice(0, heard)) await commit(first, change);
    await close(first);
    for (const change of story.slice(heard)) {
      const silent = await open(engine, wallet, followerWithoutLog("shop"));
      assert.equal(silent.follower!.newSource, undefined);
      await commit(silent, change);
      await close(silent);
    }
    const opened = await open(engine, wallet, follow(log));
    assert.equal(opened.follower!.newSource, undefined, `heard ${heard}`);
    await close(opened);
    assert.deepEqual(log.told, told, `heard ${heard}`);
  }
  // Of a wallet that no log has heard, nothing waits.
  const [engine, wallet] = [createMemoryEngine(), nextId()];
  const unknown = await open(engine, wallet, followerWithoutLog("shop"));
  for (const change of story.slice(1)) await commit(unknown, change);
  assert.equal(await rowsIn(unknown), 0);
  await close(unknown);
});

test("a log that can't be read is told once it can, of all that happened meanwhile", async () => {
  const told = await toldOfAll();
  const [engine, wallet, log] = [createMemoryEngine(), nextId(), new MemoryLog()];
  const first = await open(engine, wallet, follow(log));
  for (const change of story.slice(0, 3)) await commit(first, change);
  await close(first);
  log.isBroken = true;
  const failures: unknown[] = [];
  const blind = await open(engine, wallet, follow(log, "shop", failures));
  assert.equal(blind.follower!.newSource, undefined);
  assert.deepEqual([failures.length, blind.follower!.isUntold], [1, true]);
  for (const change of story.slice(3)) await commit(blind, change);
  await close(blind);
  log.isBroken = false;
  const opened = await open(engine, wallet, follow(log));
  assert.deepEqual([opened.follower!.newSource, opened.follower!.isUntold], [undefined, false]);
  await close(opened);
  assert.deepEqual(log.told, told);
});

test("more than an outbox holds is lost: what it has is told, then the events begin anew", async () => {
  const [engine, wallet, log] = [createMemoryEngine(), nextId(), new MemoryLog()];
  const full = await open(engine, wallet, follow(failingFrom(log, 1)), 5);
  await commit(full, await source());
  for (const change of story.slice(1)) await commit(full, change);
  await close(full);
  assert.equal(log.told.length, 0);
  const opened = await open(engine, wallet, follow(log));
  await opened.follower!.settled();
  const count = log.told.length;
  assert.ok(count > 0 && count <= 5, `${count} events`);
  assert.notEqual(opened.follower!.newSource, undefined);
  await close(opened);
});

test("a journal that is taken over takes along what the log has not heard", async () => {
  const told = await toldOfAll();
  for (const heard of [0, 1, 3, 8]) {
    const journal = { path: join(folder, `journal ${heard}`), secret: new Uint8Array(32), network } as const;
    const ledger = createLedger(network, settings);
    const written = await createStore(journal, ledger);
    for (const change of story) {
      applyChange(ledger, change);
      await written.append(change);
    }
    await written.close();
    const [engine, wallet, log] = [createMemoryEngine(), nextId(), new MemoryLog()];
    const outbox = new OutboxRows();
    const importing = heard === 0 ? followerWithoutLog("shop") : follow(failingFrom(log, heard));
    importing.useOutbox(outbox);
    const imported = await openStore(journal, settings, importing);
    await imported.log.close();
    assert.ok(log.told.length < told.length);
    if (heard === 0) assert.equal(importing.newSource, undefined);
    const store = await openRows({ engine, wallet, folder });
    await writeRows(store, await LedgerRows.of(imported.ledger, outbox).takeAll());
    const opened = await open(engine, wallet, follow(log));
    assert.equal(opened.follower!.newSource, undefined);
    await close(opened);
    assert.deepEqual(log.told, told);
  }
});

test("a process that is killed again and again tells of each block once, in order", () =>
  killForever(join(folder, "killed"), "store"));

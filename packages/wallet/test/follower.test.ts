import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import type { WalletChange } from "../src/changes.ts";
import type { Follower } from "../src/events/follower.ts";
import { createStore, openStore } from "../src/file/store.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import {
  blocks,
  bytes,
  follow,
  killForever,
  MemoryLog,
  settings,
  source,
  story,
} from "./follower-fixture.ts";
import { startTestService } from "./service.ts";

const folder = mkdtempSync(join(tmpdir(), "anulo-follower-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const storeOf = (name: string) => ({
  path: join(folder, name),
  secret: bytes(1),
  network: "regtest" as const,
});

/** Writes a store whose changes were told to nobody, or to a follower as they were made. */
async function write(name: string, changes: readonly WalletChange[], follower?: Follower): Promise<void> {
  const ledger: Ledger = createLedger("regtest", settings);
  const log = await createStore(storeOf(name), ledger);
  await follower?.begin(ledger);
  for (const change of changes) {
    const entry = follower?.observe(change, () => applyChange(ledger, change));
    await log.append(change);
    follower?.keep(entry);
  }
  await follower?.close();
  await log.close();
}

async function reopen(
  name: string,
  follower: Follower,
): Promise<{ source: Uint8Array | undefined; height: number }> {
  const { log, ledger } = await openStore(storeOf(name), settings, follower);
  const begun = follower.newSource;
  await follower.close();
  await log.close();
  return { source: begun, height: ledger.state.height };
}

test("wherever the service is killed between journal and log, each event is told once and in order", async () => {
  const whole = new MemoryLog();
  await write("whole", story, follow(whole));
  assert.equal(whole.told.length, 13);
  assert.deepEqual(whole.told[0], ["shop", 1, { type: "events_started", height: 1 }]);
  await write("cut", story);
  for (let change = 1; change <= story.length; change++) {
    const log = whole.upTo(change);
    const before = log.told.length;
    assert.equal((await reopen("cut", follow(log))).source, undefined);
    assert.deepEqual(log.told, whole.told, `from change ${change}, ${before} events`);
  }
});

test("opened once more, nothing is told again; under another name it begins anew", async () => {
  const log = new MemoryLog();
  await write("twice", story, follow(log));
  const told = [...log.told];
  for (let time = 0; time < 3; time++) assert.equal((await reopen("twice", follow(log))).source, undefined);
  assert.deepEqual(log.told, told);
  assert.notEqual((await reopen("twice", follow(new MemoryLog(), "copy"))).source, undefined);
});

test("a wallet the log knows nothing of, or too much or too little, begins with a new source", async () => {
  const whole = new MemoryLog();
  await write("gap", story.slice(0, 5), follow(whole));
  // An older copy of the files is put back: the log is ahead.
  await write("older", story.slice(0, 3));
  assert.notEqual((await reopen("older", follow(whole))).source, undefined);
  // Written anew while no log was kept: the log lags behind the picture.
  const { ledger, log } = await openStore(storeOf("gap"), settings);
  for (const change of story.slice(5)) applyChange(ledger, change);
  await log.close();
  await (await createStore(storeOf("gap"), ledger)).close();
  const before = whole.told.length;
  assert.notEqual((await reopen("gap", follow(whole))).source, undefined);
  assert.equal(whole.told.length, before);
});

test("a log that can't be written stops nothing, and has it all once it can", async () => {
  const log = new MemoryLog();
  const failures: unknown[] = [];
  const follower = follow(log, "shop", failures);
  const ledger = createLedger("regtest", settings);
  await follower.begin(ledger);
  log.isBroken = true;
  for (const change of story) {
    follower.keep(follower.observe(change, () => applyChange(ledger, change)));
    await follower.room();
  }
  while (log.tries < 3) await setTimeout(1);
  assert.equal(await follower.settled(), false);
  assert.deepEqual([log.told.length, failures.length], [0, 1]);
  log.isBroken = false;
  while (!(await follower.settled())) await setTimeout(1);
  assert.equal(log.told.length, 13);
  await follower.close();
});

/** A follower of a log that has not yet taken an event, and so many events for it at once. */
async function followSlowly(log: MemoryLog) {
  const follower = follow(log);
  const ledger = createLedger("regtest", settings);
  await follower.begin(ledger);
  const [begun] = story;
  follower.keep(follower.observe(begun!, () => applyChange(ledger, begun!)));
  const keepMany = (count: number) => {
    const many = blocks(1, 1, ...Array.from({ length: count }, (_, i) => i));
    if (many.kind === "blocks")
      for (const [i, each] of many.transactions.entries()) new DataView(each.txHash.buffer).setUint32(4, i);
    return follower.keepSoon(follower.observe(many, () => applyChange(ledger, many)));
  };
  return { follower, keepMany };
}

test("a log that begins to fail holds up none of those that wait for it", async () => {
  const log = new MemoryLog();
  let fail: (error: Error) => void = () => undefined;
  log.append = () => new Promise((_, reject) => (fail = reject));
  const { follower, keepMany } = await followSlowly(log);
  const rooms = [keepMany(10_001)];
  for (let i = 0; i < 3; i++) rooms.push(follower.room());
  await setTimeout(0);
  fail(new Error("no space left"));
  await Promise.all(rooms);
});

test("a log that is slow is waited for where more than 10,000 events wait for it", async () => {
  for (const [count, waits] of [
    [9_000, false],
    [10_001, true],
  ] as const) {
    const log = new MemoryLog();
    let takeNext: () => void = () => undefined;
    log.append = () => new Promise((resolve) => (takeNext = resolve));
    const { keepMany } = await followSlowly(log);
    let hasRoom = false;
    const room = keepMany(count).then(() => {
      hasRoom = true;
    });
    for (let turn = 0; turn < 3; turn++) await setTimeout(0);
    assert.equal(hasRoom, !waits, `${count} events`);
    while (!hasRoom) {
      takeNext();
      await setTimeout(0);
    }
    await room;
  }
});

test("a service that keeps no log leaves the journal of a wallet whose events are kept", async () => {
  const notes = Array.from({ length: 40 }, (): WalletChange => {
    return { kind: "note", txHash: "5c", note: "x".repeat(16 * 1024) };
  });
  await write("kept", [...story, ...notes]);
  await write("plain", [...story.slice(1), ...notes]);
  const sizes = ["kept", "plain"].map((name) => statSync(storeOf(name).path).size);
  for (const name of ["kept", "plain"]) await (await openStore(storeOf(name), settings)).log.close();
  assert.equal(statSync(storeOf("kept").path).size, sizes[0]);
  assert.ok(statSync(storeOf("plain").path).size < sizes[1]! / 4);
  const log = new MemoryLog();
  await reopen("kept", follow(log));
  assert.equal(log.told.length, 13);
});

test("a journal is not written anew before the log has what it says", async () => {
  const notes = Array.from({ length: 40 }, (_, i): WalletChange => {
    return { kind: "note", txHash: `${i % 2}`, note: "x".repeat(16 * 1024) };
  });
  const log = new MemoryLog();
  await write("long", [...story, ...notes]);
  const size = () => statSync(storeOf("long").path).size;
  const long = size();
  log.isBroken = true;
  await reopen("long", follow(log));
  assert.equal(size(), long);
  assert.equal(log.told.length, 0);
  log.isBroken = false;
  await reopen("long", follow(log));
  assert.ok(size() < long / 4, `${size()} of ${long}`);
  assert.equal(log.told.length, 13);
});

test("many wallets share a log, each in its order", async () => {
  const log = new MemoryLog();
  const names = Array.from({ length: 20 }, (_, i) => `wallet ${i}`);
  const [, ...rest] = story;
  await Promise.all(names.map(async (name) => write(name, [await source(name), ...rest], follow(log, name))));
  const [first] = names.map((name) =>
    log.told.filter(([wallet]) => wallet === name).map(([, , event]) => event),
  );
  assert.equal(first?.length, 13);
  for (const name of names)
    assert.deepEqual(
      log.told.filter(([wallet]) => wallet === name).map(([, , event]) => event),
      first,
    );
});

test("a process that is killed again and again tells of each block once, in order", () =>
  killForever(join(folder, "killed"), "journal"));

test("a service tells the log it was given of its wallets with files, each from its first opening on", async (t) => {
  const log = new MemoryLog();
  const { call } = await startTestService({ events: log }, t);
  await call.createWallet({ filename: "till", password: "", language: "English" });
  await call.createWallet({ filename: "safe", password: "", language: "English" });
  await call.openWallet({ filename: "till", password: "" });
  await call.closeWallet({});
  const told = log.told.map(([wallet, , { type }]) => [wallet, type]);
  assert.deepEqual(told, [
    ["till", "events_started"],
    ["safe", "events_started"],
  ]);
});

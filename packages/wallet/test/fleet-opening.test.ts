/** What a process of a fleet does with wallets whose process is gone. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Passes, silent } from "@anulo/rpc";
import type { PostgresEngine } from "@anulo/store";
import { nextFolderOf, walletPaths } from "../src/file/wallet-files.ts";
import { Fleet } from "../src/fleet/fleet.ts";
import { LIFETIME_MS } from "../src/fleet/membership.ts";
import { MissingWallet, WalletRefusal } from "../src/refusal.ts";
import { Database } from "./fleet-database.ts";

/** A fleet of one process, which has as many of these wallets as it can open; `opens` counts its attempts. */
async function joinFleet(
  database: Database,
  open: (name: string, attempt: number) => void,
  { elapsed = () => performance.now(), folder = "/nowhere" } = {},
) {
  const opens = new Map<string, number>();
  /** How many wallets the service was asked to hand over, each time. */
  const handedOver: number[] = [];
  const leases = database.open();
  let beats = 0;
  const fleet = new Fleet({
    id: randomBytes(16),
    folder,
    engine: {} as PostgresEngine,
    leases: {
      ...leases,
      renew: (process) => {
        beats++;
        return leases.renew(process);
      },
    },
    passes: new Passes(randomBytes(32)),
    settings: "",
    restricted: false,
    log: silent,
    elapsed,
  });
  await fleet.join("here:1", {
    async open(name) {
      const attempt = (opens.get(name) ?? 0) + 1;
      opens.set(name, attempt);
      open(name, attempt);
    },
    closeUnused: async (most) => void handedOver.push(most),
    closeUntold: async () => undefined,
    closeLost: async () => undefined,
  });
  const pass = async (count: number) => {
    for (const end = beats + count; beats < end; ) await delay(20);
  };
  return { fleet, opens, handedOver, pass };
}

test("a wallet is tried five times and then left to others, one that no process can open only once", async () => {
  const database = new Database();
  for (const name of ["sound", "busy", "broken", "missing", "closed"]) database.leases.set(name, undefined);
  const { fleet, opens, pass } = await joinFleet(database, (name, attempt) => {
    if (name === "broken" || (name === "busy" && attempt < 5)) throw new Error("not now");
    if (name === "missing") throw new MissingWallet(name);
    if (name === "closed") throw new WalletRefusal("NOT_OPEN", "No wallet file");
  });
  while (database.leases.get("broken") === undefined) await delay(20);
  while (database.leases.get("broken") !== undefined || opens.get("busy") !== 5) await delay(20);
  // It is free, but not taken again so soon.
  await pass(3);
  assert.deepEqual(Object.fromEntries(opens), { sound: 1, busy: 5, broken: 5, missing: 1, closed: 1 });
  const [process] = database.processes.keys();
  assert.deepEqual(Object.fromEntries(database.leases), { sound: process, busy: process, broken: undefined });
  await fleet.leave();
});

test("a process hands over what it has above its share and some slack, sixteen wallets at most", async () => {
  // What it has, what the other one has, and how many it hands over.
  const cases: readonly (readonly [number, number, number | undefined])[] = [
    [3, 0, undefined],
    [4, 0, 1],
    [42, 0, 16],
    [60, 30, 13],
  ];
  const handOverOf = async (own: number, others: number) => {
    const database = new Database();
    for (let i = 0; i < own; i++) database.leases.set(`own${i}`, undefined);
    const { fleet, opens, handedOver, pass } = await joinFleet(database, () => undefined);
    while (opens.size < own) await delay(20);
    await pass(2);
    assert.deepEqual(handedOver, [], "it is alone");
    const leases = database.open();
    const other = await leases.join("there:1", "");
    for (let i = 0; i < others; i++) await leases.take(other, `other${i}`);
    await pass(3);
    await fleet.leave();
    // As long as it has too many it is asked with each heartbeat.
    assert.ok(handedOver.length !== 1);
    return handedOver[0];
  };
  const found = await Promise.all(cases.map(([own, others]) => handOverOf(own, others)));
  assert.deepEqual(
    found,
    cases.map(([, , expected]) => expected),
  );
});

/** Two members that have renewed their memberships a moment ago: at the address of one nobody listens, the other is silent. */
async function joinOthers(t: TestContext, database: Database) {
  const listening = createServer(() => undefined);
  const closed = createServer();
  for (const server of [listening, closed])
    await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  t.after(() => void listening.close());
  const others = database.open();
  const join = (server: typeof closed) =>
    others.join(`127.0.0.1:${(server.address() as AddressInfo).port}`, "");
  const [gone, stopped] = [await join(closed), await join(listening)];
  await new Promise<void>((done) => void closed.close(() => done()));
  await others.take(gone, "w");
  await others.take(stopped, "v");
  return { gone, stopped };
}

const fastClock = () => 3 * performance.now();

test("wallets of a process whose port is closed move before its membership expires, those of a silent one do not", async (t) => {
  const database = new Database();
  const { gone, stopped } = await joinOthers(t, database);
  const { fleet, opens, pass } = await joinFleet(database, () => undefined, { elapsed: fastClock });
  await pass(5);
  assert.deepEqual([opens.size, database.leases.get("w")], [0, gone]);
  database.nowMs += LIFETIME_MS / 2;
  while (opens.size === 0) await delay(20);
  await pass(2);
  assert.deepEqual(Object.fromEntries(opens), { w: 1 });
  assert.equal(database.processes.has(gone), false);
  assert.equal(database.leases.get("v"), stopped);
  await fleet.leave();
});

test("a process that has just joined goes on renewing its membership while another one is gone", async (t) => {
  const database = new Database();
  await joinOthers(t, database);
  database.nowMs += LIFETIME_MS / 2;
  const { fleet, opens, pass } = await joinFleet(database, () => undefined, { elapsed: fastClock });
  while (opens.size === 0) await delay(20);
  await pass(4);
  await fleet.leave();
});

test("taking a wallet removes what a former owner was about to replace, or gives the wallet back", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-fleet-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const paths = walletPaths(folder, "w");
  const unfinished = nextFolderOf(folder, paths);
  mkdirSync(unfinished, { recursive: true });
  writeFileSync(join(unfinished, "w.keys"), "a former owner's");
  const database = new Database();
  const { fleet } = await joinFleet(database, () => undefined, { folder });
  t.after(() => fleet.leave());
  const giveBack = await fleet.shared.locks.take(paths);
  assert.equal(existsSync(unfinished), false);
  assert.notEqual(database.leases.get("w"), undefined);
  await giveBack();
  assert.equal(database.leases.get("w"), undefined);
  const loop = join(folder, "loop");
  symlinkSync(loop, loop);
  const lost = await joinFleet(database, () => undefined, { folder: loop });
  t.after(() => lost.fleet.leave());
  await assert.rejects(lost.fleet.shared.locks.take(paths), /does not tell whether there is/);
  assert.equal(database.leases.get("w"), undefined);
});

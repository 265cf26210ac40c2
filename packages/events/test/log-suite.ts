import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { describe, test } from "node:test";
import { type Engine, Fenced, WrongStoreKey } from "@anulo/store";
import {
  type EventLog,
  EventLogInUse,
  EventLogRolledBack,
  formatJson,
  openEventLog,
  PartMissing,
} from "../src/index.ts";
import {
  addEvents,
  allEvents,
  clockBehindHolder,
  key,
  leaseWallet,
  type MakePlace,
  openLog,
  type Place,
  START_MS,
  source,
  TestClock,
  until,
} from "./harness.ts";

/** The log among the wallets of its engine. */
const logWallet = createHash("sha256").update("anulo event log").digest().subarray(0, 16);
const DAY = 86_400;
const numbersOf = (events: readonly { sequence: number }[]) => events.map(({ sequence }) => sequence);
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

/** What an event log promises, whatever engine is below. */
export function logSuite(name: string, makePlace: MakePlace): void {
  const at = (title: string, check: (place: Place) => Promise<void>) =>
    test(title, async () => {
      const place = makePlace();
      try {
        await check(place);
      } finally {
        await place.stop();
      }
    });

  describe(`event log on ${name}`, () => {
    at("gives events back as they were told, numbered from 1, with wallet and time", async (place) => {
      const log = await openLog(place, { clock: new TestClock() });
      const event = {
        type: "received",
        amount: 18_446_744_073_709_551_615n,
        small: 5n,
        text: "n5",
        list: [1, "s", null, true],
      };
      await log.append({ source: source(1), wallet: "alice", change: 3, events: [event, { type: "spent" }] });
      const { events, next, oldest } = await log.read({ after: 0, limit: 10 });
      const place1 = { wallet: "alice", time: START_MS / 1000 };
      assert.deepEqual(events, [
        { sequence: 1, ...place1, ...event },
        { sequence: 2, ...place1, type: "spent" },
      ]);
      assert.deepEqual({ next, oldest, last: log.last }, { next: 2, oldest: 1, last: 2 });
      assert.match(formatJson(events[0]!), /"amount":18446744073709551615,"small":5,"text":"n5"/);
      assert.equal(await log.cursorOf(source(1)), 3);
      assert.equal(await log.cursorOf(source(2)), undefined);
      await log.close();
    });

    at("tells nothing twice: a change at or below the cursor adds nothing", async (place) => {
      const log = await openLog(place);
      const entry = { source: source(1), wallet: "a", change: 5, events: [{ type: "x" }] };
      await Promise.all([log.append(entry), log.append(entry), log.append({ ...entry, change: 4 })]);
      await log.append({ ...entry, change: 6, events: [] });
      assert.equal(log.last, 1);
      assert.equal(await log.cursorOf(source(1)), 6);
      await log.append({ ...entry, source: source(2) });
      assert.equal(log.last, 2);
      await log.close();
    });

    at("goes on with its numbers, its id and its cursors when it is opened again", async (place) => {
      const first = await openLog(place);
      await addEvents(first, 3);
      const { id } = first;
      await first.close();
      const second = await openLog(place);
      await addEvents(second, 2);
      assert.deepEqual(numbersOf(await allEvents(second)), [1, 2, 3, 4, 5]);
      assert.equal(second.id, id);
      await second.close();
    });

    at("calls that come together share a write", async (place) => {
      const log = await openLog(place);
      const before = (await (await place.engine()).markOf(logWallet))?.sequence ?? 0;
      await addEvents(log, 500);
      const after = (await (await place.engine()).markOf(logWallet))?.sequence ?? 0;
      assert.equal(log.last, 500);
      assert.ok(after - before < 10, `${after - before} writes`);
      await log.close();
    });

    at("adds more events than a write holds, and goes on where it was cut short", async (place) => {
      const log = await openLog(place);
      const events = Array.from({ length: 5_000 }, (_, i) => ({ type: "x", i }));
      const entry = { source: source(1), wallet: "a", change: 1, events };
      await Promise.all([log.append(entry), log.append({ ...entry, change: 2, events: [{ type: "y" }] })]);
      const found = await allEvents(log);
      assert.deepEqual(numbersOf(found), upTo(5_001));
      assert.deepEqual(
        found.slice(0, -1).map(({ i }) => i),
        upTo(4_999, 0),
      );
      assert.equal(found.at(-1)?.type, "y");
      await log.close();
    });

    at("takes a change in parts, each once and none before the one that it follows", async (place) => {
      const log = await openLog(place);
      const part = (to: EventLog, before: number, count: number, isPart: boolean) =>
        to.append({
          source: source(1),
          wallet: "a",
          change: 1,
          events: Array.from({ length: count }, (_, i) => ({ type: "x", i: before + i })),
          before,
          isPart,
        });
      await assert.rejects(part(log, 2, 2, true), PartMissing);
      await part(log, 0, 2, true);
      await part(log, 0, 2, true);
      assert.equal(await log.cursorOf(source(1)), undefined, "the change is not complete");
      await log.close();
      const again = await openLog(place);
      await assert.rejects(
        again.append({ source: source(1), wallet: "a", change: 2, events: [], before: 1 }),
        PartMissing,
      );
      await Promise.all([part(again, 0, 2, true), part(again, 2, 2_500, true), part(again, 2_502, 1, false)]);
      await part(again, 2, 2_500, true);
      assert.equal(await again.cursorOf(source(1)), 1);
      const found = await allEvents(again);
      assert.deepEqual(
        found.map(({ i }) => i),
        upTo(2_502, 0),
      );
      await again.close();
    });

    at("passes within a group at once, from a holder that is fenced by that", async (place) => {
      const group = Buffer.alloc(16, 1);
      const first = await openLog(place, { group });
      await addEvents(first, 1);
      const second = await openLog(place, { group });
      await assert.rejects(addEvents(first, 1));
      await addEvents(second, 1);
      await until(() => first.ended.aborted);
      assert.equal(second.id, first.id);
      const clock = await clockBehindHolder(place);
      await assert.rejects(openLog(place, { group: Buffer.alloc(16, 2), clock }), EventLogInUse);
      assert.equal(second.ended.aborted, false, "the former holder takes nothing back");
      await first.close();
      await addEvents(second, 1);
      assert.deepEqual(numbersOf(await allEvents(second)), [1, 2, 3]);
      await second.close();
    });

    at("passes within a group also where the holder acquires its lease again meanwhile", async (place) => {
      const group = Buffer.alloc(16, 1);
      const first = await openLog(place, { group });
      const engine = await place.engine();
      let tries = 0;
      const slow: Engine = {
        ...engine,
        async apply(wallet, change) {
          if (leaseWallet.equals(wallet) && ++tries <= 2)
            await until(async () => (await engine.markOf(leaseWallet))!.epoch > change.epoch);
          return await engine.apply(wallet, change);
        },
      };
      const second = await openLog(place, { group, engine: slow });
      assert.ok(tries > 2);
      await until(() => first.ended.aborted);
      await addEvents(second, 1);
      await first.close();
      await second.close();
    });

    at("filters by wallet and types, and says where to go on where nothing is left", async (place) => {
      const log = await openLog(place);
      await addEvents(log, 3, "alice");
      await addEvents(log, 2, "bo");
      const bo = await log.read({ after: 0, limit: 1, wallet: "bo" });
      assert.deepEqual([numbersOf(bo.events), bo.next], [[4], 4]);
      const none = await log.read({ after: 0, limit: 10, types: new Set(["spent"]) });
      assert.deepEqual([none.events, none.next], [[], 5]);
      const beyond = await log.read({ after: 99, limit: 10 });
      assert.deepEqual([beyond.events, beyond.next], [[], 5]);
      await log.close();
    });

    at(
      "reads at most 1,000 events, 4,096 rows or some MiB at once, and says where to go on",
      async (place) => {
        const log = await openLog(place);
        const add = (wallet: string, count: number, text: string) =>
          log.append({
            source: source(wallet.length),
            wallet,
            change: 1,
            events: Array.from({ length: count }, () => ({ type: "received", text })),
          });
        for (const wallet of ["a", "bo", "cyd", "dora", "erich"]) await add(wallet, 820, "");
        const page = await log.read({ after: 0, limit: 5000 });
        assert.deepEqual([numbersOf(page.events), page.next], [upTo(1000), 1000]);
        const none = await log.read({ after: 0, limit: 10, wallet: "nobody" });
        assert.deepEqual([none.events, none.next], [[], 4096]);
        await add("franka", 20, "x".repeat(60_000));
        const long = await log.read({ after: 4100, limit: 20 });
        assert.deepEqual([numbersOf(long.events), long.next], [upTo(4118, 4101), 4118]);
        await log.close();
      },
    );

    at("refuses what is no event, and adds nothing of its change", async (place) => {
      const log = await openLog(place);
      const entry = { source: source(1), wallet: "a", change: 1 };
      const bad = [
        { type: "" },
        { type: "a b" },
        { type: "x", sequence: 1 },
        { type: "x", text: "a".repeat(70_000) },
        { type: "x".repeat(65) },
      ];
      for (const event of bad) {
        await assert.rejects(log.append({ ...entry, events: [{ type: "ok" }, event] }), RangeError);
      }
      await assert.rejects(log.append({ ...entry, source: new Uint8Array(3), events: [] }), RangeError);
      await assert.rejects(log.append({ ...entry, change: -1, events: [] }), RangeError);
      assert.equal(log.last, 0);
      assert.equal(await log.cursorOf(source(1)), undefined);
      await log.close();
    });

    at("wakes who waits for an event, or whose patience ends, or when it is closed", async (place) => {
      const log = await openLog(place);
      const never = new AbortController();
      const waiting = log.waitForEvent(0, never.signal);
      const impatient = new AbortController();
      const given = log.waitForEvent(5, impatient.signal);
      const left = log.waitForEvent(7, never.signal);
      await addEvents(log, 1);
      await waiting;
      impatient.abort();
      await given;
      const closed = assert.rejects(left, { name: "StoreUnavailable" });
      await log.close();
      await closed;
      await assert.rejects(log.append({ source: source(1), wallet: "a", change: 1, events: [] }), {
        name: "StoreUnavailable",
      });
    });

    at("prunes what is older than it is to keep, and says so to readers", async (place) => {
      const clock = new TestClock();
      const log = await openLog(place, { clock, keepSeconds: 2 * DAY, leaseMs: 8 * DAY * 1000 });
      await addEvents(log, 1_200);
      await clock.pass(DAY * 1000);
      await addEvents(log, 2);
      await clock.pass(1.2 * DAY * 1000);
      await until(() => log.oldest === 1_201);
      const { events, oldest } = await log.read({ after: 3, limit: 10 });
      assert.deepEqual([numbersOf(events), oldest], [[1_201, 1_202], 1_201]);
      await clock.pass(DAY * 1000);
      await until(() => log.oldest === 1_203);
      assert.deepEqual(await log.read({ after: 0, limit: 10 }), { events: [], next: 1_202, oldest: 1_203 });
      await addEvents(log, 1);
      assert.deepEqual(numbersOf(await allEvents(log)), [1_203]);
      await log.close();
    });

    at("is opened by one at a time", async (place) => {
      const log = await openLog(place);
      await assert.rejects(openLog(place, { clock: await clockBehindHolder(place) }), EventLogInUse);
      await addEvents(log, 1);
      assert.equal(log.last, 1);
      await log.close();
      const [first, second] = await Promise.allSettled([openLog(place), openLog(place)]);
      const opened = [first, second].filter(({ status }) => status === "fulfilled");
      assert.ok(opened.length <= 1, "both opened it");
      for (const result of [first, second]) {
        if (result.status === "rejected") assert.ok(result.reason instanceof EventLogInUse);
        else await result.value.close();
      }
    });

    at("a holder that was silent for longer than its lease cannot write any more", async (place) => {
      // Its clock stands still, so it does not say that it is there.
      const silent = await openLog(place, { clock: new TestClock() });
      const log = await openLog(place);
      await assert.rejects(addEvents(silent, 1), Fenced);
      assert.ok(silent.ended.aborted);
      await addEvents(log, 1);
      assert.deepEqual(numbersOf(await allEvents(log)), [1]);
      await log.close();
      await silent.close();
    });

    at("does not open with another key", async (place) => {
      await (await openLog(place)).close();
      await assert.rejects(openLog(place, { key: new Uint8Array(32).fill(8) }), WrongStoreKey);
      await (await openLog(place)).close();
    });

    at("an older copy opens only where that is accepted, under another id", async (place) => {
      const log = await openLog(place);
      await addEvents(log, 2);
      await log.close();
      // The folder has seen a later store than this empty one.
      const older = makePlace();
      const options = { engine: await older.engine(), folder: place.folder, key, leaseMs: 400 };
      await assert.rejects(openEventLog(options), EventLogRolledBack);
      const accepted = await openEventLog({ ...options, acceptRolledBack: true });
      assert.notEqual(accepted.id, log.id);
      assert.equal(accepted.last, 0);
      await accepted.close();
      await older.stop();
      rmSync(place.folder, { recursive: true, force: true });
    });
  });
}

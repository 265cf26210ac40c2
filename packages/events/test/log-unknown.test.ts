/** Changes of an event log of which it is not known whether they were applied, or that an older copy refuses. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createMemoryEngine, type Engine, OutcomeUnknown, RolledBack, StoreUnavailable } from "@anulo/store";
import { type Clock, type EventLog, EventLogRolledBack, openEventLog, systemClock } from "../src/index.ts";
import { tables } from "../src/tables.ts";
import { key, memoryPlace, source, until } from "./harness.ts";

/** Pauses are short. */
const clock: Clock = { now: systemClock.now, delay: (ms, signal) => systemClock.delay(ms / 20, signal) };
const group = new Uint8Array(16).fill(9);
const RENEWALS_MS = 8_000;

/** A database that loses the answer to a change, once it was applied or before. */
function forgetful() {
  const memory = createMemoryEngine();
  const state = {
    lose: undefined as "applied" | "dropped" | undefined,
    isAway: false,
    isOlder: false,
    /** Whether it has another log, or none, in the place of this one. */
    isReplaced: false,
    refused: 0,
  };
  const unlessAway =
    <A extends unknown[], T>(run: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      if (state.isAway) {
        state.refused++;
        throw new StoreUnavailable("away", { mayPass: true });
      }
      return await run(...args);
    };
  const engine: Engine = {
    ...memory,
    fence: unlessAway((...args) => memory.fence(...args)),
    markOf: unlessAway((...args) => memory.markOf(...args)),
    read: unlessAway(async (wallet, row) =>
      state.isReplaced && row.table === tables.state.number ? undefined : await memory.read(wallet, row),
    ),
    page: unlessAway((...args) => memory.page(...args)),
    apply: unlessAway(async (wallet, change) => {
      const { lose, isOlder } = state;
      if (isOlder) throw new RolledBack({ epoch: 2, sequence: 3 }, { epoch: 2, sequence: 1 });
      // Not one of the lease, which has a row alone.
      if (lose === undefined || change.puts.length + change.deletes.length < 2)
        return await memory.apply(wallet, change);
      state.lose = undefined;
      if (lose === "applied") await memory.apply(wallet, change);
      throw new OutcomeUnknown("lost");
    }),
  };
  return { memory, engine, state };
}

async function begin(t: TestContext) {
  const place = memoryPlace();
  const { memory, engine, state } = forgetful();
  const options = { folder: place.folder, clock, group };
  const open = (on: Engine) => openEventLog({ ...options, engine: on, key: Uint8Array.from(key) });
  const log = await open(engine);
  t.after(async () => {
    state.isAway = false;
    await log.close();
    await place.stop();
  });
  return { log, state, open: () => open(memory) };
}

const append = (log: EventLog, change: number) =>
  log.append({ source: source(1), wallet: "alice", change, events: [{ type: "received", height: change }] });

/** As whoever tells the log does, which takes a change once. */
async function appendUntilTaken(log: EventLog, change: number): Promise<void> {
  await until(async () => {
    try {
      await append(log, change);
      return true;
    } catch {
      return log.ended.aborted;
    }
  });
}

for (const lose of ["applied", "dropped"] as const)
  test(`a log whose change was ${lose}, without an answer, goes on with each event once`, async (t) => {
    const { log, state } = await begin(t);
    await append(log, 1);
    state.lose = lose;
    await assert.rejects(append(log, 2), OutcomeUnknown);
    for (const change of [2, 3, 4]) await appendUntilTaken(log, change);
    assert.equal(log.ended.aborted, false);
    const { events } = await log.read({ after: 0, limit: 10 });
    assert.deepEqual(
      events.map(({ sequence, height }) => [sequence, Number(height)]),
      [1, 2, 3, 4].map((each) => [each, each]),
    );
    assert.equal(await log.cursorOf(source(1)), 4);
  });

test("a log whose database is away while it opens again goes on once it is back", async (t) => {
  const { log, state } = await begin(t);
  state.lose = "applied";
  await assert.rejects(append(log, 1), OutcomeUnknown);
  state.isAway = true;
  await until(() => state.refused >= 3 || log.ended.aborted);
  state.isAway = false;
  await appendUntilTaken(log, 2);
  assert.equal(log.ended.aborted, false);
  assert.equal((await log.read({ after: 0, limit: 10 })).events.length, 2);
});

test("a log that another process has taken meanwhile ends, and fences nobody", async (t) => {
  const { log, state, open } = await begin(t);
  state.lose = "applied";
  await assert.rejects(append(log, 1), OutcomeUnknown);
  state.isAway = true;
  const other = await open();
  try {
    state.isAway = false;
    const deadline = performance.now() + RENEWALS_MS;
    while (!log.ended.aborted && performance.now() < deadline) await systemClock.delay(10);
    assert.ok(log.ended.aborted);
    await append(other, 2);
    assert.equal(other.ended.aborted, false);
  } finally {
    await other.close();
  }
});

test("a log whose database has become an older copy of itself ends", async (t) => {
  const { log, state } = await begin(t);
  await append(log, 1);
  state.isOlder = true;
  await assert.rejects(append(log, 2), RolledBack);
  assert.equal(log.ended.reason instanceof RolledBack, true);
  assert.equal(log.isHeld, false);
  state.isOlder = false;
  await assert.rejects(append(log, 3), RolledBack);
});

test("a log that is not in its database any more when it opens again ends", async (t) => {
  const { log, state } = await begin(t);
  await append(log, 1);
  state.isReplaced = true;
  state.lose = "applied";
  await assert.rejects(append(log, 2), OutcomeUnknown);
  await until(() => log.ended.aborted);
  assert.ok(log.ended.reason instanceof EventLogRolledBack);
  await assert.rejects(append(log, 3), EventLogRolledBack);
});

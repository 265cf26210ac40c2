import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { mapSliced, SHARED_SLICE_MS } from "@anulo/limits";
import {
  createRpcServer,
  daemon,
  defaultLimits,
  drawn,
  implementFor,
  type Logger,
  type RequestInfo,
  RowMeter,
} from "../src/index.ts";
import { CallerShare } from "../src/server/caller-share.ts";

/** What a call with the cost `small` may read. */
const SMALL = daemon.blocks.getHeight.cost.rows;

const steps = (count: number) => Array.from({ length: count }, (_, i) => i);

/** A service over a made-up database, of which `reading` rows are read for each step of a call. */
async function start(t: TestContext) {
  const database = { read: 0, reading: 1, steps: 1 };
  const readStep = () => {
    database.read += database.reading;
  };
  const logged: string[] = [];
  const log = {
    info: () => {},
    debug: () => {},
    warn: (message: string) => void logged.push(message),
    error: () => {},
  } as unknown as Logger;
  const implement = implementFor<RequestInfo>();
  const calls = [
    ...implement(
      { getHeight: daemon.blocks.getHeight, popBlocks: daemon.blocks.popBlocks },
      {
        async getHeight(_, { caller: { rows } }) {
          // Each step is a slice of its own.
          const work = (options: object) =>
            mapSliced(steps(database.steps), readStep, { ...options, sliceMs: 0 });
          await rows.during(work, {});
          return { hash: "", height: database.steps };
        },
        popBlocks: () => {
          for (const _ of steps(database.steps)) readStep();
          return { height: 1 };
        },
      },
    ),
    ...implement(
      { getVersion: daemon.admin.getVersion, getLimit: daemon.network.getLimit },
      {
        // Read while the response is written.
        getVersion: () => ({
          hard_forks: drawn(steps(database.steps), (height) => {
            readStep();
            return { height, hf_version: 1 };
          }) as never,
          release: true,
          version: 1,
        }),
        // Read before the handler returns.
        getLimit: () => {
          for (const _ of steps(database.steps)) readStep();
          return { limit_down: 1, limit_up: 1 };
        },
      },
    ),
  ];
  const server = await createRpcServer({
    calls,
    listen: [{ host: "127.0.0.1", port: 0 }],
    context: (request) => request,
    rowsRead: () => database.read,
    log,
  });
  t.after(() => server.stop());
  const url = server.urls[0]!;
  const statusOf = async (path: string, body = "{}") =>
    (await fetch(`${url}${path}`, { method: "POST", body })).status;
  return { database, logged, statusOf };
}

const version = JSON.stringify({ id: 1, method: "get_version" });

test("a call that reads more rows than it has declared is ended, in one slice as in many", async (t) => {
  const { database, logged, statusOf } = await start(t);
  for (const [reading, times] of [
    [SMALL / 20, 20],
    [SMALL / 250, 250],
  ] as const) {
    Object.assign(database, { reading, steps: times });
    for (const path of ["/get_height", "/get_limit"]) assert.equal(await statusOf(path), 200, path);
    assert.equal(await statusOf("/json_rpc", version), 200);
    database.steps = times + 1;
    for (const path of ["/get_height", "/get_limit"]) assert.equal(await statusOf(path), 500, path);
    assert.equal(await statusOf("/json_rpc", version), 500);
  }
  assert.deepEqual(new Set(logged), new Set(["rpc call reads too many rows"]));
});

test("a call that is ended reads no further than to the end of its slice", async (t) => {
  const { database, statusOf } = await start(t);
  Object.assign(database, { reading: SMALL / 4, steps: 1000 });
  assert.equal(await statusOf("/get_height"), 500);
  assert.ok(database.read < 3 * SMALL);
});

test("rows that others read meanwhile, or an earlier call of the connection, are not its own", async (t) => {
  const { database, statusOf } = await start(t);
  Object.assign(database, { reading: SMALL / 20, steps: 20 });
  const statuses = await Promise.all(steps(20).map(() => statusOf("/get_height")));
  assert.deepEqual(new Set(statuses), new Set([200]));
});

test("a call that acts is not ended for the rows it reads", async (t) => {
  const { database, statusOf } = await start(t);
  Object.assign(database, { reading: 1, steps: 2 * daemon.blocks.popBlocks.cost.rows });
  assert.equal(await statusOf("/pop_blocks", '{"nblocks": 1}'), 200);
});

test("a meter counts what is read in its slices, and nothing between them", async () => {
  let read = 0;
  const meter = new RowMeter(() => read);
  meter.begin(100);
  read += 10;
  meter.pause();
  read += 1000;
  meter.resume();
  read += 20;
  meter.resume();
  meter.pause();
  meter.pause();
  assert.equal(meter.used, 30);
  const map = (value: number) => {
    read += value;
    return value;
  };
  assert.deepEqual(await meter.during((options) => mapSliced([20, 50], map, options), {}), [20, 50]);
  assert.equal(meter.used, 100);
  await assert.rejects(async () => meter.during((options) => mapSliced([1], map, options), {}), {
    name: "OverBudget",
    of: "rows",
  });
  meter.begin(1);
  read++;
  meter.pause();
  assert.equal(meter.used, 1);
});

test("slices of a call count as work of its caller, the first one being part of what is done at once", async () => {
  const slices: number[] = [];
  const meter = new RowMeter(() => 0, { onWork: (milliseconds) => void slices.push(milliseconds) });
  meter.begin(1);
  // Each item ends a slice, and the last slice finds that there is none left.
  const items = [1, 2, 3, 4];
  await meter.during((options) => mapSliced(items, (item) => item, { ...options, sliceMs: 0 }), {});
  assert.equal(slices.length, items.length);
});

/** Which items the calls of two callers reach in each turn of the event loop, where each item takes half a slice. */
async function itemsOfTurns(t: TestContext, isForStrangers: boolean): Promise<string[]> {
  let nowMs = 5000;
  t.mock.method(performance, "now", () => nowMs);
  const limits = { ...defaultLimits, eventLoopShare: Number.POSITIVE_INFINITY };
  const share = new CallerShare(limits, { isForStrangers });
  const turns: string[] = [""];
  const call = async (name: string, address: string) => {
    const { rows } = share.open(address);
    rows.begin(1);
    const item = (i: number) => {
      nowMs += SHARED_SLICE_MS / 2;
      turns.push(`${turns.pop()}${name}${i}`);
    };
    await rows.during((options) => mapSliced([1, 2, 3, 4, 5, 6, 7], item, options), {});
  };
  const calls = Promise.all([call("a", "1.1.1.1"), call("b", "2.2.2.2")]);
  for (let i = 0; i < 5; i++) {
    await setImmediate();
    turns.push("");
  }
  await calls;
  t.mock.restoreAll();
  return turns;
}

test("long calls of strangers share the turns of the event loop, those of the owner have each a slice", async (t) => {
  assert.deepEqual(await itemsOfTurns(t, true), ["a1a2b1a3a4", "b2b3", "a5a6", "b4b5", "a7", "b6b7"]);
  assert.deepEqual(await itemsOfTurns(t, false), ["a1a2a3a4b1b2b3b4a5a6a7b5b6b7", "", "", "", "", ""]);
});

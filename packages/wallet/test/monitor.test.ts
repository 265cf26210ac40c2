import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sample } from "@anulo/metrics";
import { createCallTally } from "@anulo/rpc";
import { type Daemon, WalletRefusal, walletMetrics } from "../src/index.ts";
import { createWalletMonitor, type Watched } from "../src/monitor/monitor.ts";
import { createRuntime } from "../src/runtime.ts";
import { HeightTally } from "../src/scan/height-tally.ts";

const server = { usage: () => [], connectionCount: () => 0 };

/** A node at a height, or one that answers as `answer` does. */
function nodeAt(answer: () => Promise<number>): Daemon {
  const getHeight = async () => ({ height: await answer(), hash: "", status: "OK" });
  return { client: { getHeight } } as unknown as Daemon;
}

function watched(parts: Partial<Watched>) {
  const runtime = createRuntime();
  const monitor = createWalletMonitor({
    runtime,
    server,
    events: undefined,
    daemon: undefined,
    engine: undefined,
    ...parts,
  });
  const outcomes = async () => {
    const names = Object.keys(monitor.checks);
    const reasons = await Promise.all(
      names.map(async (name) => {
        try {
          return await monitor.checks[name]!();
        } catch (error) {
          return (error as Error).message;
        }
      }),
    );
    return Object.fromEntries(names.map((name, i) => [name, reasons[i]]));
  };
  const read = (name: string): number | readonly Sample[] | undefined => {
    const metric = walletMetrics[name];
    assert.ok(metric !== undefined && metric.type !== "histogram");
    return metric.read({ wallet: monitor, calls: createCallTally(), server });
  };
  return { runtime, monitor, outcomes, read };
}

test("wallets are counted by their heights as they move", () => {
  const heights = new HeightTally();
  const [a, b] = [{}, {}];
  heights.note(a, 5);
  heights.note(b, 9);
  assert.deepEqual([heights.open, heights.below(5), heights.below(6), heights.below(10)], [2, 0, 1, 2]);
  heights.note(a, 9);
  assert.deepEqual([heights.below(9), heights.below(10), heights.scannedBlocks], [0, 2, 4]);
  heights.note(a, 7);
  assert.deepEqual([heights.below(9), heights.scannedBlocks], [1, 4]);
  heights.note(b, undefined);
  heights.note(b, undefined);
  assert.deepEqual([heights.open, heights.below(100)], [1, 1]);
});

test("a service is not ready once most of its wallets fall behind", async () => {
  let height = 100;
  const { runtime, outcomes, read } = watched({ daemon: nodeAt(async () => height) });
  const [a, b, c] = [{}, {}, {}];
  for (const wallet of [a, b, c]) runtime.heights.note(wallet, 100);
  assert.deepEqual(await outcomes(), { node: undefined, wallets: undefined });
  height = 111;
  const all = "3 of 3 open wallets are more than 10 blocks behind the node";
  assert.deepEqual(await outcomes(), { node: undefined, wallets: all });
  assert.equal(read("anulo_wallet_behind"), 3);
  runtime.heights.note(a, 101);
  runtime.heights.note(b, 111);
  assert.deepEqual(await outcomes(), { node: undefined, wallets: undefined });
  assert.equal(read("anulo_wallet_behind"), 1);
  assert.equal(read("anulo_wallet_node_height"), 111);
});

test("a service of which exactly half of the wallets are behind is ready", async () => {
  let asked = 0;
  const { runtime, outcomes } = watched({
    daemon: nodeAt(async () => {
      asked += 1;
      return 111;
    }),
  });
  for (const height of [100, 101]) runtime.heights.note({}, height);
  assert.deepEqual(await outcomes(), { node: undefined, wallets: undefined });
  assert.equal(asked, 1, "one question answers both checks");
  runtime.heights.note({}, 100);
  const most = "2 of 3 open wallets are more than 10 blocks behind the node";
  assert.deepEqual(await outcomes(), { node: undefined, wallets: most });
  assert.equal(asked, 2);
});

test("a store that does not answer in time is reported, and is asked for the mark of no wallet", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const asked: Uint8Array[] = [];
  let answer = () => {};
  const markOf = (wallet: Uint8Array) => {
    asked.push(wallet);
    return new Promise<undefined>((resolve) => {
      answer = () => resolve(undefined);
    });
  };
  const { outcomes, read } = watched({ engine: { markOf } });
  const inTime = outcomes();
  t.mock.timers.tick(1899);
  answer();
  assert.deepEqual(await inTime, { store: undefined });
  const late = outcomes();
  t.mock.timers.tick(1900);
  assert.deepEqual(await late, { store: "no answer within 1900 ms" });
  assert.equal(read("anulo_wallet_store_up"), 0);
  assert.deepEqual(asked, [new Uint8Array(16), new Uint8Array(16)]);
});

test("a node that is away is reported once, by its own check", async () => {
  let isAway = false;
  const daemon = nodeAt(async () => {
    if (isAway) throw new WalletRefusal("NO_DAEMON_CONNECTION", "no connection to daemon");
    return 5;
  });
  const { outcomes, read } = watched({ daemon });
  await outcomes();
  assert.equal(read("anulo_wallet_node_up"), 1);
  isAway = true;
  assert.deepEqual(await outcomes(), { node: "no connection to daemon", wallets: undefined });
  assert.equal(read("anulo_wallet_node_up"), 0);
  isAway = false;
  assert.deepEqual(await outcomes(), { node: undefined, wallets: undefined });
  assert.equal(read("anulo_wallet_node_up"), 1);
});

test("a store that is away is reported, and so is that it is back", async () => {
  let isAway = false;
  const markOf = async () => {
    if (isAway) throw new Error("the database does not answer");
    return undefined;
  };
  let now = 0;
  const { outcomes, read } = watched({ engine: { markOf }, now: () => (now += 250) });
  assert.deepEqual(await outcomes(), { store: undefined });
  assert.deepEqual([read("anulo_wallet_store_up"), read("anulo_wallet_store_answer_seconds")], [1, 0.25]);
  isAway = true;
  assert.deepEqual(await outcomes(), { store: "the database does not answer" });
  assert.equal(read("anulo_wallet_store_up"), 0);
  isAway = false;
  assert.deepEqual(await outcomes(), { store: undefined });
});

test("an event log that has ended is reported, and what its deliveries lack", async () => {
  const ending = new AbortController();
  const hook = { id: "", url: "", wallets: [], types: [], nextAttempt: 0 };
  const list = () => [
    { ...hook, disabled: "", sequence: 10, attempts: 0, missed: 2 },
    { ...hook, disabled: "", sequence: 4, attempts: 3, missed: 0 },
    { ...hook, disabled: "410 Gone", sequence: 9, attempts: 0, missed: 1 },
  ];
  const events = {
    log: { last: 10, oldest: 4, ended: ending.signal },
    webhooks: { list, givenUp: 5 },
    sink: { sequence: 8, isConnected: false },
  };
  const { outcomes, read } = watched({ events: () => events });
  assert.deepEqual(await outcomes(), { events: undefined });
  ending.abort();
  assert.deepEqual(await outcomes(), { events: "the event log has ended" });
  const values = ["stored", "webhook_lag", "webhook_missed_total", "sink_up", "sink_lag"];
  assert.deepEqual(
    values.map((name) => read(`anulo_events_${name}`)),
    [7, 6, 3, 0, 2],
  );
  const states = read("anulo_events_webhooks") as readonly Sample[];
  assert.deepEqual(
    states.map(({ labels, value }) => [labels.state, value]),
    [
      ["sending", 1],
      ["failing", 1],
      ["disabled", 1],
    ],
  );
});

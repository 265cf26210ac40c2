/** Which wallets a service refreshes, and when, with its clock in the test's hand. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Common } from "../src/many/common.ts";
import type { OpenWallets } from "../src/many/open-wallets.ts";
import { Refresher } from "../src/many/refresher.ts";
import { WalletEntry } from "../src/many/wallet-entry.ts";
import { WalletRefusal } from "../src/refusal.ts";

const PERIOD = 20;

type Held = {
  readonly entry: WalletEntry;
  progress: { readonly height: number } | undefined;
  /** Ends its scan under way. */
  finish(error?: Error): void;
};

/** A service that has begun to scan at `begun`; scans end when they are told to. */
function scene(t: TestContext) {
  const clock = { now: 1_000_000 };
  t.mock.method(performance, "now", () => clock.now);
  const open: WalletEntry[] = [];
  const begun: string[] = [];
  const lines: (readonly [string, string, object | undefined])[] = [];
  const lineOf =
    (level: string) =>
    (text: string, fields?: object): void =>
      void lines.push([level, text, fields]);
  const levels = {
    info: lineOf("info"),
    warn: lineOf("warn"),
    error: lineOf("error"),
    debug: lineOf("debug"),
  };
  const log = { in: () => log, ...levels };
  const refresher = new Refresher(
    { log } as unknown as Common,
    { open, openCount: 1 } as unknown as OpenWallets,
  );
  const add = (name: string, { height = 1, node = "http://a" } = {}): Held => {
    const entry = new WalletEntry({ base: name } as WalletEntry["paths"]);
    const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
    const held: Held = {
      entry,
      progress: undefined,
      finish: (error) => {
        const scan = waiting.shift()!;
        if (error === undefined) scan.resolve();
        else scan.reject(error);
      },
    };
    const wallet = {
      height,
      get progress() {
        return held.progress;
      },
      daemon: { address: { url: node } },
      refresh: () => {
        begun.push(name);
        return new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }));
      },
    };
    entry.opened = { wallet } as unknown as WalletEntry["opened"];
    open.push(entry);
    refresher.plan(entry, PERIOD, false);
    return held;
  };
  /** Lets so many milliseconds pass; returns the wallets whose scans have begun then. */
  const pass = async (ms: number): Promise<string[]> => {
    clock.now += ms;
    refresher.tick();
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    return begun.splice(0);
  };
  return { refresher, clock, open, lines, add, pass };
}

test("a wallet is refreshed once its period is over, and again a period after that scan has ended", async (t) => {
  const { refresher, add, pass } = scene(t);
  const { entry, finish } = add("w");
  assert.deepEqual(await pass(1000 * PERIOD - 1), []);
  assert.deepEqual(await pass(1), ["w"]);
  assert.deepEqual(await pass(3000 * PERIOD), [], "one scan at a time");
  finish();
  assert.deepEqual(await pass(0), []);
  assert.deepEqual(await pass(1000 * PERIOD - 1), []);
  assert.deepEqual(await pass(1), ["w"]);
  refresher.plan(entry, 1, false);
  finish();
  await pass(0);
  assert.deepEqual(await pass(999), []);
  assert.deepEqual(await pass(1), ["w"]);
});

test("a wallet that was just opened is refreshed after two seconds, or its period if that is less", async (t) => {
  const { refresher, clock, add } = scene(t);
  const { entry } = add("w");
  const waitOf = (period: number, isNew: boolean) => {
    refresher.plan(entry, period, isNew);
    return entry.nextRefresh - clock.now;
  };
  assert.deepEqual(
    [waitOf(PERIOD, true), waitOf(1, true), waitOf(PERIOD, false), waitOf(1, false), waitOf(0, true)],
    [2000, 1000, 20_000, 1000, 0],
  );
});

test("a wallet without a period, or that is closed meanwhile, is not refreshed", async (t) => {
  const { refresher, open, add, pass } = scene(t);
  refresher.plan(add("never").entry, 0, true);
  const { entry } = add("closed");
  assert.deepEqual(await pass(500 * PERIOD), []);
  entry.opened = undefined;
  await refresher.refresh(entry);
  assert.equal(entry.isRefreshing, false);
  open.pop();
  assert.deepEqual(await pass(1000 * PERIOD), []);
});

test("wallets at about one height that are due within half a period begin with the one that is due", async (t) => {
  const { refresher, clock, add, pass } = scene(t);
  const entries = [100, 199, 150].map((height) => add(`at ${height}`, { height }).entry);
  const [lower, higher] = [add("lower", { height: 99 }).entry, add("higher", { height: 200 }).entry];
  const elsewhere = add("elsewhere", { height: 100, node: "http://b" }).entry;
  refresher.plan(add("never", { height: 100 }).entry, 0, false);
  for (const entry of [...entries, lower, higher, elsewhere]) entry.nextRefresh = clock.now + 500 * PERIOD;
  entries[0]!.nextRefresh = clock.now;
  entries[2]!.nextRefresh = clock.now + 500 * PERIOD + 1;
  assert.deepEqual(await pass(0), ["at 100", "at 199"]);
});

test("four groups of a node are scanned at once, those that have waited longest first", async (t) => {
  const { clock, add, pass } = scene(t);
  const wallets = ["a", "b", "c", "d", "e", "f"].map((name, i) => add(name, { height: 100 * i }));
  for (const [i, { entry }] of wallets.entries()) entry.nextRefresh = clock.now - i;
  const elsewhere = add("elsewhere", { node: "http://b" });
  elsewhere.entry.nextRefresh = clock.now - 100;
  assert.deepEqual((await pass(0)).sort(), ["c", "d", "e", "elsewhere", "f"]);
  // One more of a group that is scanned already begins with it.
  add("late", { height: 299 }).entry.nextRefresh = clock.now;
  assert.deepEqual(await pass(0), ["late"]);
  wallets[5]!.finish();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  assert.deepEqual(await pass(0), ["b"]);
});

test("the next group begins as soon as one has ended, without a tick", async (t) => {
  const { clock, add, pass } = scene(t);
  const wallets = Array.from({ length: 5 }, (_, i) => add(`w${i}`, { height: 100 * i }));
  for (const [i, { entry }] of wallets.entries()) entry.nextRefresh = clock.now - 5 + i;
  assert.deepEqual((await pass(0)).sort(), ["w0", "w1", "w2", "w3"]);
  assert.deepEqual(await pass(0), []);
  wallets[0]!.finish();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  assert.equal(wallets[4]!.entry.isRefreshing, true);
});

test("all wallets of a group that are due begin, also of the last group that has room", async (t) => {
  const { clock, add, pass } = scene(t);
  for (let i = 0; i < 8; i++) add(`w${i}`, { height: 100 * Math.floor(i / 2) }).entry.nextRefresh = clock.now;
  assert.equal((await pass(0)).length, 8);
});

test("a wallet that a caller refreshes while many begin is not begun once more", async (t) => {
  const { refresher, clock, open, add, pass } = scene(t);
  for (let i = 0; i < 300; i++) add(`w${i}`).entry.nextRefresh = clock.now;
  const first = open[0]!.opened!.wallet;
  const { refresh } = first;
  first.refresh = (...from) => {
    void refresher.refresh(open[299]!);
    return refresh(...from);
  };
  assert.equal((await pass(0)).length, 300);
});

test("a scan of three seconds or more keeps no others from beginning, up to a hundred groups", async (t) => {
  const { clock, add, pass } = scene(t);
  const due = (name: string, height: number, node: string) => {
    add(name, { height, node }).entry.nextRefresh = clock.now;
  };
  for (let i = 0; i < 4; i++) due(`w${i}`, 100 * i, "http://a");
  assert.equal((await pass(0)).length, 4);
  due("next", 500, "http://a");
  assert.deepEqual(await pass(2999), []);
  assert.deepEqual(await pass(1), ["next"]);
  // At other nodes, of which each has one.
  for (let i = 0; i < 100; i++) due(`n${i}`, 1, `http://node${i}`);
  assert.equal((await pass(0)).length, 95);
});

test("news during a scan begin another one at once, and only one", async (t) => {
  const { add, pass } = scene(t);
  const { entry, finish } = add("w");
  await pass(1000 * PERIOD);
  entry.hasNews = true;
  finish();
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  assert.deepEqual([entry.isRefreshing, entry.hasNews], [true, false]);
  finish();
  assert.deepEqual(await pass(0), ["w"], "the one that the news have begun");
  assert.deepEqual(await pass(0), []);
  assert.equal(entry.isRefreshing, false);
});

test("of scans that fail those are logged which somebody should see to", async (t) => {
  const { add, pass, lines } = scene(t);
  const { finish } = add("w");
  const bug = new TypeError("a bug");
  const errors = [
    bug,
    new WalletRefusal("UNKNOWN_ERROR", "the disk is full"),
    new WalletRefusal("NO_DAEMON_CONNECTION", "no connection to daemon"),
  ];
  for (const error of errors) {
    assert.deepEqual(await pass(1000 * PERIOD), ["w"], "each is tried again after a period");
    finish(error);
    await pass(0);
  }
  assert.deepEqual(lines, [
    ["error", "refresh failed", { error: bug }],
    ["warn", "refresh refused", { reason: "the disk is full" }],
    ["debug", "refresh refused", { code: errors[2] instanceof WalletRefusal ? errors[2].code : 0 }],
  ]);
});

test("the progress of wallets that scan is logged every ten seconds", async (t) => {
  const { add, pass, lines } = scene(t);
  const [a, b] = [add("a"), add("b")];
  await pass(0);
  b.progress = { height: 7 };
  await pass(0);
  await pass(9999);
  a.progress = { height: 8 };
  await pass(1);
  await pass(0);
  assert.deepEqual(lines, [
    ["info", "scanning", { height: 7, file: "b" }],
    ["info", "scanning", { height: 8, file: "a" }],
    ["info", "scanning", { height: 7, file: "b" }],
  ]);
});

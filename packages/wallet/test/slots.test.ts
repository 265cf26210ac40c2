/** The path without name, where one wallet is open at a time, and those of wallets by their names. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { NewWallet } from "../src/keys/wallet-keys.ts";
import { NamedSlot, UnnamedSlot } from "../src/many/slots.ts";
import { createHeldWallets, heldWallet, pathsOf } from "./held-wallets.ts";

const made = { password: "" } as NewWallet;
const world = (...options: Parameters<typeof createHeldWallets>) => {
  const held = createHeldWallets(...options);
  return {
    ...held,
    unnamed: new UnnamedSlot(held.parts),
    slotOf: (name: string) => new NamedSlot(held.parts, name),
  };
};

test("another wallet on the path without name closes the one before", async () => {
  const { unnamed, take, plans, confirmed } = world({ refreshPeriod: 5 });
  assert.deepEqual([unnamed.opened, unnamed.openName, unnamed.whenOpen()], [undefined, undefined, false]);
  await unnamed.open("a", "p");
  const first = unnamed.opened;
  assert.deepEqual([first?.paths, unnamed.openName, unnamed.whenOpen()], [pathsOf("a"), "a", true]);
  assert.ok(confirmed.length > 0 && confirmed.every((name) => name === "a"));
  await unnamed.open("b", "q");
  assert.equal(unnamed.openName, "b");
  assert.deepEqual(take(), ["unlocked a p", "unlocked b q", "closed a"]);
  assert.deepEqual(plans, [
    ["a", 5, true],
    ["b", 5, true],
  ]);
  await unnamed.close();
  assert.deepEqual([take(), unnamed.opened], [["closed b"], undefined]);
  await assert.rejects(unnamed.close(), /No wallet file/);
});

test("a wallet that is open by its name is not opened again, only its password is checked", async () => {
  const { unnamed, slotOf, take, wallets, plans } = world();
  const named = slotOf("a");
  assert.equal(await named.whenOpen(), true);
  const { opened } = named;
  await unnamed.open("a", "p");
  assert.equal(unnamed.opened, opened);
  assert.deepEqual([take(), plans.length], [["checked a p"], 1]);
  assert.equal(wallets.at(pathsOf("a"))!.isUnnamed, true);
  named.release();
  await unnamed.close();
  assert.deepEqual([take(), wallets.openCount], [[], 1], "the other path has it still");
  await named.close();
  assert.deepEqual([take(), wallets.openCount], [["closed a"], 0]);
});

test("a wallet that is open without name alone is opened anew, under its lock", async () => {
  const { unnamed, take, wallets } = world();
  await unnamed.open("a", "p");
  const before = unnamed.opened;
  await unnamed.open("a", "p");
  assert.notEqual(unnamed.opened, before);
  assert.deepEqual(take(), ["unlocked a p", "unlocked a p", "closed a"]);
  wallets.failure = new Error("no space left");
  await assert.rejects(unnamed.open("a", "p"), /no space left/);
  assert.deepEqual(take(), ["unlocked a p", "closed a", "released a"]);
});

test("a wallet stays open when the next can't be opened, unless it holds the files of that", async () => {
  for (const holdsNext of [false, true]) {
    const { unnamed, take, wallets } = world();
    await unnamed.open("a", "p");
    if (holdsNext) unnamed.opened!.background.beside = { paths: pathsOf("b") } as never;
    wallets.failure = new Error("no space left");
    await assert.rejects(unnamed.open("b", "p"), /no space left/);
    const done = ["unlocked a p", "unlocked b p"];
    assert.deepEqual(
      [unnamed.openName, take()],
      holdsNext ? [undefined, [...done, "closed a"]] : ["a", done],
    );
  }
});

test("whether the open wallet may be replaced is asked by its name, before anything is done", async () => {
  const { unnamed, take } = world();
  const refuse = (name: string) => {
    throw new Error(`not ${name}`);
  };
  await unnamed.open("a", "p", refuse);
  await assert.rejects(unnamed.open("b", "p", refuse), /not a/);
  await assert.rejects(unnamed.close(refuse), /not a/);
  await assert.rejects(
    unnamed.makingInTurn(async () => 1, refuse),
    /not a/,
  );
  assert.equal(await unnamed.makingInTurn(async () => 1), 1);
  assert.deepEqual(take(), ["unlocked a p"]);
});

test("a wallet without a name is kept in memory, and has no file to be asked about", async () => {
  const { unnamed, take, confirmed } = world();
  assert.equal(unnamed.pathsOf(""), undefined);
  assert.deepEqual(unnamed.pathsOf("a"), pathsOf("a"));
  const opened = await unnamed.create(undefined, made);
  assert.deepEqual([unnamed.opened, unnamed.openName, confirmed], [opened, "", []]);
  await unnamed.create(pathsOf("b"), made);
  assert.deepEqual([unnamed.openName, take()], ["b", ["closed "]]);
});

test("the first wallet of the service is opened in turn, and refreshed as the options say", async () => {
  const { unnamed, plans, wallets } = world();
  const first = heldWallet(pathsOf("a"));
  const opening = unnamed.openFirst(async () => first);
  const next = unnamed.open("b", "p");
  await Promise.all([opening, next]);
  assert.deepEqual([first.isClosed, unnamed.openName, wallets.openCount], [true, "b", 1]);
  const usual = 20;
  assert.deepEqual(plans, [
    ["a", usual, true],
    ["b", usual, true],
  ]);
});

test("a period that was set counts for the wallets that are opened after it, until the usual is back", async () => {
  const { unnamed, plans } = world({ refreshPeriod: 5 });
  unnamed.setRefreshPeriod(7);
  await unnamed.open("a", "p");
  unnamed.setRefreshPeriod(undefined);
  unnamed.setRefreshPeriod(0);
  assert.deepEqual(plans, [
    ["a", 7, true],
    ["a", 5, false],
    ["a", 0, false],
  ]);
});

test("a restricted service waits for the first refresh, unless there is none", async () => {
  for (const refreshPeriod of [5, 0]) {
    const { unnamed, take } = world({ restricted: true, refreshPeriod });
    await unnamed.open("a", "p");
    assert.deepEqual(take(), ["unlocked a p", ...(refreshPeriod === 0 ? [] : ["refreshed a"])]);
  }
  const { unnamed, take } = world({ refreshPeriod: 5 });
  await unnamed.open("a", "p");
  assert.deepEqual(take(), ["unlocked a p"]);
});

test("a task for a wallet that was replaced meanwhile is refused", async () => {
  const { unnamed, slotOf } = world();
  await unnamed.open("a", "p");
  const opened = unnamed.opened!;
  assert.equal(await unnamed.inTurn(opened, async () => 3), 3);
  const slot = slotOf("a");
  assert.equal(await slot.inTurn(opened, async () => 4), 4);
  const late = unnamed.inTurn(opened, async () => 5);
  await Promise.all([assert.doesNotReject(late), unnamed.open("b", "p")]);
  await assert.rejects(
    unnamed.inTurn(opened, async () => 6),
    /No wallet file/,
  );
  await assert.rejects(
    slot.inTurn(opened, async () => 7),
    /No wallet file/,
  );
  await unnamed.close();
  await assert.rejects(
    unnamed.inTurn(opened, async () => 8),
    /No wallet file/,
  );
  await assert.rejects(unnamed.replace(undefined), /No wallet file/);
});

test("the wallet of a path may be replaced, and is refreshed as before, or not at all", async () => {
  for (const kind of ["unnamed", "named"] as const) {
    const { unnamed, slotOf, wallets, take, plans } = world({ refreshPeriod: 5 });
    const slot = kind === "named" ? slotOf("a") : unnamed;
    if (kind === "named") await slot.whenOpen();
    else await unnamed.open("a", "p");
    const entry = wallets.at(pathsOf("a"))!;
    entry.refreshPeriod = 8;
    take();
    const next = heldWallet(pathsOf("a"), wallets.calls);
    await slot.replace(next);
    assert.deepEqual([slot.opened, take(), plans.at(-1)], [next, ["closed a"], ["a", 8, true]]);
    assert.equal(entry.named, kind === "named" ? "pinned" : "none", "closing would lose what was set");
    const { length } = plans;
    await slot.replace(undefined);
    assert.deepEqual([slot.opened, take(), plans.length], [undefined, ["closed a"], length]);
  }
  const { slotOf } = world();
  await assert.rejects(slotOf("a").replace(undefined), /No wallet file/);
});

test("a wallet by its name is opened when a call needs it, and not idle during the call", async () => {
  const { slotOf, wallets, take, plans } = world({ refreshPeriod: 5 });
  const slot = slotOf("a");
  assert.deepEqual([slot.opened, slot.openName], [undefined, undefined]);
  assert.equal(await slot.whenOpen(), true);
  const entry = wallets.at(pathsOf("a"))!;
  assert.deepEqual([slot.opened, slot.openName, entry.calls], [entry.opened, "a", 1]);
  assert.deepEqual(plans, [["a", 5, true]]);
  const second = slotOf("a");
  assert.equal(second.whenOpen(), true);
  assert.equal(entry.calls, 2);
  for (const each of [slot, slot, second]) each.release();
  assert.deepEqual([entry.calls, entry.isIdle], [0, true]);
  await second.openAhead();
  assert.deepEqual([entry.calls, plans.length], [0, 1], "it is open");
  second.setRefreshPeriod(9);
  assert.deepEqual(plans.at(-1), ["a", 9, false]);
  assert.deepEqual(take(), []);
  await slotOf("b").openAhead();
  assert.deepEqual(
    [plans.at(-1), wallets.openings],
    [
      ["b", 5, true],
      [true, false],
    ],
  );
});

test("a wallet that a caller opened by its name stays open, and needs its password again only where it was not", async () => {
  const { slotOf, wallets, take } = world({ maxOpen: 1 });
  const slot = slotOf("a");
  await slot.open("", "p");
  await slot.open("a", "q");
  assert.deepEqual(take(), ["unlocked a p", "checked a q"]);
  assert.equal(wallets.at(pathsOf("a"))!.named, "pinned");
  await assert.rejects(slot.open("b", "p"), /this path is for the wallet it names/);
  await assert.rejects(slotOf("b").open("", "p"), /which is the most/);
  await slot.close();
  assert.deepEqual(take(), ["closed a"]);
  await assert.rejects(slot.close(), /No wallet file/);
  const created = await slotOf("c").create(undefined, made);
  assert.deepEqual(created.paths, pathsOf("c"));
});

test("a wallet that a caller opens while a call waits for it is begun once, and stays open", async () => {
  const { slotOf, wallets, plans } = world();
  await Promise.all([slotOf("a").open("", "p"), slotOf("a").whenOpen(), slotOf("a").openAhead()]);
  assert.equal(wallets.at(pathsOf("a"))!.named, "pinned");
  assert.equal(plans.length, 1);
});

/** What the processes of a fleet know of wallets that callers have opened; `told`: each change. */
function keptOpen(...names: string[]) {
  const kept = new Set(names);
  const told: string[] = [];
  return {
    told,
    isKeptOpen: (name: string) => kept.has(name),
    async setKeptOpen(name: string, isKeptOpen: boolean) {
      told.push(`${name} ${isKeptOpen}`);
      kept[isKeptOpen ? "add" : "delete"](name);
    },
  };
}

test("a wallet without a password that a caller opened may move to another process, and stays open there", async () => {
  const fleet = keptOpen("kept");
  const { slotOf, wallets, clock, take } = world({ idleSeconds: 1 }, fleet);
  const call = async (name: string, task: (slot: NamedSlot) => Promise<unknown>) => {
    const slot = slotOf(name);
    await task(slot);
    assert.equal(wallets.at(pathsOf(name))?.mayMove, false, "the call may go on with it");
    slot.release();
  };
  await call("made", (slot) => slot.create(undefined, made));
  for (let i = 0; i < 2; i++) await call("opened", (slot) => slot.open("", ""));
  await call("locked", (slot) => slot.open("", "p"));
  for (const name of ["kept", "called"]) await call(name, (slot) => slot.openAhead());
  const namedOf = (name: string) => wallets.at(pathsOf(name))?.named;
  const names = ["made", "opened", "locked", "kept", "called"];
  assert.deepEqual(names.map(namedOf), ["opened", "opened", "pinned", "opened", "demand"]);
  assert.deepEqual(fleet.told, ["made true", "opened true"]);
  take();
  clock.now += 1000;
  await wallets.closeIdle();
  assert.deepEqual(take(), ["closed called"]);
  wallets.begin(wallets.at(pathsOf("made"))!);
  const told: string[] = [];
  await wallets.closeUnused(9, (name) => told.push(name));
  assert.deepEqual(told.sort(), ["kept", "opened"]);
  assert.equal(fleet.isKeptOpen("opened"), true, "whoever has it next keeps it open");
  assert.deepEqual([namedOf("made"), namedOf("locked"), namedOf("kept")], ["opened", "pinned", undefined]);
});

test("what a caller has set keeps a wallet here, also where it is opened once more without a password", async () => {
  const { slotOf, wallets } = world({}, keptOpen());
  for (const how of ["called", "opened"]) {
    const slot = slotOf("a");
    await (how === "called" ? slot.openAhead() : slot.open("", ""));
    slot.keepOpen();
    await slot.open("", "");
    slot.release();
    assert.deepEqual([wallets.at(pathsOf("a"))!.named, wallets.at(pathsOf("a"))!.mayMove], ["pinned", false]);
    await slot.close();
  }
});

test("no process keeps a wallet open that a caller has closed by its name, though the path without name has it", async () => {
  const fleet = keptOpen();
  const { slotOf, unnamed, wallets } = world({}, fleet);
  const slot = slotOf("a");
  await slot.open("", "");
  slot.release();
  await unnamed.open("a", "");
  assert.equal(wallets.at(pathsOf("a"))!.mayMove, false);
  // It stays here from now on, and its lease says as before that a caller has opened it.
  slot.keepOpen();
  await slotOf("a").close();
  assert.deepEqual(fleet.told, ["a true", "a false"]);
  assert.equal(unnamed.openName, "a");
  await unnamed.close();
  await slotOf("a").openAhead();
  await slotOf("a").close();
  assert.deepEqual(fleet.told, ["a true", "a false"], "only what callers have opened is said");
});

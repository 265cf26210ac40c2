/** Which wallets of a service stay open, and which are closed for others, for idleness, or because they were lost. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { WalletEntry } from "../src/many/wallet-entry.ts";
import { createHeldWallets, heldWallet, pathsOf } from "./held-wallets.ts";

type World = ReturnType<typeof createHeldWallets>;

/** Opens wallets because calls need them; each was last used one millisecond after the one before. */
async function openOnDemand({ wallets, clock }: World, names: readonly string[]) {
  for (const name of names)
    await wallets.within(pathsOf(name), async (entry) => {
      wallets.begin(entry);
      await wallets.openOnDemand(entry, { isCalled: true });
      clock.now += 1;
      wallets.end(entry);
    });
}

const namesOf = ({ wallets }: World) => wallets.open.map(({ paths }) => paths?.base.split("/").at(-1));

test("a wallet that nobody uses any more is closed once it was idle for long enough", async () => {
  const world = createHeldWallets({ idleSeconds: 10 });
  const { wallets, clock, take } = world;
  await openOnDemand(world, ["a", "b", "c", "d"]);
  const entry = (name: string) => wallets.at(pathsOf(name))!;
  wallets.begin(entry("b"));
  entry("c").named = "opened";
  const begin = clock.now;
  clock.now = entry("a").lastUsed + 9_999;
  await wallets.closeIdle();
  assert.deepEqual(take(), []);
  clock.now = begin + 60_000;
  entry("d").isRefreshing = true;
  await wallets.closeIdle();
  assert.deepEqual([take(), namesOf(world)], [["closed a"], ["b", "c", "d"]]);
  assert.equal(wallets.at(pathsOf("a")), undefined);
  entry("d").isRefreshing = false;
  await wallets.closeIdle();
  assert.deepEqual(take(), ["closed d"]);
  wallets.end(entry("b"));
  await wallets.closeIdle();
  assert.deepEqual(take(), [], "it has just been used");
  clock.now += 10_000;
  await wallets.closeIdle();
  assert.deepEqual([take(), namesOf(world)], [["closed b"], ["c"]]);
});

test("wallets are idle for ten minutes, unless the options say otherwise", async () => {
  const world = createHeldWallets();
  const { wallets, clock, take } = world;
  await openOnDemand(world, ["a"]);
  clock.now += 599_999;
  await wallets.closeIdle();
  assert.deepEqual(take(), []);
  clock.now += 1;
  await wallets.closeIdle();
  assert.deepEqual(take(), ["closed a"]);
});

test("where no more may be open, the one that was not used for longest makes room", async () => {
  const world = createHeldWallets({ maxOpen: 3 });
  const { wallets, take } = world;
  await openOnDemand(world, ["a", "b", "c"]);
  assert.deepEqual(take(), []);
  await openOnDemand(world, ["a"]);
  await openOnDemand(world, ["d"]);
  assert.deepEqual([take(), namesOf(world)], [["closed b"], ["a", "c", "d"]]);
  for (const { named, paths } of wallets.open) assert.equal(named, "demand", paths?.base);
  for (const entry of wallets.open) entry.named = "opened";
  await assert.rejects(openOnDemand(world, ["e"]), /3 wallets are open, which is the most/);
  assert.deepEqual(namesOf(world), ["a", "c", "d"]);
});

test("as many idle wallets as asked for are closed, the least used first, each told before", async () => {
  const world = createHeldWallets();
  const { wallets, take } = world;
  await openOnDemand(world, ["a", "b", "c", "d"]);
  await openOnDemand(world, ["a"]);
  wallets.at(pathsOf("b"))!.isRefreshing = true;
  const told: string[] = [];
  await wallets.closeUnused(2, (name) => told.push(name));
  assert.deepEqual(
    [told, take()],
    [
      ["c", "d"],
      ["closed c", "closed d"],
    ],
  );
  await wallets.closeUnused(0, (name) => told.push(name));
  assert.deepEqual(namesOf(world), ["a", "b"]);
});

test("idle wallets whose events the log could not take are closed, each told before", async () => {
  const world = createHeldWallets();
  const { wallets, take } = world;
  await openOnDemand(world, ["a", "b", "c", "d"]);
  const held = (name: string) => wallets.at(pathsOf(name))!;
  for (const name of ["b", "c", "d"]) (held(name).opened as ReturnType<typeof heldWallet>).untold = true;
  wallets.begin(held("c"));
  held("d").isRefreshing = true;
  const told: string[] = [];
  await wallets.closeUntold((name) => told.push(name));
  assert.deepEqual([told, take()], [["b"], ["closed b"]]);
});

test("wallets that another process may have are closed, whoever uses them, and those in memory are kept", async () => {
  const world = createHeldWallets();
  const { wallets, take } = world;
  await openOnDemand(world, ["a", "b"]);
  wallets.begin(wallets.at(pathsOf("a"))!);
  wallets.at(pathsOf("b"))!.isUnnamed = true;
  const inMemory = new WalletEntry();
  await wallets.inTurn(inMemory, () => wallets.put(inMemory, heldWallet(undefined)));
  const given = "This process has given up the wallet: ask again";
  await wallets.closeLost();
  assert.deepEqual(take().sort(), [
    "closed a",
    "closed b",
    `ended scans a: ${given}`,
    `ended scans b: ${given}`,
    "left the node a",
    "left the node b",
  ]);
  assert.deepEqual(wallets.open, [inMemory]);
  assert.equal(wallets.openCount, 1);
});

test("a task during which nothing changes has every wallet written first", async () => {
  const world = createHeldWallets();
  await openOnDemand(world, ["a", "b"]);
  const result = await world.wallets.whileUnchanged(async () => {
    world.wallets.calls.push("task");
    return 7;
  });
  assert.equal(result, 7);
  const done = ["held a", "flushed a", "held b", "flushed b", "task", "freed b", "freed a"];
  assert.deepEqual(world.take(), done);
});

test("once all are closed, none is opened any more", async () => {
  const world = createHeldWallets();
  const { wallets, take } = world;
  await openOnDemand(world, ["a", "b"]);
  wallets.at(pathsOf("a"))!.isUnnamed = true;
  await wallets.closeAll();
  assert.deepEqual([take(), wallets.openCount], [["closed a", "closed b"], 0]);
  const late = heldWallet(pathsOf("c"), wallets.calls);
  await assert.rejects(
    wallets.within(pathsOf("c"), (entry) => wallets.put(entry, late)),
    /No wallet file/,
  );
  assert.deepEqual([take(), wallets.openCount], [["closed c"], 0]);
});

test("a wallet that two paths have open is closed once both have left it", async () => {
  for (const first of ["unnamed", "named"] as const) {
    const world = createHeldWallets();
    const { wallets, take } = world;
    await openOnDemand(world, ["a"]);
    const entry = wallets.at(pathsOf("a"))!;
    entry.isUnnamed = true;
    await wallets.leave(entry, first);
    assert.deepEqual([take(), entry.isHeld], [[], true]);
    await wallets.leave(entry, first === "named" ? "unnamed" : "named");
    assert.deepEqual([take(), entry.isHeld, wallets.openCount], [["closed a"], false, 0]);
  }
});

test("a wallet in the place of another closes that, and the same files are the same wallet", async () => {
  const world = createHeldWallets();
  const { wallets, take } = world;
  await openOnDemand(world, ["a"]);
  await wallets.within(pathsOf("a"), (entry) => wallets.put(entry, heldWallet(pathsOf("a"), wallets.calls)));
  assert.deepEqual([take(), wallets.openCount], [["closed a"], 1]);
  const [one, two] = await Promise.all([
    wallets.within(pathsOf("b"), async (entry) => entry),
    wallets.within(pathsOf("b"), async (entry) => entry),
  ]);
  assert.equal(one, two);
  assert.equal(wallets.at(pathsOf("b")), undefined, "nobody opened it");
  assert.equal(wallets.openCount, 1);
});

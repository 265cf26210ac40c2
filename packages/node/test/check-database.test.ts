import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { popBlocks } from "../src/chain/chain.ts";
import { checkDatabase } from "../src/chain/check-database.ts";
import { createPruner } from "../src/chain/pruning.ts";
import { emptyChain, loadBlocks } from "./chain-fixture.ts";
import { goldenState, recordedChain } from "./recorded-chains.ts";

test("a database of recorded blocks is in order, after blocks were taken off too", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-check-"));
  const path = join(folder, "chain.mdb");
  const blocks = recordedChain().slice(0, 232);
  const { parts, close } = await emptyChain(path);
  await loadBlocks(parts, blocks);
  await popBlocks(parts, 10);
  await close();
  const found = await checkDatabase({ path, network: "regtest" });
  const kept = blocks.slice(0, -10);
  assert.equal(found.blocks, kept.length + 1);
  assert.equal(found.transactions, found.blocks + kept.flatMap(({ transactions }) => transactions).length);
  assert.ok(found.outputs > found.transactions && found.keyImages > 0);
  let now = 5000;
  let step = 0;
  t.mock.method(performance, "now", () => (now += step));
  const progressWith = async (stepMs: number) => {
    step = stepMs;
    const told: { readonly blocks: number; readonly of: number }[] = [];
    await checkDatabase({ path, network: "regtest", onProgress: (progress) => void told.push(progress) });
    return told;
  };
  assert.deepEqual(await progressWith(0), [], "within a second nothing is told");
  const told = await progressWith(600);
  assert.ok(told.length > 1 && told.every(({ blocks, of }) => blocks <= of && of === found.blocks));
  assert.ok(told.every(({ blocks }, i) => i === 0 || blocks > told[i - 1]!.blocks));
  t.mock.reset();
  await assert.rejects(checkDatabase({ path, network: "mainnet" }), /belongs to regtest/);
  rmSync(folder, { recursive: true, force: true });
});

test("pruning a short chain marks it and leaves it whole", async () => {
  const { parts, close } = await emptyChain();
  await loadBlocks(parts, goldenState().blocks.slice(0, 3));
  const pruner = createPruner(parts.store);
  assert.ok(await pruner.check());
  assert.equal(parts.store.read.pruningSeed(), 0);
  await pruner.prune();
  const seed = parts.store.read.pruningSeed();
  assert.ok(seed >= 0x180 && seed <= 0x187);
  await pruner.prune();
  assert.equal(parts.store.read.pruningSeed(), seed);
  assert.ok(await pruner.check());
  await pruner.stop();
  await close();
});

test("a database that lacks a transaction of its last block fails its check", async () => {
  const { parts, close } = await emptyChain();
  await loadBlocks(parts, goldenState().blocks.slice(0, 3));
  const { read } = parts.store;
  const last = read.height() - 1;
  const lost = read.blockInfo(last)!.firstTransactionId;
  const lacking = Object.assign(Object.create(read) as typeof read, {
    transactionById: (id: number) => (id === lost ? undefined : read.transactionById(id)),
  });
  const pruner = createPruner({ ...parts.store, read: lacking });
  assert.equal(await pruner.check(), false);
  await pruner.stop();
  await close();
});

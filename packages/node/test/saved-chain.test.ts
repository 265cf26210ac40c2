import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import type { ChainReader } from "@anulo/storage";
import { popBlocks } from "../src/chain/chain.ts";
import type { ChainEvent } from "../src/chain/events.ts";
import type { ChainParts } from "../src/chain/parts.ts";
import { saveChain } from "../src/chain/saved-chain.ts";
import { createSideBlocks } from "../src/chain/side-blocks.ts";
import { admit } from "../src/pool/admit.ts";
import { chainIn, emptyChain, loadBlocks, mine, now } from "./chain-fixture.ts";
import { goldenState } from "./recorded-chains.ts";

/** Everything that is stored of a chain, and what memory has of it. */
function everything({ store, pool, sideBlocks, state }: ChainParts) {
  const { read } = store;
  const ids = Array.from(read.blockInfoColumn("hash", 0, read.height()), toHex);
  const branches = read.alternativeBlocks().map(({ hash }) => sideBlocks.branchTo(toHex(hash)));
  return {
    rows: rowsOf(read),
    ids,
    pool: read.poolTransactions(),
    entries: pool.entries().map(({ key, row }) => ({ key, row })),
    totals: [pool.size, pool.totalWeight, pool.totalReceiveTime],
    images: new Set(pool.spentKeyImages().map(({ image }) => image)),
    sideBlocks: read.alternativeBlocks(),
    branches: branches.map((branch) => branch.map(({ key }) => key)),
    heaviest: sideBlocks.heaviest()?.key,
    top: toHex(state.view().topId),
    timestamps: state.view().recentTimestamps(60),
    generated: state.view().alreadyGenerated,
  };
}

function rowsOf(read: ChainReader) {
  return Array.from({ length: read.height() }, (_, height) => {
    const info = read.blockInfo(height)!;
    const transactions = Array.from({ length: info.transactionCount }, (_, i) => {
      const id = info.firstTransactionId + i;
      const indices = read.outputIndices(id)!;
      const outputs = indices.map((index) => read.output(0n, index));
      const bytes = [read.prunedTransaction(id), read.prunablePart(id)];
      return { ...read.transactionById(id), indices, outputs, bytes };
    });
    return { info, blob: read.blockBlob(height), transactions };
  });
}

test("a saved chain is restored row by row, whatever happened since, as often as wanted", async () => {
  const { blocks, pool } = goldenState();
  const events: ChainEvent[] = [];
  const chain = await emptyChain();
  chain.events.listen((event) => void events.push(event));
  const { parts } = chain;
  await loadBlocks(parts, blocks);
  const main = Array.from(parts.store.read.blockInfoColumn("hash", 0, parts.store.read.height()));
  await mine(parts, 2, main.at(-3));
  const [blob, ...others] = pool;
  await admit(parts, { blob: blob!, doNotRelay: false });
  const before = everything(parts);
  assert.ok(before.pool.length > 0 && before.sideBlocks.length > 0);
  const saved = await saveChain(parts);
  const said: unknown[] = [];
  for (const change of [
    () => mine(parts, 5),
    () => popBlocks(parts, 40),
    async () => {
      await mine(parts, 1);
      await mine(parts, 3, main.at(-1));
    },
    async () => {
      for (const other of others) await admit(parts, { blob: other, doNotRelay: false });
      await mine(parts, 1);
      await popBlocks(parts, 1);
    },
    () => mine(parts, 1),
    () => popBlocks(parts, 1),
    async () => undefined,
  ]) {
    await change();
    events.length = 0;
    await saved.restore();
    said.push(events.filter(({ type }) => type === "reorganised" || type === "blocksPopped"));
    assert.deepEqual(everything(parts), before);
    const loaded = createSideBlocks(parts.store.read);
    assert.deepEqual([loaded.count, loaded.size], [parts.sideBlocks.count, parts.sideBlocks.size]);
  }
  // What is removed starts above the last common block, which `forkHeight` is.
  const top = main.length - 1;
  assert.deepEqual(said, [
    [{ type: "blocksPopped", height: top + 1, removed: 5 }],
    [{ type: "reorganised", forkHeight: top - 40, removed: 0, added: 40 }],
    [{ type: "blocksPopped", height: top + 1, removed: 3 }],
    [],
    [{ type: "blocksPopped", height: top + 1, removed: 1 }],
    [{ type: "reorganised", forkHeight: top - 1, removed: 0, added: 1 }],
    [],
  ]);
  await mine(parts, 3);
  saved.close();
  assert.equal(parts.store.read.height(), main.length + 3);
  await chain.close();
});

test("what was in the pool all along is no news of it after a saved chain was restored", async () => {
  const { blocks, pool } = goldenState();
  let time = now();
  const chain = await chainIn(undefined, { now: () => time });
  const { parts } = chain;
  await loadBlocks(parts, blocks);
  const [first, second] = pool;
  const keys = () => parts.pool.entries().map(({ key }) => key);
  await admit(parts, { blob: first!, doNotRelay: false });
  const before = keys();
  const saved = await saveChain(parts);
  await admit(parts, { blob: second!, doNotRelay: false });
  const other = keys().filter((key) => !before.includes(key));
  assert.equal(other.length, 1);
  const newsAfter = async () => {
    time += 10;
    await saved.restore();
    const news = parts.pool.history.since(BigInt(time))!;
    return [news.added, news.removed.map(({ id }) => toHex(id))];
  };
  assert.deepEqual(await newsAfter(), [[], other]);
  assert.deepEqual(await newsAfter(), [[], []]);
  assert.deepEqual(keys(), before);
  saved.close();
  await chain.close();
});

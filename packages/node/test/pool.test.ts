import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteBudget } from "@anulo/limits";
import { concatBytes, toHex } from "@anulo/protocol";
import type { ChainParts } from "../src/chain/parts.ts";
import type { PeerLink } from "../src/peers/link.ts";
import { createServer } from "../src/peers/serve.ts";
import type { PoolEntry } from "../src/pool/entry.ts";
import { dropFromPool } from "../src/pool/maintain.ts";
import { transact } from "../src/pool/parts.ts";
import { createPool } from "../src/pool/pool.ts";
import { emptyChain } from "./chain-fixture.ts";
import { bytesOf, putWaiting, waiting } from "./waiting-rows.ts";

function fill(parts: ChainParts, count: number): void {
  putWaiting(parts, new Map(Array.from({ length: count }, (_, i) => [i, {}])));
}

function picture({ pool }: ChainParts) {
  const { size, totalWeight } = pool;
  const images = pool.spentKeyImages().sort((a, b) => (a.image < b.image ? -1 : 1));
  return { size, totalWeight, images, entries: pool.entries(), byFeeRate: pool.byFeeRate() };
}

test("a change that is rolled back leaves the pool as it was, and no row is read again", async () => {
  const chain = await emptyChain();
  let reads = 0;
  const { read } = chain.parts.store;
  const counted = {
    ...read,
    poolTransactions() {
      reads++;
      return read.poolTransactions();
    },
  };
  const pool = createPool(counted, { now: chain.parts.now });
  const parts = { ...chain.parts, pool };
  fill(parts, 50);
  const before = picture(parts);
  const change = () =>
    transact(parts, (writer) => {
      pool.remove(writer, toHex(bytesOf(3)));
      pool.update(writer, toHex(bytesOf(4)), { receiveTime: 1_000_000, doubleSpendSeen: true });
      assert.throws(() =>
        transact(parts, (inner) => {
          pool.remove(inner, toHex(bytesOf(4)));
          throw new Error("the inner one fails");
        }),
      );
      assert.equal(pool.get(toHex(bytesOf(4)))?.row.doubleSpendSeen, true);
      pool.add(writer, bytesOf(77), waiting(77));
      throw new Error("the outer one fails");
    });
  assert.throws(change, /outer/);
  assert.deepEqual(picture(parts), before);
  assert.equal(read.poolTransactions().length, 50);
  assert.equal(reads, 1);
  await chain.close();
});

test("the pool in order is what a fresh look at its rows gives", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  fill(parts, 700);
  transact(parts, (writer) => {
    for (let i = 0; i < 700; i += 3) parts.pool.update(writer, toHex(bytesOf(i)), { receiveTime: 5000 - i });
  });
  const fresh = createPool(parts.store.read, { now: parts.now });
  const told = (entries: Iterable<PoolEntry>) =>
    Array.from(entries, ({ key, row }) => [key, row.receiveTime]);
  assert.deepEqual(told(parts.pool.byFeeRate()), told(fresh.byFeeRate()));
  assert.deepEqual(told(parts.pool.cheapestFirst()).reverse(), told(fresh.byFeeRate()));
  assert.deepEqual(told(parts.pool.entries()), told(fresh.entries()));
  await chain.close();
});

test("a peer that lacks many transactions is sent more only as it takes them", async () => {
  const chain = await emptyChain();
  fill(chain.parts, 4000);
  let queuedBytes = 0;
  const readers: (() => void)[] = [];
  let messages = 0;
  let sent = 0;
  const notify = (_: unknown, { txs }: { readonly txs: readonly Uint8Array[] }) => {
    sent += txs.length;
    messages++;
    for (const blob of txs) queuedBytes += blob.length;
    // Whoever has two messages waiting takes both, later.
    if (messages % 2 === 0)
      setImmediate(() => {
        queuedBytes = 0;
        for (const resolve of readers.splice(0)) resolve();
      });
    assert.ok(queuedBytes < 5_000_000, `${queuedBytes} bytes queued`);
    return true;
  };
  const peer = {
    notify,
    isOpen: true,
    slicing: {},
    reserve: (bytes: number) => new ByteBudget(1_000_000).reserve(bytes),
    unread: (maxBytes: number) =>
      queuedBytes <= maxBytes ? undefined : new Promise<void>((resolve) => readers.push(resolve)),
  };
  const link = { state: "normal", peer } as unknown as PeerLink;
  await createServer(chain.parts, () => 0).complement(link, {
    // An id of no transaction of ours, and one that comes twice.
    hashes: concatBytes(bytesOf(5), bytesOf(9), bytesOf(4_000_000), bytesOf(5)),
  });
  assert.equal(sent, 3998);
  assert.ok(messages >= 3);
  await chain.close();
});

test("many transactions are dropped in turns", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  fill(parts, 1000);
  let turns = 0;
  const count = () => {
    turns++;
    if (parts.pool.size > 0) setImmediate(count);
  };
  setImmediate(count);
  const keys = parts.pool.entries().map(({ key }) => key);
  await dropFromPool(parts, keys);
  assert.equal(parts.pool.size, 0);
  assert.equal(parts.store.read.poolTransactions().length, 0);
  assert.ok(turns >= 8, `${turns} turns`);
  await chain.close();
});

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { type Checkpoint, RuleViolation } from "@anulo/consensus";
import { SLICE_MS } from "@anulo/limits";
import { toHex } from "@anulo/protocol";
import { acceptBlock, popBlocks } from "../src/chain/chain.ts";
import type { ChainEvent } from "../src/chain/events.ts";
import { createBlockImporter } from "../src/chain/import-blocks.ts";
import { readIncomingBlock } from "../src/chain/incoming-block.ts";
import type { ChainParts } from "../src/chain/parts.ts";
import { admit } from "../src/pool/admit.ts";
import { dropStale } from "../src/pool/maintain.ts";
import { transact } from "../src/pool/parts.ts";
import { followFork } from "../src/pool/revalidate.ts";
import { emptyChain, emptyChainWithFork, loadBlocks, mine } from "./chain-fixture.ts";
import { goldenState } from "./recorded-chains.ts";

test("the golden chain loads, its side blocks stay beside it and its pool is taken", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const state = goldenState();
  await loadBlocks(parts, state.blocks);
  for (const [i, { hash }] of state.blocks.entries()) {
    assert.equal(toHex(parts.store.read.blockInfo(i + 1)!.hash), hash);
  }
  assert.equal(toHex(parts.state.view().topId), state.top);
  assert.equal(parts.pool.size, 0);
  for (const blob of state.alternatives) {
    assert.equal(await acceptBlock(parts, readIncomingBlock(blob)), "alternative");
  }
  for (const blob of state.pool) assert.equal(await admit(parts, { blob, doNotRelay: false }), "added");
  assert.equal(await admit(parts, { blob: state.pool[0]!, doNotRelay: false }), "known");
  assert.equal(parts.pool.size, 2);
  const known = readIncomingBlock(state.blocks[3]!.blob);
  assert.equal(await acceptBlock(parts, known), "known");
  await chain.close();
});

test("popping blocks returns their transactions to the pool, and they are mined again", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const { blocks } = goldenState();
  await loadBlocks(parts, blocks);
  const payments = blocks.reduce((sum, { transactions }) => sum + transactions.length, 0);
  const oldest = blocks.findIndex(({ transactions }) => transactions.length > 0);
  const events: ChainEvent[] = [];
  chain.events.listen((event) => events.push(event));
  await popBlocks(parts, blocks.length - oldest);
  assert.equal(parts.store.read.height(), oldest + 1);
  assert.equal(parts.pool.size, payments);
  assert.ok(parts.pool.entries().every(({ row }) => row.keptByBlock && row.relayed));
  assert.equal(events.at(-1)?.type, "blocksPopped");
  await loadBlocks(parts, blocks.slice(oldest));
  assert.equal(parts.pool.size, 0);
  assert.equal(toHex(parts.state.view().topId), goldenState().top);
  await chain.close();
});

test("a block whose last byte, the number of its transactions, was cut off is kept with it whole", async () => {
  const { blocks } = goldenState();
  const { blob } = blocks.find(({ transactions }) => transactions.length === 0)!;
  const incoming = readIncomingBlock(Uint8Array.of(...blob.subarray(0, -1), 0x80));
  assert.deepEqual(incoming.blob, new Uint8Array(blob));
  assert.deepEqual(incoming.id, readIncomingBlock(blob).id);
});

test("popping never takes the genesis block", async () => {
  const chain = await emptyChain();
  await mine(chain.parts, 23);
  const events: ChainEvent[] = [];
  chain.events.listen((event) => void events.push(event));
  await popBlocks(chain.parts, 1000);
  assert.equal(chain.parts.store.read.height(), 1);
  const popped = [
    { type: "blocksPopped", height: 4, removed: 20 },
    { type: "blocksPopped", height: 1, removed: 3 },
  ];
  assert.deepEqual(events, popped);
  await popBlocks(chain.parts, 1);
  assert.equal(chain.parts.store.read.height(), 1);
  assert.deepEqual(events, popped, "nothing has happened since");
  await chain.close();
});

test("generated blocks take what the pool holds", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const { blocks, pool } = goldenState();
  await loadBlocks(parts, blocks);
  for (const blob of pool) await admit(parts, { blob, doNotRelay: false });
  const ids = await mine(parts, 3);
  assert.equal(parts.pool.size, 0);
  assert.equal(parts.store.read.blockInfo(blocks.length + 1)?.transactionCount, 1 + pool.length);
  assert.deepEqual(
    ids.map((id) => parts.store.read.heightOf(id)),
    [108, 109, 110],
  );
  await chain.close();
});

test("a hard fork empties the pool of what it does not allow", async () => {
  const { blocks, pool } = goldenState();
  const miner = await emptyChain();
  await loadBlocks(miner.parts, blocks);
  await mine(miner.parts, 1);
  const blob = miner.parts.store.read.blockBlob(blocks.length + 1)!;
  await miner.close();
  // Rings of 16 are too large for hard fork 14: time runs backwards here.
  for (const [blocksUntilFork, left] of [
    [1, 0],
    [2, pool.length],
  ] as const) {
    const chain = await emptyChainWithFork(14, blocks.length + 1 + blocksUntilFork);
    await loadBlocks(chain.parts, blocks);
    for (const waiting of pool) await admit(chain.parts, { blob: waiting, doNotRelay: false });
    assert.equal(chain.parts.pool.size, pool.length);
    await acceptBlock(chain.parts, readIncomingBlock(blob));
    assert.equal(chain.parts.pool.size, left);
    await chain.close();
  }
});

/** What others saw, height and pool, in the turns in which a change was half done: each step takes one of its own. */
async function seenMeanwhile(
  { store, pool }: ChainParts,
  { mock }: TestContext,
  run: () => Promise<unknown>,
): Promise<string[]> {
  // However fast the machine is, a slice is over after one step: who looks after the last one alone may come too late.
  let nowMs = performance.now();
  const clock = mock.method(performance, "now", () => {
    nowMs += SLICE_MS;
    return nowMs;
  });
  const change = run();
  const seen: string[] = [];
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  change.then(over, over);
  while (!isOver) {
    try {
      store.write(() => {});
    } catch {
      seen.push(`${store.read.height()} ${pool.size}`);
    }
    await setImmediate();
  }
  clock.mock.restore();
  await change;
  return seen;
}

test("the pool is judged by a hard fork in turns, in which others see the chain and the pool from before", async (t) => {
  const { blocks, pool } = goldenState();
  const miner = await emptyChain();
  await loadBlocks(miner.parts, blocks);
  await mine(miner.parts, 1);
  const block = readIncomingBlock(miner.parts.store.read.blockBlob(blocks.length + 1)!);
  await miner.close();
  const ways = [
    (parts: ChainParts) => acceptBlock(parts, block),
    async (parts: ChainParts) =>
      (await createBlockImporter(parts).stage([{ incoming: block, txs: [], size: block.blob.length }]))
        .completion,
  ];
  const height = blocks.length + 1;
  for (const add of ways) {
    const { parts, close } = await emptyChainWithFork(14, height + 1);
    await loadBlocks(parts, blocks);
    for (const blob of pool) await admit(parts, { blob, doNotRelay: false });
    const before = `${height} ${pool.length}`;
    const seen = await seenMeanwhile(parts, t, () => add(parts));
    assert.ok(seen.length > 0 && seen.every((each) => each === before), `${before}: ${seen}`);
    assert.deepEqual([parts.store.read.height(), parts.pool.size], [height + 1, 0]);
    const after = `${height + 1} 0`;
    const seenAgain = await seenMeanwhile(parts, t, () => popBlocks(parts, 1));
    assert.ok(seenAgain.length > 0 && seenAgain.every((each) => each === after), `${after}: ${seenAgain}`);
    assert.equal(parts.store.read.height(), height);
    await close();
  }
});

test("between two transactions that a hard fork judges others may take a turn", async () => {
  const { blocks, pool } = goldenState();
  const { parts, close } = await emptyChain();
  await loadBlocks(parts, blocks);
  for (const blob of pool) await admit(parts, { blob, doNotRelay: false });
  let steps = 0;
  transact(parts, (writer) => {
    for (const _ of followFork(parts, writer, 14)) steps++;
  });
  assert.equal(steps, pool.length);
  await close();
});

test("a transaction that waited too long is not taken again", async () => {
  const { blocks, pool } = goldenState();
  const { parts, close } = await emptyChain();
  await loadBlocks(parts, blocks);
  const waiting = { blob: pool[0]!, doNotRelay: false };
  await admit(parts, waiting);
  dropStale({ ...parts, now: () => parts.now() + 3 * 24 * 3600 });
  assert.equal(parts.pool.size, 1);
  dropStale({ ...parts, now: () => parts.now() + 3 * 24 * 3600 + 1 });
  assert.equal(parts.pool.size, 0);
  const isExpired = (error: unknown) => error instanceof RuleViolation && error.violation.code === "EXPIRED";
  await assert.rejects(admit(parts, waiting), isExpired);
  await close();
});

test("a chain that passed a checkpoint with another block goes back to below it", async () => {
  const { blocks } = goldenState();
  const folder = mkdtempSync(join(tmpdir(), "anulo-checkpoints-"));
  const path = join(folder, "chain.mdb");
  const first = await emptyChain(path);
  await loadBlocks(first.parts, blocks);
  const id = first.parts.store.read.blockInfo(50)!.hash;
  await first.close();
  const reopened = (checkpoints: readonly Checkpoint[]) => emptyChain(path, 1n, checkpoints);
  const kept = await reopened([{ height: 50, id }]);
  assert.equal(kept.parts.store.read.height(), blocks.length + 1);
  await kept.close();
  const broken = await reopened([{ height: 50, id: new Uint8Array(32) }]);
  assert.equal(broken.parts.store.read.height(), 48);
  await loadBlocks(broken.parts, blocks.slice(47, 49));
  const isRefused = (error: unknown) =>
    error instanceof RuleViolation && error.violation.code === "CHECKPOINT";
  await assert.rejects(acceptBlock(broken.parts, readIncomingBlock(blocks[49]!.blob)), isRefused);
  await broken.close();
  rmSync(folder, { recursive: true });
});

test("blocks of another hard fork than their height has are taken off at the start", async () => {
  const { blocks } = goldenState();
  const folder = mkdtempSync(join(tmpdir(), "anulo-forks-"));
  const path = join(folder, "chain.mdb");
  const first = await emptyChain(path);
  await loadBlocks(first.parts, blocks);
  await first.close();
  const later = await emptyChainWithFork(17, 90, path);
  assert.equal(later.parts.store.read.height(), 90);
  assert.equal(later.parts.state.view().hardForkVersion, 17);
  await later.close();
  rmSync(folder, { recursive: true });
});

test("a block of more bytes than a block may weigh is refused wherever it belongs", async () => {
  const chain = await emptyChain();
  const { blocks } = goldenState();
  await loadBlocks(chain.parts, blocks.slice(0, 2));
  const isTooBig = (error: unknown) =>
    error instanceof RuleViolation && error.violation.code === "BLOCK_SIZE";
  for (const { blob } of [blocks[1]!, blocks[2]!]) {
    const incoming = { ...readIncomingBlock(blob), blob: new Uint8Array(600_101) };
    const other = { ...incoming, id: new Uint8Array(32), key: "00".repeat(32) };
    await assert.rejects(acceptBlock(chain.parts, other), isTooBig);
  }
  await chain.close();
});

test("a block without known parent is refused", async () => {
  const chain = await emptyChain();
  const { blocks } = goldenState();
  await assert.rejects(acceptBlock(chain.parts, readIncomingBlock(blocks[5]!.blob)), (error) => {
    return error instanceof RuleViolation && error.violation.code === "UNKNOWN_PARENT";
  });
  await chain.close();
});

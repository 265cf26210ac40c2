import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { writeBlock } from "@anulo/protocol";
import { acceptBlock } from "../src/chain/chain.ts";
import { readBlockWithTransactions, readIncomingBlock } from "../src/chain/incoming-block.ts";
import type { ChainParts } from "../src/chain/parts.ts";
import { createTemplate } from "../src/mining/block-template.ts";
import { generateBlocks } from "../src/mining/generate-blocks.ts";
import { admit } from "../src/pool/admit.ts";
import { transact } from "../src/pool/parts.ts";
import { emptyChain, emptyChainWithPool, loadBlocks, minerKeys, pow } from "./chain-fixture.ts";
import { goldenState } from "./recorded-chains.ts";

const TURNS = 50;

/** The same parts, but what was written is settled only when the gate opens. */
function gated(parts: ChainParts) {
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let asked = 0;
  const settled = () => {
    asked++;
    return gate;
  };
  return { parts: { ...parts, store: { ...parts.store, settled } }, open, asked: () => asked };
}

/** Asserts that a promise resolves only once what was written is settled. */
async function assertWaits(parts: ChainParts, act: (parts: ChainParts) => Promise<unknown>): Promise<void> {
  const gate = gated(parts);
  let isOver = false;
  const acting = act(gate.parts).then(() => {
    isOver = true;
  });
  // Whoever does not wait is over long before.
  while (gate.asked() === 0 && !isOver) await setImmediate();
  for (let turn = 0; turn < TURNS; turn++) await setImmediate();
  assert.equal(isOver, false, "answered before it was settled");
  gate.open();
  await acting;
}

// Acknowledged, then lost: no answer before the disk has what it speaks of.
test("a transaction, a block and generated blocks are acknowledged only when they are settled", async () => {
  const chain = await emptyChain();
  const { parts } = chain;
  const { blocks, pool } = goldenState();
  await loadBlocks(parts, blocks);
  await assertWaits(parts, (slow) => admit(slow, { blob: pool[0]!, doNotRelay: false }));
  assert.equal(parts.pool.size, 1);
  const extraNonce = new Uint8Array(1);
  const template = () => createTemplate(parts, { keys: minerKeys, extraNonce });
  await assertWaits(parts, (slow) => acceptBlock(slow, readIncomingBlock(writeBlock(template().block))));
  const order = { keys: minerKeys, extraNonce, count: 2, startingNonce: 0 };
  await assertWaits(parts, (slow) => generateBlocks(slow, order, pow));
  assert.equal(parts.store.read.height(), blocks.length + 4);
  await chain.close();
});

test("a pool that is too heavy drops what pays least, but nothing of a block, however little that pays", async () => {
  const { blocks, pool } = goldenState();
  const [first, second] = pool.map((blob) => ({ blob, doNotRelay: false }));
  for (const keptByBlock of [true, false]) {
    const chain = await emptyChainWithPool(3000);
    const { parts } = chain;
    for (const { blob, transactions } of blocks) {
      await acceptBlock(parts, await readBlockWithTransactions(blob, transactions));
    }
    await admit(parts, first!);
    const [old] = parts.pool.entries();
    // It pays nothing and waits longest.
    transact(parts, (writer) =>
      parts.pool.update(writer, old!.key, { keptByBlock, fee: 0n, receiveTime: 1 }),
    );
    await admit(parts, second!);
    assert.ok(old!.row.weight <= 3000 && old!.row.weight * 2 > 3000);
    const left = parts.pool.entries().map(({ key }) => key);
    assert.equal(left.length, 1);
    assert.equal(left.includes(old!.key), keptByBlock);
    assert.equal(parts.store.read.poolTransactions().length, 1);
    await chain.close();
  }
});

/** What is kept of a block beside the chain, wherever its transactions were found. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { feeOf } from "@anulo/consensus";
import { type Block, readIdentifiedTransaction, toHex, transactionWeight, writeBlock } from "@anulo/protocol";
import { acceptBlock } from "../src/chain/chain.ts";
import { readBlockWithTransactions, readIncomingBlock } from "../src/chain/incoming-block.ts";
import type { OpenChain } from "../src/chain/open-chain.ts";
import { createTemplate } from "../src/mining/block-template.ts";
import { admit } from "../src/pool/admit.ts";
import { dropFromPool } from "../src/pool/maintain.ts";
import { emptyChain, loadBlocks, mine, minerKeys } from "./chain-fixture.ts";
import { goldenState } from "./recorded-chains.ts";

let chain: OpenChain;
/** A block with a payment, beside the chain. */
let made: Block;
let payment: Uint8Array;
/** Coins that there were below it. */
let generatedBelow: bigint;

before(async () => {
  chain = await emptyChain();
  const { parts } = chain;
  const { blocks } = goldenState();
  const first = blocks.findIndex(({ transactions }) => transactions.length > 0);
  await loadBlocks(parts, blocks.slice(0, first));
  generatedBelow = parts.state.view().alreadyGenerated;
  payment = blocks[first]!.transactions[0]!;
  await admit(parts, { blob: payment, doNotRelay: false });
  const order = { keys: minerKeys, extraNonce: new Uint8Array(1), previousId: parts.state.view().topId };
  made = createTemplate(parts, order).block;
  await dropFromPool(parts, made.transactionHashes.map(toHex));
  await mine(parts, 2);
});

after(() => chain.close());

/** Accepts the block with this nonce; what is kept of it, and which transactions became known by it. */
async function kept(nonce: number, supplied: readonly Uint8Array[]) {
  const { parts, events } = chain;
  const blob = writeBlock({ ...made, header: { ...made.header, nonce } });
  const added: string[] = [];
  const end = events.listen((event) => {
    if (event.type === "transactionAdded") added.push(toHex(event.id));
  });
  const incoming =
    supplied.length === 0 ? readIncomingBlock(blob) : await readBlockWithTransactions(blob, supplied);
  assert.equal(await acceptBlock(parts, incoming), "alternative");
  end();
  const { weight, alreadyGenerated, height } = parts.store.read.alternativeBlock(incoming.id)!;
  return { row: { weight, alreadyGenerated, height }, added };
}

test("weight and coins of a side block are the same whoever has its transactions", async () => {
  const { parts } = chain;
  const { transaction, id, weight } = readIdentifiedTransaction(payment);
  const reward = made.minerTransaction.prefix.outputs.reduce((sum, { amount }) => sum + amount, 0n);
  const row = {
    weight: weight + transactionWeight(made.minerTransaction),
    alreadyGenerated: generatedBelow + reward - feeOf({ transaction }),
    height: parts.state.view().height - 2,
  };
  const isWaiting = () => parts.pool.get(toHex(id)) !== undefined;
  await assert.rejects(kept(1, []), /TRANSACTION_MISSING/);
  assert.deepEqual(await kept(2, [payment]), { row, added: [toHex(id)] }, "it came with the block");
  assert.equal(isWaiting(), true);
  assert.deepEqual(await kept(3, []), { row, added: [] }, "it waits");
  assert.deepEqual(await kept(4, [payment]), { row, added: [] }, "it waits, and came again");
  await mine(parts, 1);
  assert.equal(isWaiting(), false);
  assert.deepEqual(await kept(5, []), { row, added: [] }, "it is in the chain");
  assert.deepEqual(await kept(6, [payment]), { row, added: [] }, "it is in the chain, and came again");
  assert.equal(isWaiting(), false);
});

import assert from "node:assert/strict";
import { after, afterEach, test } from "node:test";
import type { Obligation } from "@anulo/consensus";
import { NULL_HASH, networks } from "@anulo/protocol";
import { openChain } from "../src/chain/open-chain.ts";
import { proofsCost } from "../src/chain/proof-costs.ts";
import { messages } from "../src/peers/messages.ts";
import { dropFromPool } from "../src/pool/maintain.ts";
import { createVerifiers } from "../src/verify-workers/verifiers.ts";
import { loadBlocks, now, pow } from "./chain-fixture.ts";
import { meetStranger, speaking, type TestNode, until } from "./peer-network.ts";
import { recordedChain } from "./recorded-chains.ts";

// Closes: peers who make a node check proofs and hashes in other threads, which nobody charged them for.

const open: TestNode[] = [];
const firstBusy = recordedChain().findIndex(({ transactions }) => transactions.length > 1);
const { blob: busyBlock, transactions: txs } = recordedChain()[firstBusy]!;

afterEach(async () => {
  for (const { protocol, chain, faults } of open.splice(0)) {
    await protocol.stop();
    await chain.close();
    assert.deepEqual(faults, []);
  }
});

after(() => pow.stop());

/** A node below the first block with transactions, a stranger, what was proven, and what was charged to the stranger. */
async function scene() {
  const proven: (readonly Obligation[])[] = [];
  const { discharge } = createVerifiers({ threads: 0, pow });
  const chain = await openChain({
    network: networks.regtest,
    fixedDifficulty: 1n,
    discharge: (obligations) => {
      proven.push(obligations);
      return discharge(obligations);
    },
    now,
  });
  const node = speaking(chain);
  open.push(node);
  await loadBlocks(chain.parts, recordedChain().slice(0, firstBusy));
  const costs: number[] = [];
  const stranger = meetStranger(node, {}, { onWork: (milliseconds) => void costs.push(milliseconds) });
  await until(node, () => node.protocol.sync.isSynchronized);
  proven.length = 0;
  costs.length = 0;
  return { node, stranger, proven, costs };
}

/** Each proof that was checked is charged by its declared cost. */
function checkCharged({ proven, costs }: Pick<Awaited<ReturnType<typeof scene>>, "proven" | "costs">): void {
  assert.ok(proven.length > 0);
  for (const obligations of proven) assert.ok(costs.includes(proofsCost(obligations)), String(costs));
}

test("a peer is charged for the proofs of its transactions", async () => {
  const { node, stranger, ...counts } = await scene();
  await stranger.say(messages.newTransactions, {
    txs: [...txs],
    _: new Uint8Array(),
    dandelionpp_fluff: true,
  });
  assert.equal(node.chain.parts.pool.size, txs.length);
  checkCharged(counts);
});

test("who fills the pool is charged for what is dropped from it", async () => {
  const { node, stranger } = await scene();
  await stranger.say(messages.newTransactions, {
    txs: [...txs],
    _: new Uint8Array(),
    dandelionpp_fluff: true,
  });
  const { parts } = node.chain;
  const sizes: number[] = [];
  const measure = <T>(run: () => T): T => {
    const result = run();
    sizes.push(parts.pool.size);
    return result;
  };
  const keys = [...parts.pool.cheapestFirst()].map(({ key }) => key);
  assert.equal(keys.length, txs.length);
  await dropFromPool({ ...parts, proofs: { ...parts.proofs, measure } }, keys);
  assert.deepEqual(sizes, [0]);
});

test("a peer is charged for the proofs of its block", async () => {
  const { node, stranger, ...counts } = await scene();
  const b = {
    pruned: false,
    block: busyBlock,
    weight: 0,
    txs: txs.map((blob) => ({ blob, prunableHash: NULL_HASH })),
  };
  await stranger.say(messages.newFluffyBlock, { b, current_blockchain_height: firstBusy + 2 });
  assert.equal(node.chain.parts.store.read.height(), firstBusy + 2);
  assert.ok(counts.proven.flat().some(({ kind }) => kind === "clsag"));
  checkCharged(counts);
});

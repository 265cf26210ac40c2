/** What proofs cost whoever has us check them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { PowHashObligation } from "@anulo/consensus";
import { networks } from "@anulo/protocol";
import { openChain } from "../src/chain/open-chain.ts";
import { createProofCosts, proofsCost, SEED_COST_MS } from "../src/chain/proof-costs.ts";

const idOf = (height: number) => new Uint8Array(32).fill(height % 251);

/** A block whose seed is the block at a height of the chain; of an older kind where there is none. */
function work(seed?: number): PowHashObligation {
  const seedId = seed === undefined ? undefined : idOf(seed);
  return { kind: "powHash", blob: new Uint8Array(76), height: 1, majorVersion: 16, difficulty: 2n, seedId };
}

function costsAt(height: number, hardForkVersion = 16) {
  const blockId = (at: number) => {
    assert.ok(at < height, `no block ${at}`);
    return idOf(at);
  };
  const view = { height, hardForkVersion, blockId, seedSchedule: undefined };
  const costOf = createProofCosts(() => view);
  return (...seeds: (number | undefined)[]) => {
    const obligations = seeds.map(work);
    return costOf(obligations) - proofsCost(obligations);
  };
}

// Closes: blocks of old branches, each of which had a cache made, at the price of a hash.
test("a seed that the chain does not use costs what its cache does, once in a row", () => {
  const extra = costsAt(5000);
  assert.equal(extra(4096, undefined), 0, "the seed in use, and none");
  assert.equal(extra(2048), SEED_COST_MS);
  assert.equal(extra(2048, 2048, 4096), 0, "its cache is there");
  assert.equal(extra(0, 2048), 2 * SEED_COST_MS, "caches that take each other's place");
});

test("the next seed costs nothing more, once it can be known", () => {
  assert.equal(costsAt(4096)(2048, 4096), SEED_COST_MS, "the next seed's block is still to come");
  assert.equal(costsAt(4097)(2048, 4096), 0);
  assert.equal(costsAt(4160)(2048, 4096), 0);
  assert.equal(costsAt(4161)(4096), 0);
  assert.equal(costsAt(4161)(2048), SEED_COST_MS, "the seed before");
});

test("on a chain that RandomX does not hash every seed is a strange one", () => {
  assert.equal(costsAt(5000, 11)(4096), SEED_COST_MS);
  assert.equal(costsAt(0)(0), SEED_COST_MS);
  assert.equal(costsAt(1)(0), 0, "the first block's seed is genesis");
});

test("an open chain charges by its own seeds", async (t) => {
  const { parts, close } = await openChain({
    network: networks.regtest,
    discharge: async () => {},
    now: () => 0,
  });
  t.after(close);
  const charged: number[] = [];
  const { proofs, state } = parts;
  const prove = (seedId: Uint8Array) =>
    proofs
      .chargedTo((milliseconds) => charged.push(milliseconds))
      .runProvenInTurns(async () => proofs.requireProven([{ ...work(), seedId }]));
  await prove(state.view().blockId(0));
  await prove(idOf(7));
  assert.equal(charged[1]! - charged[0]!, SEED_COST_MS);
});

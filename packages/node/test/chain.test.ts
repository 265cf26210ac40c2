import assert from "node:assert/strict";
import { test } from "node:test";
import { networks, toHex } from "@anulo/protocol";
import { acceptBlock } from "../src/chain/chain.ts";
import { readIncomingBlock } from "../src/chain/incoming-block.ts";
import { openChain } from "../src/chain/open-chain.ts";
import { admit } from "../src/pool/admit.ts";
import { createVerifiers } from "../src/verify-workers/verifiers.ts";
import { goldenState } from "./recorded-chains.ts";

const now = () => 1_795_188_000;

test("the golden chain loads, its side blocks stay beside it and its pool is taken", async () => {
  const { discharge } = createVerifiers({ threads: 0 });
  const chain = await openChain({ network: networks.regtest, fixedDifficulty: 1n, discharge, now });
  const { parts } = chain;
  const state = goldenState();
  for (const { blob, transactions } of state.blocks) {
    for (const tx of transactions) assert.equal(await admit(parts, { blob: tx, doNotRelay: false }), "added");
    assert.equal(await acceptBlock(parts, readIncomingBlock(blob)), "added");
  }
  assert.equal(toHex(parts.state.view().topId), state.top);
  for (const blob of state.alternatives) {
    assert.equal(await acceptBlock(parts, readIncomingBlock(blob)), "alternative");
  }
  for (const blob of state.pool) await admit(parts, { blob, doNotRelay: false });
  assert.equal(parts.pool.size, 2);
  await chain.close();
});

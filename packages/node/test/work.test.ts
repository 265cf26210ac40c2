import assert from "node:assert/strict";
import { after, test } from "node:test";
import { RuleViolation } from "@anulo/consensus";
import { writeBlock } from "@anulo/protocol";
import { acceptBlock } from "../src/chain/chain.ts";
import { readIncomingBlock } from "../src/chain/incoming-block.ts";
import { generateBlocks } from "../src/mining/generate-blocks.ts";
import { emptyChain, minerKeys, pow } from "./chain-fixture.ts";

after(() => pow.stop());

const order = { keys: minerKeys, extraNonce: new Uint8Array(1), startingNonce: 0 };
const isWrongWork = (error: unknown) =>
  error instanceof RuleViolation && error.violation.code === "PROOF_OF_WORK";

test("blocks with work are found with one hash each to check, and accepted elsewhere", async () => {
  const chain = await emptyChain(undefined, 3n);
  const searching = { search: pow.search };
  const { ids, height } = await generateBlocks(chain.parts, { ...order, count: 2 }, searching);
  assert.equal(height, 2);
  assert.equal(chain.parts.state.view().cumulativeDifficulty, 1n + 3n + 3n);

  const other = await emptyChain(undefined, 3n);
  for (const at of [1, 2]) {
    const incoming = readIncomingBlock(chain.parts.store.read.blockBlob(at)!);
    assert.equal(await acceptBlock(other.parts, incoming), "added");
    assert.deepEqual(incoming.id, ids[at - 1]);
    assert.notEqual(pow.hashOf(incoming.id), undefined);
  }
  await Promise.all([chain.close(), other.close()]);
});

test("a block whose hash does not meet the difficulty is refused, on the chain and beside it", async () => {
  const chain = await emptyChain(undefined, 2n);
  await generateBlocks(chain.parts, { ...order, count: 1 }, pow);
  const { block } = readIncomingBlock(chain.parts.store.read.blockBlob(1)!);
  await chain.close();

  const strict = await emptyChain(undefined, 2n ** 200n);
  const refused = (nonce: number) => {
    const changed = { ...block, header: { ...block.header, nonce } };
    return assert.rejects(acceptBlock(strict.parts, readIncomingBlock(writeBlock(changed))), isWrongWork);
  };
  await refused(block.header.nonce);
  await refused(block.header.nonce + 1);
  assert.equal(strict.parts.store.read.height(), 1);
  await strict.close();
});

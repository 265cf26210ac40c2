/** What is told of blocks as they are placed, and what else may run meanwhile. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { toHex } from "@anulo/protocol";
import { heavierBranch } from "../src/chain/alternative-chain.ts";
import { popBlocks } from "../src/chain/chain.ts";
import { reorganise } from "../src/chain/reorganise.ts";
import { emptyChain, mine, pow } from "./chain-fixture.ts";
import { meetStranger, speaking, stopNode, until } from "./peer-network.ts";

after(() => pow.stop());

/** A chain of 6 blocks, beside which a branch of three more has been left by popping a longer one. */
async function openPopped() {
  const chain = await emptyChain();
  const common = await mine(chain.parts, 5);
  await mine(chain.parts, 3);
  await mine(chain.parts, 6, common.at(-1));
  await popBlocks(chain.parts, 6);
  return chain;
}

test("each block is told of once, by where it is placed, and a reorganisation by what it changed", async () => {
  const chain = await emptyChain();
  const heard: unknown[] = [];
  chain.events.listen((event) => {
    const { type } = event;
    if (type === "blockAdded" || type === "alternativeBlock")
      heard.push([type, event.height, toHex(event.id)]);
    else if (type === "reorganised") heard.push([type, event.forkHeight, event.removed, event.added]);
    else if (type === "blocksPopped") heard.push([type, event.height, event.removed]);
  });
  const [first, second] = (await mine(chain.parts, 2)).map(toHex);
  const [beside] = await mine(chain.parts, 1, Buffer.from(first!, "hex"));
  assert.deepEqual(heard.splice(0), [
    ["blockAdded", 1, first],
    ["blockAdded", 2, second],
    ["alternativeBlock", 2, toHex(beside!)],
  ]);
  const [heavier] = await mine(chain.parts, 1, beside);
  assert.deepEqual(heard.splice(0), [
    ["alternativeBlock", 3, toHex(heavier!)],
    ["reorganised", 1, 1, 2],
  ]);
  await popBlocks(chain.parts, 2);
  assert.deepEqual(heard, [["blocksPopped", 2, 2]]);
  await chain.close();
});

test("while blocks are generated everything else runs, too", async () => {
  const chain = await emptyChain();
  const COUNT = 200;
  let seen: number | undefined;
  setImmediate(() => {
    seen = chain.parts.store.read.height();
  });
  const ids = await mine(chain.parts, COUNT);
  assert.equal(ids.length, COUNT);
  assert.ok(seen !== undefined && seen < 1 + COUNT, `${seen} blocks`);
  await chain.close();
});

test("a branch that was heavier when it was looked for is left where the chain has as much work by now", async () => {
  const { parts, close } = await openPopped();
  const branch = heavierBranch(parts)!;
  assert.equal(branch.blocks.length, 3);
  await mine(parts, 3);
  const top = toHex(parts.state.view().topId);
  await reorganise(parts, branch);
  assert.deepEqual([parts.store.read.height(), toHex(parts.state.view().topId)], [9, top]);
  assert.equal(heavierBranch(parts), undefined, "as much work is not more");
  await close();
});

test("a branch that is heavier once blocks were popped is taken up once, whoever names it, and again the next time", async () => {
  const node = speaking(await emptyChain(), { isOffline: true });
  const { parts } = node.chain;
  const common = await mine(parts, 5);
  const branch = await mine(parts, 3);
  const { runProvenInTurns } = parts.proofs;
  let attempts = 0;
  const counted = (attempt: () => Promise<unknown>) => {
    attempts++;
    return runProvenInTurns(attempt);
  };
  for (let time = 0; time < 2; time++) {
    await mine(parts, 6, common.at(-1));
    await popBlocks(parts, 6);
    assert.equal(parts.store.read.height(), 6);
    attempts = 0;
    Object.assign(parts.proofs, { runProvenInTurns: counted });
    const strangers = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((host) =>
      meetStranger(node, { topId: branch.at(-1)!, currentHeight: 9 }, { host }),
    );
    await until(node, () => toHex(parts.state.view().topId) === toHex(branch.at(-1)!));
    Object.assign(parts.proofs, { runProvenInTurns });
    assert.equal(attempts, 1);
    for (const stranger of strangers) stranger.leave();
  }
  await stopNode(node);
});

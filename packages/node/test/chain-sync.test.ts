import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { toHex } from "@anulo/protocol";
import type { OpenChain } from "../src/chain/open-chain.ts";
import { emptyChain, loadBlocks } from "./chain-fixture.ts";
import { connect, speaking, type TestNode, until } from "./peer-network.ts";
import { recordedChain } from "./recorded-chains.ts";

let full: TestNode;
const open: TestNode[] = [];

async function node(chain?: OpenChain): Promise<TestNode> {
  const made = speaking(chain ?? (await emptyChain()));
  open.push(made);
  return made;
}

const heightOf = ({ chain }: TestNode) => chain.parts.store.read.height();
const topOf = ({ chain }: TestNode) => toHex(chain.parts.state.view().topId);

before(async () => {
  full = await node();
  await loadBlocks(full.chain.parts, recordedChain().slice(0, 300));
});

after(async () => {
  for (const { protocol, chain } of open) {
    protocol.stop();
    await chain.close();
  }
});

test("an empty node fetches a whole chain from a peer", async () => {
  const empty = await node();
  const { close } = connect(empty, full);
  await until(empty, () => heightOf(empty) === heightOf(full) && empty.protocol.sync.isSynchronized);
  assert.equal(topOf(empty), topOf(full));
  assert.equal(empty.protocol.sync.queue.spans.length, 0);
  close();
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { NULL_HASH, toHex } from "@anulo/protocol";
import type { BlockEntry } from "../src/peers/block-entry.ts";
import type { PeerLink } from "../src/peers/link.ts";
import { messages } from "../src/peers/messages.ts";
import { relayBlock } from "../src/peers/relay-blocks.ts";
import { emptyChain, loadBlocks } from "./chain-fixture.ts";
import { recordedChain } from "./recorded-chains.ts";

interface Heard {
  readonly name: string;
  readonly id: number;
  readonly body: { readonly b: BlockEntry; readonly current_blockchain_height: number };
}

function linkTo(heard: Heard[], name: string, supportFlags: number): PeerLink {
  const notify = ({ id }: { id: number }, body: Heard["body"]) => {
    heard.push({ name, id, body });
    return true;
  };
  return { peer: { supportFlags, notify } } as unknown as PeerLink;
}

test("a block goes whole to peers that cannot ask for its transactions, and without them to the others", async () => {
  const recorded = recordedChain();
  const firstBusy = recorded.findIndex(({ transactions }) => transactions.length > 1);
  const { blob, transactions } = recorded[firstBusy]!;
  const chain = await emptyChain();
  // One more block, so that the block that is sent is not the top.
  await loadBlocks(chain.parts, recorded.slice(0, firstBusy + 2));
  const heard: Heard[] = [];
  const flags = { none: 0, fluffy: 1, another: 2, both: 3 };
  const links = Object.entries(flags).map(([name, supportFlags]) => linkTo(heard, name, supportFlags));
  relayBlock(chain.parts.store.read, firstBusy + 1, links);
  await chain.close();
  const { newBlock, newFluffyBlock } = messages;
  assert.deepEqual(
    heard.map(({ name, id }) => [name, id]),
    [
      ["fluffy", newFluffyBlock.id],
      ["both", newFluffyBlock.id],
      ["none", newBlock.id],
      ["another", newBlock.id],
    ],
  );
  for (const { id, body } of heard) {
    const { pruned, block, weight, txs } = body.b;
    assert.equal(body.current_blockchain_height, firstBusy + 3);
    assert.deepEqual([pruned, weight, toHex(block)], [false, 0, toHex(blob)]);
    assert.deepEqual(
      txs.map((tx) => toHex(tx.blob)),
      id === newBlock.id ? transactions.map(toHex) : [],
    );
    assert.ok(txs.every(({ prunableHash }) => toHex(prunableHash) === toHex(NULL_HASH)));
  }
});

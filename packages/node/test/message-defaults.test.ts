import assert from "node:assert/strict";
import { test } from "node:test";
import { type PortableObject, readRecord, writePortable } from "@anulo/protocol";
import { messages } from "../src/peers/messages.ts";

const nothing = writePortable(new Map());

// Source: cryptonote_protocol_defs.h, the defaults of fields that older releases do not send.
test("what older releases leave out of their messages has the value that they mean", () => {
  const { newTransactions, requestBlocks, requestChain, newBlock } = messages;
  assert.equal(readRecord(newTransactions.payload, nothing).dandelionpp_fluff, true);
  assert.equal(readRecord(requestBlocks.payload, nothing).prune, false);
  assert.equal(readRecord(requestChain.payload, nothing).prune, false);
  const entry: PortableObject = new Map([["block", { type: "string", value: Uint8Array.of(1, 2) }]]);
  const message = writePortable(new Map([["b", { type: "object", value: entry }]]));
  const { b } = readRecord(newBlock.payload, message);
  assert.deepEqual(b, { pruned: false, block: Uint8Array.of(1, 2), weight: 0, txs: [] });
});

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import {
  BadBytes,
  type Block,
  blockHashingBlob,
  blockId,
  claimedHeight,
  fromHex,
  genesisBlock,
  networks,
  outlineBlock,
  readBlock,
  readIdentifiedBlock,
  sumAmounts,
  toHex,
  transactionHash,
  transactionTreeHash,
  treeHash,
  writeBlock,
} from "../src/index.ts";
import { eraVectors, recordedBlocks, recordedChain } from "./fixtures.ts";

test("every recorded block is read and written byte for byte and has its id", () => {
  for (const { block: hex, id } of recordedBlocks) {
    const block = readBlock(fromHex(hex));
    assert.equal(toHex(writeBlock(block)), hex);
    assert.equal(toHex(blockId(block)), id);
    assert.deepEqual(readIdentifiedBlock(fromHex(hex)), {
      block,
      id: fromHex(id),
      minerTransactionHash: transactionHash(block.minerTransaction),
      blob: fromHex(hex),
    });
    assert.throws(() => readIdentifiedBlock(fromHex(`${hex}00`)), BadBytes);
  }
});

test("a scan learns of a block what its value says, whoever is paid by it and in whatever way", () => {
  const recorded = recordedBlocks.map(({ block }) => readBlock(fromHex(block)));
  const [model] = recorded as [Block];
  const { minerTransaction: miner } = model;
  const { prefix } = miner;
  const height = { type: "generation", height: 202_612 } as const;
  const blocks: Block[] = [
    ...recorded,
    ...[networks.mainnet, networks.testnet].map(genesisBlock),
    { ...model, minerTransaction: { ...miner, prefix: { ...prefix, inputs: [height] } } },
    {
      ...model,
      minerTransaction: { prefix: { ...prefix, version: 1 }, signatures: [[]], ringct: undefined },
    },
  ];
  for (const block of blocks) {
    const { header, transactionHashes, minerTransaction } = block;
    const [input] = minerTransaction.prefix.inputs;
    assert.deepEqual(outlineBlock(writeBlock(block)), {
      ...{ header, transactionHashes, id: blockId(block) },
      minerTransactionHash: transactionHash(minerTransaction),
      minerHeight: input?.type === "generation" ? input.height : undefined,
      reward: sumAmounts(minerTransaction.prefix.outputs),
    });
  }
});

test("a block whose last byte is cut off is the same block, one without it is none", () => {
  const empty = recordedBlocks.find(({ transactions }) => transactions.length === 0)!;
  const blob = fromHex(empty.block);
  const without = blob.subarray(0, -1);
  const cutOff = Uint8Array.from([...without, 0x80]);
  const read = readIdentifiedBlock(cutOff);
  assert.equal(toHex(read.id), empty.id);
  assert.deepEqual(read.blob, writeBlock(readBlock(cutOff)));
  assert.deepEqual(read.blob, blob);
  assert.throws(() => readIdentifiedBlock(without), BadBytes);
});

test("side blocks claim the height of their rivals", () => {
  for (const hex of recordedChain.sideBlocks) assert.ok(claimedHeight(readBlock(fromHex(hex)))! > 0);
});

test("block 202612 of every network has its id, on mainnet one its contents do not hash to", (t) => {
  const vectors = eraVectors()?.filter(({ kind }) => kind === "block");
  if (vectors === undefined) return t.skip("no shared/vectors beside the project");
  assert.equal(vectors.length, 3);
  for (const { hex, expect } of vectors) {
    const block = readBlock(fromHex(hex));
    assert.equal(toHex(writeBlock(block)), hex);
    assert.equal(toHex(blockId(block)), expect.id);
    assert.equal(toHex(blockHashingBlob(block)), expect.hashing_blob);
    assert.equal(toHex(transactionTreeHash(block)), expect.tree_hash);
    assert.equal(toHex(transactionHash(block.minerTransaction)), expect.miner_tx_hash);
    assert.equal(claimedHeight(block), expect.height);
    assert.equal(block.header.timestamp, expect.timestamp);
    assert.equal(block.header.nonce, expect.nonce);
    const { id, minerTransactionHash } = readIdentifiedBlock(fromHex(hex));
    assert.equal(toHex(id), expect.id);
    assert.equal(toHex(minerTransactionHash), expect.miner_tx_hash);
  }
});

test("tree hashes agree with the original's test data", (t) => {
  const file = "/usr/share/monero/testdata/hash/tests-tree.txt";
  const isRequired = process.env.ANULO_REAL_PROGRAMS === "required";
  if (!isRequired && !existsSync(file)) return t.skip("the original's test data is not installed");
  const lines = readFileSync(file, "utf8").trim().split("\n");
  for (const line of lines) {
    const [root, leaves] = line.split(" ");
    const hashes = leaves!.match(/.{64}/g)!.map((hex) => fromHex(hex));
    assert.equal(toHex(treeHash(hashes)), root);
  }
  assert.ok(lines.length > 5);
});

test("the tree of one id is that id, and nothing but a copy; without any there is no tree", () => {
  const id = new Uint8Array(32).fill(7);
  const root = treeHash([id]);
  assert.deepEqual(root, id);
  root[0] = 8;
  assert.equal(id[0], 7);
  assert.throws(() => treeHash([]), RangeError);
});

test("a block with any bytes changed is a value that writes back, or BadBytes", () => {
  const blob = fromHex(recordedChain.blocks.find(({ transactions }) => transactions.length > 2)!.block);
  fc.assert(
    fc.property(fc.nat(blob.length - 1), fc.integer({ min: 0, max: 255 }), (at, value) => {
      const bytes = blob.slice();
      bytes[at] = value;
      try {
        // A change may cut off the number of its transactions.
        assert.deepEqual(writeBlock(readBlock(bytes)).subarray(0, bytes.length - 1), bytes.subarray(0, -1));
      } catch (error) {
        assert.ok(error instanceof BadBytes, String(error));
      }
    }),
    { numRuns: 1000 },
  );
});

test("a shortened block is refused, or one without its transactions", () => {
  const blob = fromHex(recordedChain.blocks.find(({ transactions }) => transactions.length > 2)!.block);
  for (let length = 0; length < blob.length; length++) {
    assert.throws(() => readBlock(blob.subarray(0, length)), BadBytes);
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { keyImagesOf, readTransaction, toHex } from "@anulo/protocol";
import type { RandomRows } from "@anulo/storage";
import { createBlockImporter } from "../src/chain/import-blocks.ts";
import { readBlockWithTransactions, readIncomingBlock } from "../src/chain/incoming-block.ts";
import { rowsToJudge } from "../src/chain/rows-to-judge.ts";
import { chainIn } from "./chain-fixture.ts";
import { recordedChain } from "./recorded-chains.ts";

const chain = recordedChain();

/** Blocks as a peer sends them. */
const fetched = chain.map(({ blob, transactions }) => ({
  incoming: readIncomingBlock(blob),
  size: blob.length,
  txs: transactions,
}));

test("a chain in a file longer than the memory accepts the same blocks, whose rows are prefetched", async () => {
  const { parts, close } = await chainIn(undefined, { memoryBytes: 0 });
  const named: RandomRows[] = [];
  const watched = {
    ...parts,
    store: {
      ...parts.store,
      prefetch: (rows: () => RandomRows, signal?: AbortSignal) =>
        parts.store.prefetch(() => {
          named.push(rows());
          return named.at(-1)!;
        }, signal),
    },
  };
  const { completion } = await createBlockImporter(watched).stage(fetched);
  await completion;
  assert.equal(parts.store.read.height(), 1 + chain.length);
  const images = chain.flatMap(({ transactions }) =>
    transactions.flatMap((blob) => keyImagesOf(readTransaction(blob).prefix)).map(toHex),
  );
  assert.ok(images.length > 0);
  assert.deepEqual(new Set(named.flatMap(({ keyImages }) => keyImages!.map(toHex))), new Set(images));
  await close();
});

test("the rows of a block are its key images and every member of its rings, which known blocks need not", async () => {
  const { blob, transactions } = chain.find((block) => block.transactions.length > 0)!;
  const block = await readBlockWithTransactions(blob, transactions);
  const whole = rowsToJudge(block, { withRings: true });
  const known = rowsToJudge(block, { withRings: false });
  assert.equal(known.outputs, undefined);
  assert.deepEqual(known.keyImages, whole.keyImages);
  const inputs = transactions.flatMap((each) => readTransaction(each).prefix.inputs);
  const rings = inputs.flatMap((input) => {
    assert.ok(input.type === "key");
    let index = 0n;
    return input.keyOffsets.map((offset) => {
      index += offset;
      return { amount: input.amount, index };
    });
  });
  assert.deepEqual(whole.outputs, rings);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { keyImagesOf, readTransaction, toHex } from "@anulo/protocol";
import { RowMeter } from "@anulo/rpc";
import type { PrefetchOptions, RandomRows } from "@anulo/storage";
import { createBlockImporter } from "../src/chain/import-blocks.ts";
import { readBlockWithTransactions, readIncomingBlock } from "../src/chain/incoming-block.ts";
import { rowsToJudge } from "../src/chain/rows-to-judge.ts";
import { outputHandlers } from "../src/rpc/outputs.ts";
import { transactionHandlers } from "../src/rpc/transactions.ts";
import { chainIn } from "./chain-fixture.ts";
import { recordedChain } from "./recorded-chains.ts";

const chain = recordedChain();

/** Blocks as a peer sends them. */
const fetched = chain.map(({ blob, transactions }) => ({
  incoming: readIncomingBlock(blob),
  size: blob.length,
  txs: transactions,
}));

/** A chain in a file longer than the memory, and the rows that it has been asked to prefetch. */
async function openLongFile() {
  const { parts, close } = await chainIn(undefined, { memoryBytes: 0 });
  const named: RandomRows[] = [];
  const areStrangers: boolean[] = [];
  const store = {
    ...parts.store,
    prefetch: (rows: () => RandomRows, options?: PrefetchOptions) => {
      areStrangers.push(options?.isStranger === true);
      return parts.store.prefetch(() => {
        named.push(rows());
        return named.at(-1)!;
      }, options);
    },
  };
  return { parts: { ...parts, store }, named, areStrangers, close };
}

test("a chain in a file longer than the memory accepts the same blocks, whose rows are prefetched", async () => {
  const { parts, named, close } = await openLongFile();
  const { completion } = await createBlockImporter(parts).stage(fetched);
  await completion;
  assert.equal(parts.store.read.height(), 1 + chain.length);
  const images = chain.flatMap(({ transactions }) =>
    transactions.flatMap((blob) => keyImagesOf(readTransaction(blob).prefix)).map(toHex),
  );
  assert.ok(images.length > 0);
  assert.deepEqual(new Set(named.flatMap(({ keyImages }) => keyImages!.map(toHex))), new Set(images));
  await close();
});

test("calls for outputs and key images answer as in a short file, and have their rows prefetched", async () => {
  const { parts, named, areStrangers, close } = await openLongFile();
  const { completion } = await createBlockImporter(parts).stage(fetched);
  await completion;
  assert.ok(!areStrangers.includes(true), "whoever has sent a block, it is this node that judges it");
  named.length = 0;
  areStrangers.length = 0;
  const shared = { parts, restricted: false, rows: new RowMeter(() => 0) };
  const ask = async (path: string, request: object, more: object = {}) => {
    const { handler } = [...outputHandlers(), ...transactionHandlers()].find(
      ({ call }) => call.name === path,
    )!;
    const { signal } = new AbortController();
    return await handler!(request as never, { ...shared, signal, ...more } as never);
  };
  const outputs = [0n, 5n, 2n].map((index) => ({ amount: 0n, index }));
  const { outs } = (await ask("/get_outs", { outputs, get_txid: false })) as { outs: { length: number } };
  assert.equal(outs.length, outputs.length);
  const [spent] = chain.flatMap(({ transactions }) =>
    transactions.flatMap((blob) => keyImagesOf(readTransaction(blob).prefix)),
  );
  const unspent = new Uint8Array(32).fill(7);
  const key_images = [spent!, unspent].map(toHex);
  assert.deepEqual(await ask("/is_key_image_spent", { key_images }), { spent_status: [1, 0] });
  assert.deepEqual(named, [{ outputs }, { keyImages: [spent, unspent] }]);
  await ask("/get_outs", { outputs, get_txid: false }, { restricted: true });
  await ask("/is_key_image_spent", { key_images }, { restricted: true });
  assert.deepEqual(areStrangers, [false, false, true, true]);
  const signal = AbortSignal.abort(new Error("the caller has left"));
  await assert.rejects(ask("/is_key_image_spent", { key_images }, { signal }), /the caller has left/);
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
